"""A call that may never return, with an end: librdkafka has some that wait for a broker for ever."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Value = TypeVar("Value")


def within(seconds: float, call: Callable[[], Value]) -> Value:
    """The value that a function gives in a thread of its own, or what it raises.

    Raises TimeoutError where that takes longer: then nobody waits for the thread, which ends when it ends.
    """
    found: Future[Value] = Future()

    def run() -> None:
        try:
            found.set_result(call())
        except BaseException as error:
            found.set_exception(error)

    Thread(target=run, name="deadline", daemon=True).start()
    return found.result(seconds)
