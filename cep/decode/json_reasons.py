"""Why one line of JSON is no event: looked for only where Arrow refused a block with that line.

A reason is given only where it is certain that Arrow refuses the line too; what Python's parser and
Arrow's read differently (`Inf`, very deep nesting, very long numbers) is left to Arrow's message.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cep.decode.arrays import numbers, texts
from cep.decode.convert import Wanted, lacks
from cep.decode.decimals import misfit, parse_decimals
from cep.decode.durations import parse_durations
from cep.decode.formats import EPOCHS, FeedFormat
from cep.decode.malformed import Malformed
from cep.decode.timestamps import certainly_iso, parse_timestamps
from rules.types import ListOf, Record, Scalar, Type

_LENIENT = re.compile(rb"Inf|NaN")  # Arrow reads more spellings of these than Python


class _Fraction(float):
    """A number that is not whole, with its own text."""

    def __new__(cls, text: str) -> _Fraction:
        found = super().__new__(cls, text)
        found.text = text
        return found

    text: str


class _Object(dict[str, Any]):
    """A JSON object that remembers which keys occur twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen = Counter(key for key, _ in pairs) if len(self) < len(pairs) else {}
        self.twice = {key for key, times in seen.items() if times > 1}


def why_not(line: bytes, wanted: Sequence[Wanted], feed: FeedFormat, unsure: str | None = None) -> str | None:
    """The first thing wrong with a line, fields in order of declaration; None where nothing is.

    Where it is not certain whether Arrow can read the line: `unsure`.
    """
    try:
        value = json.loads(line.decode(), object_pairs_hook=_Object, parse_float=_Fraction)
    except UnicodeDecodeError as error:
        return f"not valid UTF-8 (byte {error.start} of the line)"
    except json.JSONDecodeError as error:
        if _LENIENT.search(line):
            return unsure
        if error.msg == "Extra data":
            return f"more than one JSON object in the line (character {error.pos + 1})"
        return f"not JSON: {error.msg} (character {error.pos + 1})"
    except (ValueError, RecursionError):
        return unsure
    if not isinstance(value, _Object):
        return f"not a JSON object but {_described(value)}"
    for field in wanted:
        found = value.get(field.source)
        if field.source in value.twice:
            return f"`{field.source}` occurs twice"
        if found is None:
            reason = lacks(field.name) if field.required else None
        else:
            reason = _wrong(found, field.type, feed, field.name)
        if reason is not None:
            return reason if field.source == field.name else f"{reason} (`{field.source}` in the source)"
    return None


def _wrong(value: Any, type_: Type, feed: FeedFormat, name: str) -> str | None:
    if value is None:
        return None
    expected: Any = _expected(type_, feed)
    if not isinstance(value, expected) or (isinstance(value, bool) and type_ != Scalar.BOOLEAN):
        return f"wrong type: `{name}` is {_article(type_)}, the event has {_described(value)}"
    match type_:
        case Scalar.STRING | Scalar.TEXT:
            return None if _unicode(value) else f"`{name}` holds half a surrogate pair"
        case Scalar.LONG:
            return None if -(2**63) <= value < 2**63 else f"`{name}` does not fit into 64 bits: {value}"
        case Scalar.DECIMAL:
            text = value.text if isinstance(value, _Fraction) else str(value)
            return misfit(text, name) or _refused(
                lambda array, _, field: parse_decimals(array, field), text, feed, name
            )
        case Scalar.TIMESTAMP:
            if feed.timestamps == "iso" and certainly_iso(value):
                return None
            return _refused(parse_timestamps, value, feed, name)
        case Scalar.DURATION:
            return _refused(lambda array, _, field: parse_durations(array, field), value, feed, name)
        case ListOf(element):
            for place, item in enumerate(value):
                here = f"{name}[{place}]"
                reason = f"`{here}` is null" if item is None else _wrong(item, element, feed, here)
                if reason is not None:
                    return reason
        case Record(fields, nullable):
            for part, part_type in fields:
                if part in value.twice:
                    return f"`{name}.{part}` occurs twice"
                if value.get(part) is None and part not in nullable:
                    return lacks(f"{name}.{part}")
                reason = _wrong(value.get(part), part_type, feed, f"{name}.{part}")
                if reason is not None:
                    return reason
    return None


def _expected(type_: Type, feed: FeedFormat) -> tuple[type, ...]:
    match type_:
        case Scalar.LONG:
            return (int,)
        case Scalar.DOUBLE:
            return (int, float)
        case Scalar.DECIMAL:
            return (int, float, str)
        case Scalar.BOOLEAN:
            return (bool,)
        case Scalar.TIMESTAMP if feed.timestamps in EPOCHS:
            return (int, float) if feed.timestamps in ("epoch_s", "epoch_ms") else (int,)
        case ListOf():
            return (list,)
        case Record():
            return (_Object,)
        case _:
            return (str,)


def _refused(parse: Any, value: Any, feed: FeedFormat, name: str) -> str | None:
    try:
        if isinstance(value, str):
            read = texts([value])
        else:
            whole = feed.timestamps not in ("epoch_s", "epoch_ms")
            read = numbers(
                np.array([value], np.int64 if whole else np.float64), None if whole else pa.float64()
            )
        parse(read, feed, name)
    except Malformed as error:
        return error.reason
    except OverflowError:
        return f"`{name}` does not fit into 64 bits: {value}"
    except UnicodeEncodeError:
        return f"`{name}` holds half a surrogate pair"
    return None


def _unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _article(type_: Type) -> str:
    match type_:
        case ListOf():
            return "a list"
        case Record():
            return "a record"
        case _:
            return f"a {type_}"


def _described(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "a whole number"
        case float():
            return "a number with a fraction"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"
