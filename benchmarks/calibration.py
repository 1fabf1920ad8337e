"""A fixed piece of work, so that figures of different moments and machines can be compared."""

from __future__ import annotations

import time

import numpy as np


def calibration() -> str:
    """One line: how long sorting ten million numbers takes now, the best of three."""
    numbers = np.random.default_rng(0).random(10_000_000)
    best = min(_seconds(numbers) for _ in range(3))
    return f"calibration: sorting ten million doubles takes {best:.2f} s"


def _seconds(numbers: np.ndarray) -> float:
    begin = time.perf_counter()
    np.sort(numbers)
    return time.perf_counter() - begin
