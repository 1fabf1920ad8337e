"""`cep eval`: a pack over files, or many small cases, in this process and without a JVM."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from alerts.shown import shown_lines
from cep.cli.arguments import clock, instant
from cep.cli.failure import FINDINGS, OK, OUTSIDE, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.config import Job
    from cep.inprocess.report import Report
    from cep.inprocess.sources import Input
    from cep.packs.read import Checked
    from rules.diagnostics import Diagnostic
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "eval",
        help="run a pack over files, in this process",
        description="Run a pack over files and write its alerts as JSON lines; or, with --cases, run many "
        "small cases, one JSON object a line, and write one result a line.",
    )
    parser.set_defaults(stray="events belong to a stream: --events STREAM={}")
    parser.add_argument(
        "pack", nargs="?", type=Path, metavar="PACK",
        help="a rule file or folder; with --job it may be left out: the job's packs",
    )  # fmt: skip
    parser.add_argument(
        "--events", nargs="+", action="extend", default=[], metavar="STREAM=FILE",
        help="the events of a stream: .jsonl, .csv (also .gz, .zst) or .parquet; further files may follow; "
        "or a topic, kafka://HOST:PORT/TOPIC",
    )  # fmt: skip
    parser.add_argument(
        "--job", type=Path, metavar="JOB", help="read the feeds as this job.toml says, and run its packs"
    )
    parser.add_argument(
        "--feed", action="append", default=[], metavar="STREAM='KEY=VALUE, ...'",
        help="how a stream's files are written, as [feeds.STREAM] of a job.toml says it: "
        """payment='timestamps="epoch_ms", delimiter=";"'""",
    )  # fmt: skip
    parser.add_argument("--cases", metavar="FILE", help="run the cases of a file of JSON lines; -: stdin")
    parser.add_argument("--output", metavar="FILE", help="where the JSON lines go; -: stdout")
    parser.add_argument(
        "--watermark", type=instant, metavar="TIME", help="where the watermark stands at the end"
    )
    parser.add_argument("--drain", action="store_true", help="at the end, settle everything still open")
    parser.add_argument(
        "--clock", type=clock, metavar="TIME",
        help="refuse events further ahead of TIME, or of now, than their stream's `future`, as a job does",
    )  # fmt: skip
    parser.add_argument(
        "--engine", choices=("compiled", "reference"), default="compiled", help="default: compiled"
    )
    parser.add_argument(
        "--trace", action="append", default=[], metavar="FILE|rule=NAME,key=VALUE",
        help="tell how runs began, moved and ended, in a FILE or to=FILE (-: stdout), as text, or JSON lines "
        "with --format json; of a rule, a key (key.FIELD=VALUE), a run (run=NUMBER); most=NUMBER or most=all",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true",
        help="fail where alerts may be missing: runs over a limit, alternatives given up, results that "
        "overflowed, queries undecided",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Evaluate, and write the alerts; returns the exit code. Raises UsageError, DiagnosticsError."""
    if arguments.cases is not None:
        names = ("pack", "events", "job", "feed", "watermark", "drain", "clock", "trace", "strict")
        if any(getattr(arguments, name) not in (None, False, []) for name in names):
            raise UsageError(
                "--cases takes no pack, events, job, feed, watermark, drain, clock, trace or strict",
                "a case holds its own",
            )
        return _run_cases(arguments)
    if arguments.job is None and (arguments.pack is None or not (arguments.events or arguments.feed)):
        raise UsageError(
            "a pack and its events are needed",
            "cep eval PACK --events STREAM=FILE --output FILE, or cep eval --job job.toml --output FILE",
        )
    if arguments.output is None and not arguments.trace:
        raise UsageError("--output is missing", "name a file, or - for stdout")
    if arguments.drain and arguments.watermark is not None:
        raise UsageError("--drain and --watermark exclude one another", "leave one of them out")
    if arguments.trace and arguments.engine == "reference":
        raise UsageError("--trace tells what the compiled engine does", "leave --engine reference out")
    if arguments.strict and arguments.engine == "reference":
        raise UsageError(
            "--strict looks at what the compiled engine gives up", "leave --engine reference out"
        )
    return _run_files(arguments)


def _run_files(arguments: argparse.Namespace) -> int:
    from cep.cli.feeding import Feeding, job_of, tell
    from cep.cli.output import error_text

    wanted = None
    if arguments.trace:
        from cep.cli.trace_option import asked

        wanted = asked(arguments.trace)
        if wanted.file == arguments.output:
            raise UsageError(
                "--trace and --output cannot both go there", "name another file: --trace to=FILE"
            )
    job, told = job_of(arguments.job)
    checked = _checked(arguments.pack, job)
    errors = [d for one in checked for d in one.diagnostics if d.level == "error"]
    if errors:
        _refuse(errors, arguments.format)
        return FINDINGS
    # Of one name and in this order they are in a job.
    packs = [pack for _, pack in sorted({one.pack.name: one.pack for one in checked if one.pack}.items())]
    if arguments.engine == "reference" and len(packs) > 1:
        raise UsageError("the reference engine runs one pack", f"name one of those in {arguments.job}")
    feeding = Feeding(packs, job, arguments.pack is None, arguments.feed, arguments.events)
    inputs = feeding.inputs()
    warnings = [*told, *(d for one in checked for d in one.of_queries), *feeding.told]
    if arguments.format == "text":
        tell(warnings)

    from cep.cli.progress import on_terminal, shown
    from cep.inprocess.engines import engine
    from cep.inprocess.replay import in_batches, in_step, replay, streams_read
    from cep.inprocess.report import Report

    read = _read(arguments, inputs, packs, job)
    report = Report()
    taken = in_step if job is None else in_batches
    reading = taken(inputs, streams_read(packs), report, arguments.clock)
    busy = arguments.format == "json" or on_terminal(arguments.output)
    with contextlib.ExitStack() as stack:
        running = engine(arguments.engine, packs, one_partition=False)
        if arguments.engine == "reference":
            stack.enter_context(_patience())
        tracing = None
        if wanted is not None:
            from cep.cli.tracing import Tracing

            tracing = Tracing.of(wanted, packs, running)
            running = tracing.engine
            trace_file = stack.enter_context(output_file(wanted.file, read, "--trace"))
        out = None if arguments.output is None else stack.enter_context(output_file(arguments.output, read))
        with shown(report.progress(_size(inputs)), busy):
            for raised in replay(packs, reading, running, arguments.watermark, arguments.drain, report):
                if out is not None:
                    out.writelines(raised.lines())
        if tracing is not None:
            trace_file.writelines(tracing.written(arguments.format))
    _tell(report, warnings, arguments.format)
    if not report.events:
        print(
            error_text("there is not one event in the files", "name others, or look at these"),
            file=sys.stderr,
        )
    if tracing is not None:
        for line in tracing.told(arguments.format):
            print(line, file=sys.stderr)
        if tracing.empty:
            return FINDINGS
    complete = any(pack.rules for pack in packs) and not (arguments.strict and report.losses())
    return OK if complete and report.events else FINDINGS


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Turns what is too much for the reference engine into a UsageError."""
    from cep.reference import TooManyAlternativesError

    try:
        yield
    except TooManyAlternativesError as error:
        raise UsageError(
            f"the runs of rule `{error}` have more alternatives than the reference engine can try",
            "give it fewer events, or leave --engine reference out",
        ) from error


def _checked(path: Path | None, job: Job | None) -> list[Checked]:
    """The pack of the path, or those of the job."""
    from cep.cli.packs import load_of, load_one

    if path is not None:
        return [load_one(path)]
    assert job is not None
    return load_of(job)


def _refuse(errors: Sequence[Diagnostic], form: str) -> None:
    from cep.cli.output import diagnostics_json, diagnostics_text

    if form == "json":
        print(json.dumps({"diagnostics": diagnostics_json(errors)}, ensure_ascii=False), file=sys.stderr)
    else:
        print(diagnostics_text(errors, sys.stderr), end="", file=sys.stderr)


def _read(
    arguments: argparse.Namespace, inputs: Sequence[Input], packs: Sequence[Pack], job: Job | None
) -> list[str | Path]:
    """The files of events, of packs and of their queries, and the job file."""
    found: list[str | Path] = [extent.path for one in inputs for extent in one.extents]
    for pack in packs:
        found += [name for name, _ in pack.files] + [queries.path for queries in pack.queries]
    return found if job is None else [*found, arguments.job]


def _size(inputs: Sequence[Input]) -> int:
    """Bytes of all events."""
    return sum(extent.length for one in inputs for extent in one.extents)


@contextlib.contextmanager
def output_file(
    name: str | None, read: Iterable[str | Path], option: str = "--output"
) -> Iterator[IO[bytes]]:
    """The stream for the lines: stdout, or a file, which appears under its name once it is complete.

    Raises UsageError where it cannot be there, or is one of those that are `read` (`-`: stdin).
    """
    if name is None or name == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{option} {name} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder `{path.parent}` for {option}", "make it first")
    if path.exists() and not path.is_file():  # a pipe or a device
        with path.open("wb") as out:
            yield out
        return
    if path.exists() and any(one != "-" and Path(one).exists() and path.samefile(one) for one in read):
        raise UsageError(f"{option} {name} would take the place of what is read", "name another file")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as out:
            yield out
        part.replace(path)
    except OSError as problem:
        if problem.filename == str(part) or problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise OSError(problem.errno, problem.strerror, name) from problem
        raise
    finally:
        part.unlink(missing_ok=True)


def _tell(report: Report, warnings: Sequence[Diagnostic], form: str) -> None:
    if form == "json":
        from cep.cli.output import diagnostics_json

        content = {**report.as_dict(), "diagnostics": diagnostics_json(warnings)}
        print(json.dumps(content, ensure_ascii=False), file=sys.stderr)
        return
    for line in report.lines():
        print(shown_lines(line), file=sys.stderr)


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
    with source as lines, output_file(arguments.output, [arguments.cases]) as out:
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
        from cep.cli.named_paths import absent

        raise absent(Path(name)) from None
    except OSError as error:
        from cep.cli.report import remedy

        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"`{name}` cannot be read: {reason}", remedy(error)) from error
