"""Keyed hashes that are shown in place of secret values: equal for equal ones, with no way back from them."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

DIGITS = 16
"""Hexadecimal digits of a hash, of the 64 that HMAC-SHA-256 has."""
LEAST = 16
"""Bytes that a key has at least."""
_KEPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Mask:
    """Hashes under a key."""

    key: bytes = field(repr=False)
    _kept: Callable[[str], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = self.key

        def hashed(text: str) -> str:
            return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()[:DIGITS]

        object.__setattr__(self, "_kept", lru_cache(_KEPT)(hashed))

    def __reduce__(self) -> tuple[type[Mask], tuple[bytes]]:
        return Mask, (self.key,)

    def __call__(self, text: str) -> str:
        """The hash of a text."""
        return self._kept(text)

    def value(self, found: object) -> object:
        """A value with hashes in place of its texts, also of those in lists; null stays null."""
        if isinstance(found, str):
            return self._kept(found)
        if isinstance(found, list | tuple):
            return [self.value(one) for one in found]
        return found
