"""Runs commands that come as lines of JSON and answers each with a line of JSON, until the input ends."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Command = Callable[..., Mapping[str, Any]]


def hold(commands: Mapping[str, Command]) -> None:
    """Answers until the input ends."""
    for line in sys.stdin:
        arguments = json.loads(line)
        answer = commands[arguments.pop("do")](**arguments)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class Stopwatch:
    """Seconds by the clock and of processor time, of all threads of the process."""

    def __init__(self) -> None:
        self._begin, self._processor = time.perf_counter(), time.process_time()

    def answer(self, **more: object) -> dict[str, object]:
        """The seconds since it was made, and what else there is to say."""
        seconds, processor = time.perf_counter() - self._begin, time.process_time() - self._processor
        return {"seconds": seconds, "processor": processor, **more}
