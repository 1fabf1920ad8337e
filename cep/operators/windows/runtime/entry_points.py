"""The functions of the kernel that are called from outside, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of `cep.operators.windows.kernel` that are called from outside."""

    join_keys: Callable[..., int]
    join_places: Callable[..., None]
    join_both: Callable[..., None]
    copy_parts: Callable[..., None]
    join_words: Callable[..., None]
    join_bits: Callable[..., None]
    put_words: Callable[..., None]
    put_bits: Callable[..., None]
    find_after: Callable[..., None]
    find_sessions: Callable[..., None]
    find_windows: Callable[..., int]
    sum_ranges: Callable[..., None]
    pack_ranges: Callable[..., int]
    find_greatest: Callable[..., None]
    count_distinct: Callable[..., None]
    find_percentiles: Callable[..., None]
    find_percentiles_of_many: Callable[..., None]
    put_compact: Callable[..., int]
    measure_compact: Callable[..., None]
    take_compact: Callable[..., None]
