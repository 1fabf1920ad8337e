"""The exception that carries, inside this package, why bytes are no event.

Malformed    raised by a reader for records that hold at least one malformed event
"""

from __future__ import annotations


class Malformed(Exception):  # noqa: N818 - it is the field's word for such an event
    """`reason` is one clause in the reader's words, fit for a dead letter."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
