"""A dispatcher that shares an outbox with others, to be killed or paused. Arguments: OUTBOX URL SECRET NAME.

Prints `serving` when it has begun, what it reports, and ends when a line comes in.
"""

from __future__ import annotations

import sys

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.listeners import Listeners
from alerts.outbox import Outbox
from alerts.receivers.webhook import WebhookReceiver
from alerts.sharing import Holder

RECEIVERS = ("desk", "pager", "archive")
SECONDS = 1.0


def main(url: str, hook: str, secret: str, name: str) -> None:
    """As the module says."""
    outbox = Outbox.open(url)
    dispatcher = Dispatcher(
        outbox,
        [WebhookReceiver(one, f"{hook}/{one}", [secret]) for one in RECEIVERS],
        schedule=Schedule(first=0.01, longest=0.1, probe=0.1),
        poll=0.05,
        listeners=Listeners(report=lambda said: print(said, flush=True)),
        holder=Holder(name, SECONDS),
    )
    dispatcher.start()
    print("serving", flush=True)
    sys.stdin.readline()
    assert dispatcher.stop(30)
    outbox.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
