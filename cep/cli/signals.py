"""Signals that ask a command to end, the same for every verb: 128 and the signal's number is its exit code.

A verb in the main thread is interrupted where it stands (`Interrupted`, which is a KeyboardInterrupt). One
that must finish something first does its work in another thread, while the main one waits for signals
(`supervised`). A signal that is ignored, as under nohup, stays ignored.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeVar

T = TypeVar("T")
_Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a service manager's request, a terminal that closes."""

_DONE = 0
"""Stands for the end of the work, where else a signal's number stands."""
_ONE_REQUEST = 0.5
"""Seconds within which several signals are one request: a shell passes on what the terminal sends anyway."""


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end; `number` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def exit_code(asked: KeyboardInterrupt) -> int:
    """The exit code of a command that was asked to end: 129, 130 or 143, as shells count signals."""
    return 128 + (asked.number if isinstance(asked, Interrupted) else signal.SIGINT)


@contextmanager
def interrupting() -> Iterator[None]:
    """Within the block the first signal raises Interrupted; the next one ends the process without a word.

    What comes once nothing is left but the interpreter's own end changes no exit code.
    """
    atexit.register(_ignore)  # the first to be registered, it is the last to be called
    for number in _handled():
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        _end_with_the_next()


def supervised(
    work: Callable[[], T],
    ask: Callable[[], None],
    end: Callable[[], None],
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """Does `work` in a thread of its own while the main thread, which has to call this, waits for signals.

    The first signal calls `ask`, which has the work end soon; Interrupted is raised when it has. A second one
    calls `end` and ends the process at once. Returns what `work` returns and raises what it raises.
    """
    results: list[T] = []
    failures: list[BaseException] = []
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def worked() -> None:
        try:
            results.append(work())
        except BaseException as failure:
            failures.append(failure)
        os.write(writer, bytes([_DONE]))

    handled = _handled()
    before: dict[signal.Signals, _Handler] = {}
    # The interpreter writes a signal's number there, whatever the main thread is waiting for. This comes
    # before the handlers, which do nothing: a signal in between would be lost.
    descriptor = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        for number in handled:
            before[number] = signal.signal(number, _noted)
        thread = threading.Thread(target=worked, name="work", daemon=True)
        thread.start()
        asked: int | None = None
        moment = 0.0
        while (came := os.read(reader, 1)[0]) != _DONE:
            if came not in handled:
                continue
            if asked is None:
                asked, moment = came, clock()
                ask()
            elif clock() - moment >= _ONE_REQUEST:
                end()
                os._exit(128 + came)
        thread.join()
    finally:
        signal.set_wakeup_fd(descriptor)
        for one, handler in before.items():
            signal.signal(one, handler)
        os.close(reader)
        os.close(writer)
    if failures:
        raise failures[0]
    if asked is not None:
        raise Interrupted(asked)
    return results[0]


def _handled() -> list[signal.Signals]:
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


def _noted(_number: int, _frame: FrameType | None) -> None:
    """Makes the interpreter write the number down (set_wakeup_fd)."""


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    _end_with_the_next()
    raise Interrupted(number)


def _end_with_the_next() -> None:
    for number in _handled():
        signal.signal(number, _end)


def _ignore() -> None:
    """Ignores signals: the interpreter is about to take its handlers away, and then they end the process."""
    for number in _handled():
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(128 + number)
