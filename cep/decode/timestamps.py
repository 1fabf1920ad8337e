"""Timestamps by column: what a source writes -> timestamp[ns, UTC], exact to the nanosecond.

ISO 8601 means what Arrow reads: `YYYY-MM-DD`, then optionally `T` or a space, `hh[:mm[:ss[.f]]]`
with one to nine digits, then optionally `Z`, `±hh`, `±hhmm` or `±hh:mm`. A local time that a change
of clocks repeats is the earlier one; one that it leaves out is the instant of the change. (Arrow's rules
for zones end with 2037; from then on local times get their zone's winter offset.)
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.decode.arrays import numbers
from cep.decode.formats import EPOCHS, FeedFormat
from cep.decode.malformed import Malformed

INSTANT = pa.timestamp("ns", "UTC")
_LOCAL = pa.timestamp("ns")
_ZONED = r"[T ].*(Z|[+-]\d\d(:?\d\d)?)$"
_USUAL = re.compile(
    r"(?:1[789]\d\d|2[01]\d\d)-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])"
    r"(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-][01]\d:[0-5]\d)?)?"
)
_UTC = ("UTC", "Etc/UTC", "Z", "+00:00")


def is_utc(zone: str) -> bool:
    """True if times of that zone are those of UTC."""
    return zone in _UTC


def certainly_iso(text: str) -> bool:
    """True if a text is a timestamp of the usual shape; parse_timestamps accepts others too."""
    return _USUAL.fullmatch(text) is not None


def parse_timestamps(values: pa.Array, feed: FeedFormat, field: str) -> pa.Array:
    """Instants from what `timestamps` of the feed says the values are: strings or numbers.

    Of Arrow's own timestamps and dates only the zone is asked for. Nulls stay null. Raises Malformed,
    naming the field, if any value is not such a timestamp.
    """
    if values.type == INSTANT:
        return values
    try:
        if pa.types.is_timestamp(values.type) and values.type.tz is not None:
            return values.cast(INSTANT)
        if pa.types.is_temporal(values.type):
            return localise(values.cast(_LOCAL), feed.zone)
        if feed.timestamps == "iso":
            return _parse_iso(values, feed.zone)
        if feed.timestamps in EPOCHS:
            return _from_epoch(values, EPOCHS[feed.timestamps])
        return _parse_pattern(values, feed.timestamps, feed.zone)
    except (pa.ArrowInvalid, ValueError, OverflowError):
        form = "an ISO timestamp" if feed.timestamps == "iso" else f"a timestamp as `{feed.timestamps}` says"
        shown = "" if len(values) != 1 or pa.types.is_temporal(values.type) else f": {values[0]}"
        raise Malformed(f"`{field}` is not {form} between 1677 and 2262{shown}") from None


def localise(local: pa.Array, zone: str) -> pa.Array:
    """Instants of wall-clock times (timestamp without zone) of a zone."""
    if is_utc(zone):
        return local.cast(_LOCAL).cast(INSTANT)
    placed = pc.assume_timezone(local.cast(_LOCAL), zone, ambiguous="earliest", nonexistent="latest")
    return placed.cast(INSTANT)


def _parse_iso(values: pa.Array, zone: str) -> pa.Array:
    try:
        return values.cast(INSTANT)  # every value names its zone
    except pa.ArrowInvalid:
        pass
    try:
        return localise(values.cast(_LOCAL), zone)  # none does
    except pa.ArrowInvalid:
        zoned = pc.match_substring_regex(values, _ZONED)
    nothing = pa.nulls(1, pa.string())[0]
    instants = pc.if_else(zoned, values, nothing).cast(INSTANT)
    local = pc.if_else(zoned, nothing, values).cast(_LOCAL)
    return pc.coalesce(instants, localise(local, zone))


def _from_epoch(values: pa.Array, unit: int) -> pa.Array:
    if not pa.types.is_floating(values.type):
        return pc.multiply_checked(values.cast(pa.int64()), _integer(unit)).cast(INSTANT)
    # a double holds today's seconds to about 0.2 microseconds, so no finer than whole ones
    micros = pc.round(pc.multiply(values, _integer(unit // 1000).cast(pa.float64()))).cast(pa.int64())
    return pc.multiply_checked(micros, _integer(1000)).cast(INSTANT)


def _integer(value: int) -> pa.Scalar:
    return numbers(np.array([value]))[0]


def _parse_pattern(values: pa.Array, pattern: str, zone: str) -> pa.Array:
    shape = _shape(pattern)
    if shape is not None:
        regex, rewrite = shape
        fits = pc.match_substring_regex(values, regex)
        if pc.all(fits, min_count=0).as_py():
            return _parse_iso(pc.replace_substring_regex(values, regex, rewrite), zone)
    distinct = values.dictionary_encode()
    times = [_strptime(text, pattern) for text in distinct.dictionary.to_pylist()]
    written = numbers(np.array([time for time, _ in times], np.int64), _LOCAL)
    names_zone = numbers(np.array([named for _, named in times], np.int64)).cast(pa.bool_())
    nothing = pa.nulls(1, _LOCAL)[0]
    zoned = localise(pc.if_else(names_zone, written, nothing), "UTC")
    local = localise(pc.if_else(names_zone, nothing, written), zone)
    return pc.coalesce(zoned, local).take(distinct.indices)


_DIGITS = {"%Y": r"(\d{4})", "%m": r"(\d\d)", "%d": r"(\d\d)", "%H": r"(\d\d)", "%M": r"(\d\d)",
           "%S": r"(\d\d)", "%f": r"(\d{1,6})"}  # fmt: skip


def _shape(pattern: str) -> tuple[str, str] | None:
    """A regular expression and the rewriting of its matches to ISO, if the pattern is all digits."""
    parts = re.findall(r"%.|[^%]+", pattern)
    directives = [part for part in parts if part.startswith("%")]
    needed = {"%Y", "%m", "%d"}
    if len(set(directives)) != len(directives) or not needed <= set(directives) <= _DIGITS.keys():
        return None
    if ("%f" in directives) > ("%S" in directives) or {"%H", "%M", "%S"} & set(directives) not in (
        set(), {"%H", "%M"}, {"%H", "%M", "%S"}
    ):  # fmt: skip
        return None
    regex = "^" + "".join(_DIGITS.get(part) or re.escape(part) for part in parts) + "$"
    group = {directive: f"\\{n}" for n, directive in enumerate(directives, 1)}
    rewrite = f"{group['%Y']}-{group['%m']}-{group['%d']}"
    if "%H" in group:
        rewrite += f"T{group['%H']}:{group['%M']}:{group.get('%S', '00')}"
    return regex, rewrite + (f".{group['%f']}" if "%f" in group else "")


def _strptime(text: str, pattern: str) -> tuple[int, bool]:
    """Nanoseconds since 1970, of the wall clock unless the text names its zone; and whether it does."""
    moment = datetime.strptime(text, pattern)
    zoned = moment.tzinfo is not None
    elapsed = (moment if zoned else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return ((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds) * 1000, zoned
