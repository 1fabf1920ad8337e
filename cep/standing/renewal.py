"""The set of a file's lines, from an earlier set and the lines that are new to it.

A query hangs on its own line alone, but for lines that name the same id: so the lines that the earlier set
holds are not read again, unless their id stands in another line too. The report is the same as without an
earlier set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.collector import paused
from cep.standing.kept import LINES, Bools, Digests, KeptQueries, QueryPart, Rows, digests
from percolator.library.collection import Change, Collection, tree_of
from percolator.library.compaction import tiers
from percolator.library.cost import estimate
from percolator.library.load import LoadReport, LookalikeLine, prepare_lines
from percolator.library.refusal import Refusal
from percolator.library.standing import StandingQuery
from percolator.library.stored import StoredSegment, id_hash
from percolator.query.lookalikes import lookalikes
from percolator.query.tree import Node
from percolator.schema import Schema

Objection = Callable[[StandingQuery], Refusal | None]


@dataclass(frozen=True, slots=True)
class Renewal:
    """The fate of every line, in `report`; `changes` are the queries that were read.

    `rows` has for each line the row of `earlier.lines` that holds its query, -1 where it was read.
    """

    schema: Schema
    earlier: KeptQueries
    rows: Rows
    digests: Digests
    changes: list[Change]
    report: LoadReport

    def kept(self) -> KeptQueries:
        """The queries, compiled. Parts of the earlier set stay as they are, but for small ones and those of
        which half is dead: these go into the new part."""
        held = self.earlier.lines[self.rows[self.rows >= 0]]
        parts = [
            QueryPart(part.stored, _but(len(part.dead), held["place"][held["part"] == number]), part.files)
            for number, part in enumerate(self.earlier.parts)
        ]
        accepted = self._accepted()
        new = [(one.query, one.node, one.estimate.units) for one in accepted]
        of_line = self.digests[[self.report.line_of[one.query.id] - 1 for one in accepted]].tolist()
        of_report = {line for line, _, _ in self.report.warnings}
        of_report |= {one.line for one in self.report.lookalikes}
        warned = [self.report.line_of[one.query.id] in of_report for one in accepted]
        merged = tiers([(part.living, len(part.dead)) for part in parts], len(new))
        with paused():
            for number in merged:
                rows = held[held["part"] == number]
                new += [self._again(parts[number], place) for place in rows["place"].tolist()]
                of_line += rows["digest"].tolist()
                warned += rows["warned"].tolist()
            made = (
                [QueryPart(StoredSegment.of(new, self.schema), np.zeros(len(new), np.bool_))] if new else []
            )
        staying = [number for number in range(len(parts)) if number not in merged]
        lines = np.zeros(len(held) - sum(parts[n].living for n in merged) + len(new), LINES)
        stay = held[~np.isin(held["part"], merged)]
        lines[: len(stay)] = stay
        lines["part"][: len(stay)] = np.searchsorted(staying, stay["part"])
        made_of = lines[len(stay) :]
        made_of["digest"], made_of["warned"] = of_line, warned
        made_of["part"], made_of["place"] = len(staying), np.arange(len(new))
        return KeptQueries((*(parts[n] for n in staying), *made), lines[np.argsort(lines["digest"])])

    def _accepted(self) -> list[Change]:
        """Of each id the last query."""
        return list({change.query.id: change for change in self.changes}.values())

    def _again(self, part: QueryPart, place: int) -> tuple[StandingQuery, Node, float]:
        return Collection(self.schema).read(part.stored.query(place))


def renewal(lines: Sequence[bytes], schema: Schema, objection: Objection, earlier: KeptQueries) -> Renewal:
    """The renewal by the lines, over documents of a schema; `objection` is `prepare_lines`'."""
    queries = Collection(schema)
    of_line = digests(lines)
    rows = earlier.find(of_line)
    if len(lines) > queries.limits.queries:
        rows[:] = -1  # which line is one too many is for `prepare_lines` to say
    with paused():  # a third less time
        while True:
            held = rows >= 0
            unread = [b"" if known else line for known, line in zip(held.tolist(), lines, strict=True)]
            changes, report = prepare_lines(queries, unread, objection=objection)
            read = {*report.line_of, *(one.id for one in report.refused if one.id is not None)}
            ids = np.zeros(len(rows), np.uint64)
            ids[held] = earlier.ids[rows[held]]
            again = held & (np.isin(ids, [id_hash(id_) for id_ in read]) | _repeated(ids, held))
            if not again.any():
                break
            rows[again] = -1
    report.new += int(np.count_nonzero(held))
    known = np.flatnonzero(held)
    for number in known[earlier.lines["warned"][rows[held]]].tolist():
        _warn(report, number + 1, queries, earlier, int(rows[number]))
    report.warnings.sort()
    report.lookalikes.sort(key=lambda one: (one.line, one.lookalike.span))
    return Renewal(schema, earlier, rows, of_line, changes, report)


def _warn(report: LoadReport, number: int, queries: Collection, earlier: KeptQueries, row: int) -> None:
    """Say of a line what was said when its query was read."""
    line = earlier.lines[row]
    query = earlier.parts[line["part"]].stored.query(int(line["place"]))
    node = tree_of(query, queries.schema)
    report.warnings += [(number, query.id, said) for said in estimate(node, queries.limits).warnings]
    alike = lookalikes(query.query, node, query.dialect)
    report.lookalikes += [LookalikeLine(number, query.id, one) for one in alike]


def _repeated(ids: npt.NDArray[np.uint64], held: Bools) -> Bools:
    """A mask of the lines held whose id another such line has too."""
    _, which, counts = np.unique(ids[held], return_inverse=True, return_counts=True)
    found = np.zeros(len(ids), np.bool_)
    found[held] = counts[which] > 1
    return found


def _but(count: int, living: npt.NDArray[np.int32]) -> Bools:
    dead = np.ones(count, np.bool_)
    dead[living] = False
    return dead
