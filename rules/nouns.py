"""Numbers with their nouns, as sentences have them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 rule`, `2,000 rules`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
