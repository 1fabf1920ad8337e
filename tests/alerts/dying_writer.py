"""A program that delivers an outbox to a topic and kills itself at a step of its first transaction.

Arguments: OUTBOX SERVERS TOPIC STEP. Without a step, "", it ends when all is delivered.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from confluent_kafka import Producer

from alerts.dispatch import Dispatcher
from alerts.lane import Schedule
from alerts.outbox import Outbox
from alerts.receivers import kafka

STEPS = ("opened", "begun", "produced", "positioned", "committed", "settled")
"""The moments behind which it dies, in their order."""
_CALLS = {
    "init_transactions": "opened",
    "begin_transaction": "begun",
    "produce": "produced",
    "send_offsets_to_transaction": "positioned",
    "commit_transaction": "committed",
}


def dying(step: str) -> type[Producer]:
    """A producer that kills this process behind a step."""

    class Dying(Producer):
        pass

    def killing(name: str) -> Callable[..., Any]:
        def call(self: Producer, *args: Any, **more: Any) -> Any:
            found = getattr(Producer, name)(self, *args, **more)
            if _CALLS[name] == step:
                if name == "produce":
                    Producer.flush(self, 10)  # brokers have it
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return call

    for name in _CALLS:
        setattr(Dying, name, killing(name))
    return Dying


def main(url: str, servers: str, topic: str, step: str) -> None:
    """As the module says."""
    outbox = Outbox.open(url)
    kafka.Producer = dying(step)  # type: ignore[misc]
    settle = outbox.settle

    def settling(*args: Any) -> None:
        settle(*args)
        if step == "settled":
            os.kill(os.getpid(), signal.SIGKILL)

    outbox.settle = settling  # type: ignore[method-assign]
    receiver = kafka.KafkaReceiver("stream", kafka.Topic(servers, topic, {"compression.type": "gzip"}))
    receiver.together = 5
    schedule = Schedule(first=0.05, longest=0.2, probe=0.2)
    dispatcher = Dispatcher(outbox, [receiver], schedule=schedule, poll=0.05, listeners=None)
    dispatcher.start()
    assert dispatcher.drain(60)
    assert dispatcher.stop(10)
    print("drained", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
