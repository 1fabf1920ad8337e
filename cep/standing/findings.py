"""Diagnostics of a pack's standing queries: lines that are refused, costly or doubtful, and empty sets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing from typeshed

from cep.plan.plan import HitStream, hit_streams
from cep.standing.compiled import CANNOT_BE_READ, CompiledSet, UnreadableError, compiled
from cep.standing.kept import NONE, KeptQueries
from cep.standing.lines import lines_of
from rules.diagnostics import Diagnostic, Label
from rules.hidden import around, beginning
from rules.source import SourceFile, Span
from rules.typed import Pack

NO_QUERIES = "CEP0863"
COSTLY = "CEP0864"
FURTHER = "CEP0865"

_AROUND = 24
"""Characters of a line that are drawn on either side of a place."""
TOLD = 50
"""Lines of a file that are told one by one, of each kind."""

_QUERY = re.compile(r'"query"\s*:\s*"')


def findings(pack: Pack, earlier: Callable[[HitStream], KeptQueries] = lambda _: NONE) -> list[Diagnostic]:
    """Findings about the queries that the pack's rules use, by stream of documents and line.

    A refused line is a warning under the code of what is wrong with it: the others count. It is an error if
    no query is left. `earlier` gives a set from which that of a stream of hits may be made.
    """
    found: list[Diagnostic] = []
    for hits in hit_streams(pack):
        try:
            found += _of_set(hits, compiled(hits, earlier(hits)))
        except UnreadableError as problem:
            found.append(
                Diagnostic(
                    CANNOT_BE_READ,
                    "error",
                    str(problem),
                    hits.queries.span,
                    help="write a new file beside it and rename it in; run the command again",
                )
            )
    return list({(d.code, d.message, d.span and (d.span.file.name, d.span.line)): d for d in found}.values())


def _of_set(hits: HitStream, one: CompiledSet) -> Iterator[Diagnostic]:
    report, queries = one.report, hits.queries
    if not report.taken:
        message = f"there is no query in `{queries.path}` that stream `{hits.documents.name}` can be asked"
        yield Diagnostic(
            NO_QUERIES,
            "error",
            message,
            queries.span,
            help="mend its lines; to run without queries, take out the rules that read them",
        )
    alike = report.lookalikes
    told = [r.line for r in report.refused[:TOLD]] + [w[0] for w in report.warnings[:TOLD]]
    places = _Lines(queries.path, told + [word.line for word in alike[:TOLD]])
    named = (Label(queries.span, "the queries are named here"),)
    for refused in report.refused[:TOLD]:
        message = f"this query is not taken in: {refused.refusal.message}"
        position = refused.refusal.position
        span = places.inside(refused.line, None if position is None else (position, position + 1))
        yield Diagnostic(
            str(refused.refusal.code),
            "warning",
            message,
            span,
            labels=named,
            help=f"`cep explain {refused.refusal.code}` says what to do",
        )
    for line, id_, said in report.warnings[:TOLD]:
        yield Diagnostic(
            COSTLY,
            "warning",
            f"query `{id_}`: {said}",
            places.line(line),
            labels=named,
            help="ask for a rarer word beside it; `cep explain CEP0864` says what costs",
        )
    for word in alike[:TOLD]:
        yield Diagnostic(
            str(word.lookalike.code),
            "warning",
            f"query `{word.id}`: {word.lookalike.message}",
            places.inside(word.line, word.lookalike.span),
            labels=named,
            help=word.lookalike.help,
        )
    for number, singular, plural in (
        (len(report.refused), "query is not taken in", "queries are not taken in"),
        (len(report.warnings), "query is costly", "queries are costly"),
        (len(alike), "word of a query looks like an operator", "words of queries look like operators"),
    ):
        more = number - TOLD
        if more > 0:
            message = f"{more:,} more {singular if more == 1 else plural}"
            help_ = f"`cep percolate --queries {queries.path} --format json` tells of all lines"
            yield Diagnostic(FURTHER, "warning", message, queries.span, help=help_)


class _Lines:
    """Lines of a file by number, each as an excerpt that a place can be in."""

    def __init__(self, name: str, wanted: Sequence[int]) -> None:
        self._files: dict[int, SourceFile] = {}
        if wanted:
            numbers = set(wanted)
            for number, line in enumerate(islice(lines_of(name), max(numbers)), 1):
                if number in numbers:
                    text = line.rstrip(b"\r").decode("utf-8", "replace")
                    self._files[number] = SourceFile(name, text, number)

    def line(self, number: int) -> Span:
        """A whole line, of which the beginning is drawn: the file may be another than was meant."""
        file = self._files[number]
        shown = replace(file, drawn=beginning(file.text))
        return Span(shown, 0, len(file.text))

    def inside(self, number: int, part: tuple[int, int] | None) -> Span:
        """Some characters of a query's text, with a little around them; or the whole line."""
        file = self._files[number]
        places = None if part is None else _places(file.text, part)
        if places is None:
            return self.line(number)
        return Span(replace(file, drawn=around(file.text, *places, _AROUND)), *places)


def _places(line: str, part: tuple[int, int]) -> tuple[int, int] | None:
    """The place in a line of JSON of a part of the value of `query`; None if it cannot be found."""
    found = _QUERY.search(line)
    if found is None:
        return None
    try:
        text, end = scanstring(line, found.end())
        if json.loads(line).get("query") != text:
            return None  # a member of another name holds what looks like it
    except ValueError:
        return None
    at: int = found.end()
    for _ in range(min(part[0], len(text))):
        at = _next(line, at)
    start = at = min(at, int(end) - 1)
    for _ in range(part[1] - part[0]):
        at = _next(line, at)
    return start, max(start + 1, min(at, int(end) - 1))


_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


def _next(line: str, at: int) -> int:
    """Behind the character that is written at a place of a JSON string."""
    found = _ESCAPE.match(line, at)
    return at + 1 if found is None else found.end()
