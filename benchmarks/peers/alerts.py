"""Alerts of both sides as they were written, compared by rule, key, time and the ids of the events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

Alert = tuple[str, str, int, str, str, str]
"""Rule, key, time in milliseconds since 1970, the ids of the three events."""


def ours(path: Path) -> Counter[Alert]:
    """The alerts of a file that our engine wrote."""
    if not path.stat().st_size:
        return Counter()
    found = _read(path)
    key, events = found["key"].combine_chunks(), found["events"].combine_chunks()
    time = _milliseconds(found["time"])
    ids = [pc.list_element(events.field(name), 0).to_pylist() for name in "abc"]
    return Counter(zip(found["rule"].to_pylist(), key.field("k").to_pylist(), time, *ids, strict=True))


def of_outbox(time: int, alert: Mapping[str, Any]) -> Alert:
    """An alert that our outbox has; `time` is in nanoseconds."""
    a, b, c = (alert["events"][step][0] for step in "abc")
    return alert["rule"], alert["key"]["k"], time // 10**6, a, b, c


def theirs(paths: Iterable[Path]) -> Counter[Alert]:
    """The alerts of files that a peer wrote; their time is in milliseconds, or as ours is."""
    found: Counter[Alert] = Counter()
    for path in paths:
        if path.stat().st_size:
            rows = _read(path)
            time = rows["time"]
            times = time.to_pylist() if pa.types.is_integer(time.type) else _milliseconds(time)
            columns = [rows[name].to_pylist() for name in "abc"]
            found.update(zip(rows["rule"].to_pylist(), rows["k"].to_pylist(), times, *columns, strict=True))
    return found


def verdict(left: Counter[Alert], right: Counter[Alert]) -> str:
    """What their comparison came to. Raises SystemExit if they differ: nothing is worth comparing then."""
    if left == right:
        return f"{left.total():,} alerts, the same"
    only, missing = left - right, right - left
    some = [*list(only)[:3], "|", *list(missing)[:3]]
    raise SystemExit(f"{only.total():,} alerts are ours alone, {missing.total():,} are theirs alone: {some}")


def _read(path: Path) -> pa.Table:
    # Times stay text: pyarrow would read some as timestamps, and others not.
    text = pa.schema([("time", pa.string())])
    with path.open("rb") as lines:
        if b'"time":"' not in lines.readline():
            text = pa.schema([("time", pa.int64())])
    return pj.read_json(path, parse_options=pj.ParseOptions(explicit_schema=text))


def _milliseconds(times: pa.ChunkedArray) -> list[int]:
    plain = pc.replace_substring(pc.replace_substring(times, " ", "T"), "Z", "")
    return pc.cast(pc.cast(plain, pa.timestamp("ms")), pa.int64()).to_pylist()  # type: ignore[no-any-return]
