"""One standing query and its JSON form, which files of queries, the log and segments share.

    {"id": "q1", "version": 2, "query": "recall* AND tyres", "filter": {"lang": ["en", "de"]},
     "tags": ["safety"], "priority": 5, "expires": "2026-01-31T00:00:00Z", "dialect": "native"}

`id` and `query` are needed; in `filter`, a text stands for a list of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any

from percolator.library.refusal import LifeCode, Refusal, RefusedError
from percolator.query.dialects import DIALECTS
from percolator.schema import Kind
from percolator.values import DocumentError, keys

NEVER = (1 << 63) - 1
"""The time at which a query without `expires` expires."""
LONGEST_ID = 512
"""Characters of an id."""
LARGEST = 1 << 31
"""Versions and priorities are smaller than that."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS = ("id", "version", "query", "filter", "tags", "priority", "expires", "dialect")


@dataclass(frozen=True, slots=True)
class StandingQuery:
    """`version` None means the next one. `filter`: by key of the metadata, the values of which one is needed.

    `expires` is in microseconds since 1970 UTC: the query hits no document of that time or a later one.
    """

    id: str
    query: str
    version: int | None = None
    filter: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    priority: int = 0
    expires: int = NEVER
    dialect: str = "native"

    @classmethod
    def read(cls, data: object, dialect: str = "native") -> StandingQuery:
        """From its JSON form; `dialect` is that of queries which name none. Raises RefusedError."""
        if not isinstance(data, dict):
            raise _wrong("a query is a JSON object")
        for name in data.keys() - set(_KEYS):
            near = get_close_matches(name, _KEYS, 1)
            raise _wrong(f"`{name}` is not known" + (f"; did you mean `{near[0]}`?" if near else ""))
        dialect = data.get("dialect", dialect)
        if dialect not in DIALECTS:
            raise _wrong(f"`dialect` is one of {', '.join(DIALECTS)}")
        return cls(
            _id(data.get("id")),
            _query(data.get("query")),
            _version(data.get("version")),
            _filter(data.get("filter")),
            _tags(data.get("tags")),
            _priority(data.get("priority")),
            _expires(data.get("expires")),
            dialect,
        )

    def as_json(self) -> dict[str, object]:
        """The form that `read` takes, without what is as by default."""
        found: dict[str, object] = {"id": self.id}
        if self.version is not None:
            found["version"] = self.version
        found["query"] = self.query
        if self.filter:
            found["filter"] = {key: list(values) for key, values in self.filter.items()}
        if self.tags:
            found["tags"] = list(self.tags)
        if self.priority:
            found["priority"] = self.priority
        if self.expires != NEVER:
            found["expires"] = moment_text(self.expires)
        if self.dialect != "native":
            found["dialect"] = self.dialect
        return found


def read_line(line: str | bytes, dialect: str = "native") -> StandingQuery:
    """From one line of JSON. Raises RefusedError."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise _wrong(f"the line is not JSON: {problem}") from None
    return StandingQuery.read(data, dialect)


def moment(value: object) -> int:
    """A time, as fields of type date have them, in microseconds since 1970 UTC. Raises DocumentError."""
    found = keys({"time": value}, "time", Kind.DATE)
    if len(found) != 1:
        raise DocumentError(f"a time is one value, not {value!r}")
    return int(found[0])


def moment_text(micros: int) -> str:
    """The time in ISO 8601, UTC."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def _wrong(message: str) -> RefusedError:
    return RefusedError(Refusal(LifeCode.NO_QUERY, message))


def _id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong("`id` is missing" if value is None else "`id` is a text that is not empty")
    if len(value) > LONGEST_ID:
        raise _wrong(f"`id` has at most {LONGEST_ID} characters, not {len(value)}")
    return value


def _query(value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong("`query` is missing" if value is None else "`query` is a text")
    return value


def _version(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < LARGEST:
        raise _wrong(f"`version` is a whole number from 0 to {LARGEST - 1}")
    return value


def _filter(value: Any) -> Mapping[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong("`filter` is an object of keys and their allowed values")
    found = {}
    for key, allowed in value.items():
        texts = (allowed,) if isinstance(allowed, str) else allowed
        if (
            not isinstance(texts, tuple | list)
            or not texts
            or not all(isinstance(text, str) for text in texts)
        ):
            raise _wrong(f"`filter.{key}` is a text or a list of texts that is not empty")
        found[key] = tuple(dict.fromkeys(texts))
    return found


def _tags(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        raise _wrong("`tags` is a list of texts")
    return tuple(dict.fromkeys(value))


def _priority(value: Any) -> int:
    if value is None:
        return 0
    if type(value) is not int or not -LARGEST < value < LARGEST:
        raise _wrong(f"`priority` is a whole number between -{LARGEST} and {LARGEST}")
    return value


def _expires(value: Any) -> int:
    if value is None:
        return NEVER
    try:
        if not isinstance(value, str):
            raise DocumentError
        return moment(value)
    except DocumentError:
        raise _wrong("`expires` is a time such as 2026-01-31T00:00:00Z") from None
