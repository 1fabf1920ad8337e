"""A job that records batches and delivers them, to be killed. Arguments: OUTBOX URL SECRET BATCHES.

Prints the number of every batch that it has recorded, and `drained` at its end.
"""

from __future__ import annotations

import sys

from some_alerts import raised

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.outbox import BatchRecord, Outbox
from alerts.receivers.webhook import WebhookReceiver
from alerts.routing import Route

ALERTS = 20
"""In every batch; every fourth repeats the key of the one before and is withheld."""


def main(url: str, hook: str, secret: str, batches: int) -> None:
    """As the module says: goes on after the last batch that the outbox has, which it replays."""
    outbox = Outbox.open(url)
    schedule = Schedule(first=0.01, longest=0.1, probe=0.1)
    dispatcher = Dispatcher(outbox, [WebhookReceiver("desk", hook, [secret])], schedule=schedule, poll=0.05)
    dispatcher.start()
    last = outbox.last_batch()
    for number in range(last.number if last else 0, batches):
        some = [
            raised(i, key=f"k{i - (i % 4 == 3)}", time=number, suppress=5)
            for i in range(number * ALERTS, (number + 1) * ALERTS)
        ]
        outbox.record(BatchRecord(number, f"digest {number}", {}), some, [Route("desk")])
        dispatcher.wake()
        print(number, flush=True)
    assert dispatcher.drain(60)
    assert dispatcher.stop(10)
    print("drained", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
