"""`Retry-After`: how long a receiver asks to be left alone (RFC 9110, 10.2.3)."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime

_SECOND = 1_000_000_000


def retry_after(value: str, now: int) -> int | None:
    """Nanoseconds from `now` (wall clock, ns) of a number of seconds or an HTTP date; None for anything else.

    Never negative: a date in the past asks for nothing.
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return int(text[:12]) * _SECOND
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, int(moment.timestamp()) * _SECOND - now)
