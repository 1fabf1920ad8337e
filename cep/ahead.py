"""Answers of many places in their order, of which some are asked before their turn comes.

A store answers each question after some milliseconds, and many at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

P = TypeVar("P")
A = TypeVar("A")


def ahead(ask: Callable[[P], A], places: Iterable[P], at_once: int) -> Generator[tuple[P, A]]:
    """Each place with its answer, in order; up to `at_once` are asked at a time, in threads if it is above 1.

    Raises what `ask` does, at the turn of its place. Who stops before the end closes it: what has not
    begun by then is not asked.
    """
    if at_once == 1:
        yield from ((one, ask(one)) for one in places)
        return
    waiting: deque[tuple[P, Future[A]]] = deque()
    pool = ThreadPoolExecutor(at_once, "ahead")
    try:
        for one in places:
            waiting.append((one, pool.submit(ask, one)))
            if len(waiting) == at_once:
                first, answer = waiting.popleft()
                yield first, answer.result()
        while waiting:
            first, answer = waiting.popleft()
            yield first, answer.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
