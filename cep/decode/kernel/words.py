"""The words of JSON: `true`, `false`, `null`."""

from __future__ import annotations

import numpy as np

from kernels.family import inlined

TRUE, FALSE, NULL = (np.uint64(int.from_bytes(word, "little")) for word in (b"true", b"false", b"null"))
ALL, BYTE = np.uint64(64), np.uint64(8)


@inlined
def is_word(found: np.uint64, word: np.uint64, length: int) -> bool:
    """True if eight bytes begin with a word of so many."""
    return bool((found ^ word) << (ALL - BYTE * np.uint64(length)) == np.uint64(0))
