"""Many queries at once, one JSON object a line: the good ones come in, every other line is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from percolator.library.collection import Change, Collection
from percolator.library.refusal import LifeCode, Refusal, RefusedError
from percolator.library.standing import StandingQuery, read_line
from percolator.query.foreign_words import Lookalike
from percolator.query.lookalikes import lookalikes


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that was not taken in, counted from 1; `id` is the query's, where one could be read."""

    line: int
    id: str | None
    refusal: Refusal

    def __str__(self) -> str:
        place = "" if self.refusal.position is None else f", at {self.refusal.position}"
        named = "" if self.id is None else f" ({self.id}{place})"
        return f"line {self.line}{named}: {self.refusal.code}: {self.refusal.message}"

    def as_json(self) -> dict[str, object]:
        """Line, id, code, message and position."""
        return {"line": self.line, "id": self.id, **self.refusal.as_json()}


@dataclass(frozen=True, slots=True)
class LookalikeLine:
    """A line that was taken in, counted from 1, with a word in its query that looks like an operator."""

    line: int
    id: str
    lookalike: Lookalike

    def __str__(self) -> str:
        one = self.lookalike
        return f"line {self.line} ({self.id}, at {one.span.start}): {one.code}: {one.message}; {one.help}"

    def as_json(self) -> dict[str, object]:
        """Line, id, code, message, position and help."""
        return {"line": self.line, "id": self.id, **self.lookalike.as_json()}


@dataclass(slots=True)
class LoadReport:
    """Counts and findings of a load, by line. Blank lines do not count.

    `warnings` are line, id and a sentence about the cost of a query; `lookalikes` are words that look like
    operators. `line_of` is the line that each query was loaded from, by id.
    """

    new: int = 0
    replaced: int = 0
    same: int = 0
    refused: list[RefusedLine] = field(default_factory=list)
    warnings: list[tuple[int, str, str]] = field(default_factory=list)
    lookalikes: list[LookalikeLine] = field(default_factory=list)
    line_of: dict[str, int] = field(default_factory=dict)

    @property
    def taken(self) -> int:
        """The number of lines that hold a query that is there now."""
        return self.new + self.replaced + self.same


def prepare_lines(
    queries: Collection,
    lines: Iterable[str | bytes],
    dialect: str = "native",
    objection: Callable[[StandingQuery], Refusal | None] = lambda _: None,
) -> tuple[list[Change], LoadReport]:
    """The changes, in order, that the lines ask for; none of them is applied yet.

    An id that stands in two lines is refused in the second, unless that one has a later version of its own.
    `objection` refuses what the collection would take.
    """
    report = LoadReport()
    changes: list[Change] = []
    waiting: dict[str, Change] = {}
    line_of = report.line_of
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        query = None
        try:
            query = read_line(line, dialect)
            if query.id in line_of and query.version is None:
                message = f"the id {query.id!r} stands in line {line_of[query.id]} already"
                raise RefusedError(Refusal(LifeCode.OLD_VERSION, message))
            refusal = objection(query)
            if refusal is not None:
                raise RefusedError(refusal)
            change = queries.prepare(query, waiting)
            if change.kind == "same" and query.id in line_of:
                message = f"the query {query.id!r} stands in line {line_of[query.id]} already"
                raise RefusedError(Refusal(LifeCode.OLD_VERSION, message))
        except RefusedError as error:
            id_ = _id_of(line) if query is None else query.id
            report.refused.append(RefusedLine(number, id_, error.refusal))
            continue
        line_of[query.id] = number
        report.warnings += [(number, query.id, warning) for warning in change.estimate.warnings]
        alike = lookalikes(query.query, change.node, query.dialect)
        report.lookalikes += [LookalikeLine(number, query.id, one) for one in alike]
        match change.kind:
            case "same":
                report.same += 1
                continue
            case "new":
                report.new += 1
            case "replaced":
                report.replaced += 1
        waiting[query.id] = change
        changes.append(change)
    return changes, report


def load(queries: Collection, lines: Iterable[str | bytes], dialect: str = "native") -> LoadReport:
    """Takes the queries of the lines in."""
    changes, report = prepare_lines(queries, lines, dialect)
    for change in changes:
        queries.apply(change)
    return report


def _id_of(line: str | bytes) -> str | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    id_ = found.get("id") if isinstance(found, dict) else None
    return id_ if isinstance(id_, str) else None
