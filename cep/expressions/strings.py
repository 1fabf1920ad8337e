"""Strings, single values: `like`, `=~`, case, and address ranges."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1024)
def like_as_regex(pattern: str) -> re.Pattern[str]:
    r"""SQL `like` as a regular expression: `%`, `_`, and `\` before a character that stands for itself.

    A backslash at the very end stands for itself.
    """
    pieces = [""]
    characters = iter(pattern)
    for character in characters:
        if character == "%":
            pieces.append("")
        elif character == "\\":
            pieces[-1] += re.escape(next(characters, "\\"))
        else:
            pieces[-1] += "." if character == "_" else re.escape(character)
    first, *others = pieces
    # A piece between two `%` may be taken where it comes first, and need not be looked for again.
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.compile(first + middle + "".join(f".*{piece}" for piece in others[-1:]), re.DOTALL)


def like(value: object, pattern: str) -> bool:
    """True if the whole string is like the pattern."""
    assert isinstance(value, str)
    return like_as_regex(pattern).fullmatch(value) is not None


def search(value: object, pattern: str) -> bool:
    """True if the pattern, in RE2 syntax, is found anywhere in the string."""
    assert isinstance(value, str)
    return _found(pattern, value)


@lru_cache(maxsize=4096)
def _found(pattern: str, value: str) -> bool:
    compute, array = _arrow()
    return bool(compute.match_substring_regex(array([value]), pattern)[0].as_py())


@lru_cache(maxsize=1)
def _arrow() -> tuple[Any, Any]:
    # RE2 comes with Arrow; an alert or a check that searches nothing does not pay for the import.
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc, pa.array


def lower(value: str) -> str:
    """Lower case by Unicode's simple mapping, character by character."""
    return value.lower() if value.isascii() else str(_changed_case("utf8_lower", value))


def upper(value: str) -> str:
    """Upper case by Unicode's simple mapping, character by character."""
    return value.upper() if value.isascii() else str(_changed_case("utf8_upper", value))


def _changed_case(function: str, value: str) -> object:
    compute, array = _arrow()
    return getattr(compute, function)(array([value]))[0].as_py()


def substr(value: str, start: int, length: int | None = None) -> str | None:
    """Characters from `start` (from 0), `length` of them: SQL's substring, counted from 0.

    What lies before the first character counts but gives nothing; a negative length is null.
    """
    if length is None:
        return value[max(start, 0) :]
    if length < 0:
        return None
    return value[max(start, 0) : max(start + length, 0)]


def in_cidr(address: str, block: str) -> bool | None:
    """True if the address lies in the block (RFC 4632, RFC 4291); null where either is malformed."""
    host, network = _address(address), _network(block)
    if host is None or network is None:
        return None
    return host.version == network.version and host in network


@lru_cache(maxsize=4096)
def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
