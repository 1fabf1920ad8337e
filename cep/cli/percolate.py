"""`cep percolate`: standing queries over documents, or many small cases, in this process, without a JVM."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from alerts.shown import shown
from cep.cli.failure import FINDINGS, OK, OUTSIDE, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from percolator.library.collection import Collection
    from percolator.library.load import LoadReport
    from percolator.library.slow import SlowQuery
    from percolator.schema import Schema

_SHOWN = 10
"""So many of each kind of problem are named on stderr; the rest are counted."""
_LEAST = 0.005
"""Microseconds: less would be told as 0.00."""
_TIMED = 16
"""With --slow one of so many documents is timed: a file may have only some hundred."""


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "percolate",
        help="standing queries over documents, in this process",
        description="Tell which of the standing queries are true on each document; or, with --cases, run "
        "many small cases, one JSON object a line, and write one result a line.",
    )
    parser.set_defaults(stray="files are named: --queries FILE --documents FILE --output FILE")
    parser.add_argument("--queries", metavar="FILE", help="the queries: JSON lines, also .gz, .zst; -: stdin")
    parser.add_argument(
        "--documents", metavar="FILE", help="the documents: JSON lines, also .gz, .zst, or .parquet; -: stdin"
    )
    parser.add_argument(
        "--output", metavar="FILE", help="where the hits go: JSON lines, or .parquet; -: stdout"
    )
    parser.add_argument("--cases", metavar="FILE", help="run the cases of a file of JSON lines; -: stdin")
    parser.add_argument(
        "--schema", metavar="FILE",
        help='the fields, as JSON: {"schema": {"title": "text", ...}, "default": ["title"]}',
    )  # fmt: skip
    parser.add_argument(
        "--field", action="append", default=[], metavar="NAME=TYPE",
        help='a field, as in body="text english"; one --field each',
    )  # fmt: skip
    parser.add_argument(
        "--default", metavar="NAME,NAME",
        help="the fields that a term without one is looked for in (default: all texts)",
    )  # fmt: skip
    parser.add_argument(
        "--time", metavar="NAME",
        help="what holds a document's time: queries that expire then or before do not hit it",
    )  # fmt: skip
    parser.add_argument(
        "--highlight", action="store_true", help="tell which ranges of the texts made each hit"
    )
    parser.add_argument(
        "--dialect", choices=("native", "lucene", "factiva"), default="native",
        help="how queries are written that do not tell (default: native)",
    )  # fmt: skip
    parser.add_argument(
        "--slow", type=int, default=0, metavar="N", help="at the end, name the N slowest queries on stderr"
    )
    parser.add_argument(
        "--strict", action="store_true",
        help="warnings fail, too: costly queries, words that look like operators",
    )  # fmt: skip


@dataclass(slots=True)
class _Counts:
    """The numbers of documents by outcome; `rejected` and `undecided` name the first few of each."""

    documents: int = 0
    hits: int = 0
    rejected: int = 0
    undecided: int = 0
    first_rejected: list[tuple[int, str]] = field(default_factory=list)
    first_undecided: list[tuple[str, str]] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        self.rejected += 1
        if len(self.first_rejected) < _SHOWN:
            self.first_rejected.append((line, reason))

    def doubt(self, document: str, query: str) -> None:
        self.undecided += 1
        if len(self.first_undecided) < _SHOWN:
            self.first_undecided.append((document, query))


def run(arguments: argparse.Namespace) -> int:
    """Answer the documents or the cases; returns the exit code. Raises UsageError, OutsideError."""
    if arguments.cases is not None:
        names = ("queries", "documents", "schema", "field", "default", "time", "highlight", "slow", "strict")
        if any(getattr(arguments, name) for name in names):
            raise UsageError(
                "--cases takes only --output, --dialect and --format", "a case holds its own queries"
            )
        return _run_cases(arguments)
    missing = [name for name in ("queries", "documents", "output") if getattr(arguments, name) is None]
    if missing:
        raise UsageError(
            f"{', '.join(f'--{name}' for name in missing)} {'is' if len(missing) == 1 else 'are'} missing",
            'cep percolate --queries FILE --documents FILE --output FILE --field body="text english"',
        )
    if arguments.queries == arguments.documents == "-":
        raise UsageError(
            "--queries and --documents cannot both come from stdin", "name a file for one of them"
        )
    return _run_files(arguments)


def _run_files(arguments: argparse.Namespace) -> int:
    from cep.cli.documents import lines
    from cep.cli.percolate_schema import schema_of
    from cep.cli.progress import speed, watched
    from percolator.library.collection import Collection
    from percolator.library.load import load

    schema = schema_of(arguments)
    queries = Collection(schema, timed=_TIMED if arguments.slow else None)
    read = watched(lines(arguments.queries), lambda number, seconds: speed(number, seconds, "queries"))
    report = load(queries, read, arguments.dialect)
    queries.settle()
    counts = _answer(arguments, schema, queries) if len(queries) else _Counts()
    slow = []
    if arguments.slow:
        from percolator.library.slow import slowest

        slow = slowest(queries, arguments.slow)
    if arguments.format == "json":
        print(json.dumps(_as_json(report, counts, slow), ensure_ascii=False), file=sys.stderr)
    else:
        _tell(arguments, report, counts, slow)
    complete = report.taken and counts.documents and not report.refused and not counts.undecided
    warned = report.warnings or report.lookalikes
    return OK if complete and not (arguments.strict and warned) else FINDINGS


def _answer(arguments: argparse.Namespace, schema: Schema, queries: Collection) -> _Counts:
    """Writes the hits of all documents."""
    from cep.cli.documents import BadDocumentError, documents
    from cep.cli.hit_rows import hit_row, writing
    from cep.cli.progress import on_terminal, speed, watched
    from percolator.values import DocumentError

    counts = _Counts()

    def line(number: int, seconds: float) -> str:
        return f"{speed(number, seconds, 'documents')}, {counts.hits:,} hits"

    given = (arguments.queries, arguments.documents, arguments.schema)
    read_from = [name for name in given if name is not None]
    with writing(arguments.output, arguments.highlight, read_from) as write:
        read_on = documents(arguments.documents, schema, arguments.time)
        for number, read in watched(read_on, line, on_terminal(arguments.output)):
            if isinstance(read, BadDocumentError):
                counts.reject(number, str(read))
                continue
            try:
                answer = queries.match(read.fields, read.metadata, read.time, highlight=arguments.highlight)
            except DocumentError as problem:
                counts.reject(number, str(problem))
                continue
            counts.documents += 1
            counts.hits += len(answer.hits)
            for found in answer.hits:
                write(hit_row(read.id, found))
            for query in answer.undecided:
                counts.doubt(read.id, query.id)
    return counts


def _as_json(report: LoadReport, counts: _Counts, slow: list[SlowQuery]) -> dict[str, Any]:
    return {
        "queries": report.taken,
        "refused": [one.as_json() for one in report.refused],
        "warnings": [
            *({"line": at, "id": id_, "message": text} for at, id_, text in report.warnings),
            *(one.as_json() for one in report.lookalikes),
        ],
        "documents": counts.documents,
        "hits": counts.hits,
        "rejected": counts.rejected,
        "undecided": counts.undecided,
        "first_rejected": [{"line": at, "reason": why} for at, why in counts.first_rejected],
        "first_undecided": [{"document": one, "query": query} for one, query in counts.first_undecided],
        "slow": [
            {
                "query": one.query.id,
                "microseconds": round(one.microseconds, 3),
                "among_all": round(one.among_all, 3),
                "hits": one.hits,
            }
            for one in slow
        ],
    }


def _tell(arguments: argparse.Namespace, report: LoadReport, counts: _Counts, slow: list[SlowQuery]) -> None:
    """Counts, and the first of what went wrong, on stderr."""
    from cep.cli.output import error_text
    from rules.nouns import counted

    text = f"{report.taken:,} {'query' if report.taken == 1 else 'queries'}, "
    text += f"{counted(counts.documents, 'document')}, {counted(counts.hits, 'hit')}"
    wrong = [
        f"{number:,} {what}"
        for number, what in (
            (len(report.refused), "refused"),
            (counts.rejected, "rejected"),
            (counts.undecided, "undecided"),
        )
        if number
    ]
    print(text + ("; " + ", ".join(wrong) if wrong else ""), file=sys.stderr)
    _list("refused", [f"{arguments.queries}: {one}" for one in report.refused], len(report.refused))
    warnings = [f"{arguments.queries}: line {at} ({id_}): {said}" for at, id_, said in report.warnings]
    _list("warning", warnings, len(warnings))
    alike = [f"{arguments.queries}: {one}" for one in report.lookalikes]
    _list("warning", alike, len(alike))
    rejected = [f"{arguments.documents}:{at}: {why}" for at, why in counts.first_rejected]
    _list("rejected", rejected, counts.rejected)
    undecided = [
        f"query {query} on document {one}: too many positions" for one, query in counts.first_undecided
    ]
    _list("undecided", undecided, counts.undecided)
    for one in slow:
        among = f" ({one.among_all:,.2f} µs among all)" if one.among_all >= _LEAST else ""
        said = f"{one.microseconds:,.1f} µs a document alone{among}, {counted(one.hits, 'hit')}"
        print(f"slow: {shown(one.query.id)}: {said}", file=sys.stderr)
    if not report.taken:
        print(
            error_text("there is not one query that can be used", "mend the refused, or name another file"),
            file=sys.stderr,
        )
    elif not counts.documents:
        print(
            error_text("there is not one document in the file", "name another file, or look at this one"),
            file=sys.stderr,
        )


def _list(what: str, texts: list[str], total: int) -> None:
    for text in texts[:_SHOWN]:
        print(f"{what}: {shown(text)}", file=sys.stderr)
    if total > _SHOWN:
        print(f"{what}: and {total - _SHOWN:,} more", file=sys.stderr)


def _run_cases(arguments: argparse.Namespace) -> int:
    from cep.cli.documents import lines
    from cep.cli.eval import output_file
    from cep.cli.hit_rows import json_line
    from cep.cli.output import error_text
    from cep.cli.percolate_cases import run_cases
    from cep.cli.report import unforeseen

    failures: list[tuple[str, str]] = []

    def keep(error: Exception) -> str:
        what, where = unforeseen(error, ["percolate", "--cases", arguments.cases])
        failures.append((what, where))
        return what

    total = 0
    with output_file(arguments.output, [arguments.cases]) as out:
        for result in run_cases(lines(arguments.cases), arguments.dialect, keep):
            out.write(json_line(result))
            total += 1
    for failure in failures:
        print(error_text(*failure), file=sys.stderr)
    if not total:
        print(
            error_text(
                "there is no case",
                'a case is a line such as {"id": "p1", "schema": {"body": "text"}, "steps": [...]}',
            ),
            file=sys.stderr,
        )
    return OUTSIDE if failures else OK if total else FINDINGS
