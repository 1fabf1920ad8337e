"""Streams and events that the decode tests share."""

from __future__ import annotations

from rules.source import SourceFile, Span
from rules.typed import Field, Stream
from rules.types import Scalar, Type

NOWHERE = Span(SourceFile("test.rules", ""), 0, 0)
BASE = {"eid": "e1", "at": "2020-01-01T00:00:00Z"}
BASE_TIME = 1_577_836_800_000_000_000


def stream_of(
    fields: dict[str, Type], nullable: tuple[str, ...] = (), id_: tuple[str, ...] | None = ("eid",)
) -> Stream:
    whole: dict[str, Type] = {"eid": Scalar.STRING, "at": Scalar.TIMESTAMP, **fields}
    declared = tuple(Field(n, t, n in nullable, "", NOWHERE) for n, t in whole.items())
    return Stream("s", declared, id_, ("at",), 0, None, NOWHERE)
