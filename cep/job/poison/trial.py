"""Work that may end its process, tried in a child of this one: Spark's worker lives on, and can say why."""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from cep.errors import JobError

LONGEST = 600.0
"""Seconds of a trial: a child may wait for ever for a lock that another thread held when it was forked."""
_OUTSIDE = (JobError, OSError, MemoryError)
"""What is no event's fault."""


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a child: a predicate like "was ended by SIGSEGV".

    `killed`: from outside, by the kernel for want of memory or by somebody's hand, as it seems.
    """

    how: str
    killed: bool = False


class CannotTellError(Exception):
    """The work failed for a reason that is not its own; done in this process it fails in the same way."""


def tried(work: Callable[[], bytes], seconds: float = LONGEST) -> bytes | Death:
    """The result of `work` in a forked child; or the end of that, if it did not come so far.

    After so many seconds the child is ended. Raises CannotTellError, then, too.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # A worker's other threads are Arrow's, which are made anew in a child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _answer(work, reading, writing)
    os.close(writing)
    try:
        told = _told(reading, time.monotonic() + seconds)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise CannotTellError(f"it took longer than {seconds:,.0f} s") from None
    finally:
        os.close(reading)
        _, status = os.waitpid(child, 0)
    if told is None:
        return _death(status)
    kind, value = told
    if kind == "outside":
        raise CannotTellError(value)
    return Death(f"raised {value.decode()}") if kind == "raised" else value


def _answer(work: Callable[[], bytes], reading: int, writing: int) -> None:
    """Everything that the child does; what it shares with its parent is left as it is."""
    faulthandler.disable()  # how it ends is told by who waits for it
    try:
        os.close(reading)
        try:
            told = ("done", work())
        except _OUTSIDE as error:
            told = ("outside", _sentence(error))
        except Exception as error:
            told = ("raised", _sentence(error))
        with os.fdopen(writing, "wb") as answer:
            answer.write(pickle.dumps(told))
        os._exit(0)
    finally:  # whatever happens, the child does not go on with what its parent was at
        os._exit(1)


def _told(answer: int, until: float) -> tuple[str, bytes] | None:
    """The bytes that the child has written. Raises TimeoutError where it has not closed its end by then."""
    waiting, pieces = select.poll(), list[bytes]()
    waiting.register(answer, select.POLLIN)
    while not pieces or pieces[-1]:
        if not waiting.poll(max(0, until - time.monotonic()) * 1000):
            raise TimeoutError
        pieces.append(os.read(answer, 1 << 20))
    try:
        return pickle.loads(b"".join(pieces))  # type: ignore[no-any-return]
    except (EOFError, pickle.UnpicklingError):
        return None


def _death(status: int) -> Death:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        return Death(f"was ended by {name}", number in (signal.SIGKILL, signal.SIGTERM))
    return Death(f"ended with exit code {os.WEXITSTATUS(status)}")


def _sentence(error: BaseException) -> bytes:
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return (f"{kind}: {text}" if text else kind)[:300].encode("utf-8", "replace")
