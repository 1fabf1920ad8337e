"""Damage that keeps a library from being used.

LibraryError           no library there, one of another version, or another process writes it
└── DamagedError       a file is missing, cut short or altered; names the file and what is wrong
"""

from __future__ import annotations

from pathlib import Path


class LibraryError(Exception):
    """Its text is one sentence."""


class DamagedError(LibraryError):
    """`file` is what is damaged, `reason` a sentence."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason
