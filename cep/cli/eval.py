"""`cep eval`: a pack over files, or many small cases, in this process and without a JVM."""

from __future__ import annotations

import argparse
import contextlib
import glob
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cep.cli.arguments import instant
from cep.cli.failure import FINDINGS, OK, OUTSIDE, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.replay import Report
    from cep.matching.trace import Trace
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "eval",
        help="run a pack over files, in this process",
        description="Run a pack over files and write its alerts as JSON lines; or, with --cases, run many "
        "small cases, one JSON object a line, and write one result a line.",
    )
    parser.add_argument("pack", nargs="?", type=Path, metavar="PACK", help="a rule file or folder")
    parser.add_argument(
        "--events", nargs="+", action="extend", default=[], metavar="STREAM=FILE",
        help="the events of a stream: .jsonl, .csv (also .gz, .zst) or .parquet; further files may follow",
    )  # fmt: skip
    parser.add_argument("--cases", metavar="FILE", help="run the cases of a file of JSON lines; -: stdin")
    parser.add_argument("--output", metavar="FILE", help="where the JSON lines go; -: stdout")
    parser.add_argument(
        "--watermark", type=instant, metavar="TIME", help="where the watermark stands at the end"
    )
    parser.add_argument("--drain", action="store_true", help="at the end, settle everything still open")
    parser.add_argument(
        "--engine", choices=("compiled", "reference"), default="compiled", help="default: compiled"
    )
    parser.add_argument(
        "--trace", metavar="FILE",
        help="where to tell how each run began, moved and ended: text, or JSON lines with --format json",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and write the alerts; returns the exit code. Raises UsageError, DiagnosticsError."""
    if arguments.cases is not None:
        if (
            arguments.pack is not None
            or arguments.events
            or arguments.watermark is not None
            or arguments.drain
            or arguments.trace is not None
        ):
            raise UsageError(
                "--cases takes no pack, events, watermark, drain or trace", "a case holds its own"
            )
        return _run_cases(arguments)
    if arguments.pack is None or not arguments.events:
        raise UsageError(
            "a pack and its events are needed", "cep eval PACK --events STREAM=FILE --output FILE"
        )
    if arguments.output is None:
        raise UsageError("--output is missing", "name a file, or - for stdout")
    if arguments.drain and arguments.watermark is not None:
        raise UsageError("--drain and --watermark exclude one another", "leave one of them out")
    if arguments.trace is not None and arguments.engine == "reference":
        raise UsageError("--trace tells what the compiled engine does", "leave --engine reference out")
    if arguments.trace == "-" and arguments.output == "-":
        raise UsageError("--trace and --output cannot both go to stdout", "name a file for one of them")
    return _run_files(arguments)


def _run_files(arguments: argparse.Namespace) -> int:
    from cep.cli.output import diagnostics_json, diagnostics_text, error_text
    from cep.cli.packs import load_one, runnable

    checked = load_one(arguments.pack)
    pack = runnable(checked)
    if pack is None:
        errors = [d for d in checked.diagnostics if d.level == "error"]
        if arguments.format == "json":
            print(json.dumps({"diagnostics": diagnostics_json(errors)}, ensure_ascii=False), file=sys.stderr)
        else:
            print(diagnostics_text(errors, sys.stderr), end="", file=sys.stderr)
        return FINDINGS
    if arguments.format == "text":
        print(diagnostics_text(checked.of_queries, sys.stderr), end="", file=sys.stderr)
    files = _files(pack, arguments.events)

    from cep.cli.engines import engine
    from cep.cli.replay import Report, replay

    report = Report()
    trace = _trace(arguments)
    with output_file(arguments.output) as out:
        running = engine(arguments.engine, pack, one_partition=False, trace=trace)
        for alert in replay(pack, running, files, arguments.watermark, arguments.drain, report):
            out.write(alert.body.encode("utf-8", "backslashreplace") + b"\n")
    if trace is not None:
        with output_file(arguments.trace) as out:
            out.writelines(_told(trace, arguments.format))
    _tell(report, arguments.format)
    if not report.events:
        print(
            error_text("there is not one event in the files", "name others, or look at these"),
            file=sys.stderr,
        )
    return OK if pack.rules and report.events else FINDINGS


def _trace(arguments: argparse.Namespace) -> Trace | None:
    if arguments.trace is None:
        return None
    from cep.matching.trace import Trace

    return Trace()


def _told(trace: Trace, form: str) -> Iterator[bytes]:
    """The lines of a trace: what happened, then what still waits."""
    from cep.cli.trace_text import as_json, lines

    records = [*trace.records, *trace.waiting()]
    texts = (
        (json.dumps(as_json(record), ensure_ascii=False) for record in records)
        if form == "json"
        else lines(records)
    )
    for text in texts:
        yield text.encode("utf-8", "backslashreplace") + b"\n"


def _files(pack: Pack, given: Sequence[str]) -> dict[str, list[str]]:
    """The files of each stream, in the order given; a name that fits several files stands for all of them."""
    streams = [stream.name for stream in pack.fed]
    found: dict[str, list[str]] = {}
    stream: str | None = None
    for word in given:
        name, equals, path = word.partition("=")
        if equals and (name in streams or not Path(word).exists()):
            stream, word = name, path
        if stream is None:
            raise UsageError(f"--events {word}: whose events are these?", f"write {streams[0]}={word}")
        if stream not in streams:
            raise UsageError(f"the pack has no stream `{stream}`", "its streams are " + ", ".join(streams))
        found.setdefault(stream, []).extend(_matching(word))
    return found


def _matching(pattern: str) -> list[str]:
    """The files that a name stands for. Raises DiagnosticsError if one cannot be read."""
    from cep.feeds import check_file
    from rules.diagnostics import DiagnosticsError

    files = [pattern]
    if not Path(pattern).exists():
        # pathlib's would need the folder and the pattern apart
        found = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)))  # noqa: PTH207
        files = found or files
    problems = [problem for file in files for problem in check_file(file)]
    if problems:
        raise DiagnosticsError(problems)
    return files


@contextlib.contextmanager
def output_file(name: str | None) -> Iterator[IO[bytes]]:
    """Where the lines go. A file appears under its name when it is complete."""
    if name is None or name == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"--output {name} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder `{path.parent}` for --output", "make it first")
    if path.exists() and not path.is_file():  # a pipe or a device
        with path.open("wb") as out:
            yield out
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _tell(report: Report, form: str) -> None:
    if form == "json":
        print(json.dumps(report.as_dict(), ensure_ascii=False), file=sys.stderr)
        return
    for line in report.lines():
        print(line, file=sys.stderr)


def _run_cases(arguments: argparse.Namespace) -> int:
    from cep.cli.cases import run_cases
    from cep.cli.evaluation import evaluated, prepared
    from cep.cli.output import error_text
    from cep.cli.report import unforeseen

    failures: list[tuple[str, str]] = []

    def keep(error: Exception) -> str:
        what, where = unforeseen(error, ["eval", "--cases", arguments.cases])
        failures.append((what, where))
        return what

    name = arguments.engine
    source = contextlib.nullcontext(sys.stdin.buffer) if arguments.cases == "-" else _opened(arguments.cases)
    folder = Path() if arguments.cases == "-" else Path(arguments.cases).parent
    total = 0
    with source as lines, output_file(arguments.output) as out:
        for result in run_cases(lines, prepared(name, folder), evaluated(name), keep):
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
            out.write(text.encode("utf-8", "backslashreplace") + b"\n")
            total += 1
    for failure in failures:
        print(error_text(*failure), file=sys.stderr)
    if not total:
        print(
            error_text(
                "there is no case",
                'a case is a line such as {"id": "c1", "rules": "pack ...", "events": [...]}',
            ),
            file=sys.stderr,
        )
    return OUTSIDE if failures else OK if total else FINDINGS


def _opened(name: str) -> IO[bytes]:
    try:
        return Path(name).open("rb")
    except FileNotFoundError:
        raise UsageError(f"there is no file `{name}`", "correct the path") from None
    except OSError as error:
        from cep.cli.report import remedy

        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"`{name}` cannot be read: {reason}", remedy(error)) from error
