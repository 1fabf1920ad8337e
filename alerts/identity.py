"""The id of an alert: a digest of what it says, so that every engine and every replay gives it the same one.

It is the outbox's primary key, the `webhook-id`, the id of the CloudEvent (docs/alerts.md, Ids).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from json.encoder import JSONEncoder, encode_basestring

from alerts.forms import utf8
from alerts.notation import number

_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
SIMPLE = frozenset({str, int, bool, type(None)})
"""Types of values whose canonical JSON is what the encoder in C writes."""


def alert_id(
    pack: str,
    rule: str,
    structure: str,
    kind: str,
    key: Sequence[object],
    steps: Sequence[tuple[str, Sequence[str]]],
    query: str | None = None,
    window: Sequence[str] | None = None,
) -> str:
    """SHA-256, as 64 hexadecimal digits, of the canonical JSON of the arguments, in this order, as one array.

    `pack` is the pack's name, `structure` the rule's structure hash, `key` the JSON values of the
    partition key in the order of `by`, `steps` the ids taken in the pattern's order (a step that took
    nothing is left out), `query` the query id of a hit, `window` its start and end as RFC 3339, and the id of
    the event at which it was evaluated where that is not its end; the last two are null where they do not
    apply. Raises TypeError and ValueError as `canonical` does.
    """
    taken = [(step, list(ids)) for step, ids in steps if ids]
    content = (pack, rule, structure, kind, list(key), taken, query, window)
    # Without doubles and objects, canonical JSON is what the encoder in C writes.
    text = _encode(content) if SIMPLE.issuperset(map(type, key)) else canonical(content)
    return digests([text])[0]


def digests(texts: Sequence[str]) -> list[str]:
    """The ids of the alerts of which the texts are the canonical JSON."""
    sha256 = hashlib.sha256
    return [sha256(text).hexdigest() for text in utf8(texts)]


def canonical(value: object) -> str:
    """Canonical JSON (RFC 8785): no spaces, names sorted by UTF-16 code unit, shortest numbers.

    In one point stricter: an integer keeps all its digits where RFC 8785 would round it to a double,
    so that keys beyond 2**53 stay apart. Raises ValueError for NaN and infinity, TypeError for what
    is no JSON value.
    """
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{encode_basestring(name)}:{canonical(value[name])}" for name in names) + "}"
    raise TypeError(f"no JSON value: {value!r}")
