"""What of the kernel is called from outside, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """The functions of `cep.matching.kernel` that are called from outside."""

    count_hits: Callable[..., None]
    list_hits: Callable[..., None]
    run_rules: Callable[..., int]
    drop_nodes: Callable[..., None]
    replay: Callable[..., None]
