"""`cep test`: runs the test blocks of packs through the functions that the job runs."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.test_results import Ran, RanTests
    from cep.packs.read import Checked
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "test",
        help="run the test blocks of rule packs",
        description="Run the test blocks of packs, in this process. Exit code 1 if any fails, or if there "
        "is none.",
    )
    parser.set_defaults(
        elsewhere={
            **dict.fromkeys(("-k", "--filter", "--only", "--rule"), "tests are chosen by --run REGEX"),
            **dict.fromkeys(("-v", "--verbose"), "leave it out: a test that fails tells all"),
            "--cov": "write --coverage",
        }
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH",
        help="a rule file, or a folder that holds a pack; with --job they may be left out: the job's packs",
    )  # fmt: skip
    parser.add_argument(
        "--job", type=Path, metavar="JOB", help="look, too, whether the packs fit the feeds of this job.toml"
    )
    parser.add_argument(
        "--run",
        metavar="REGEX",
        help='only tests whose rules and title, as in `a, b "title"`, it is found in',
    )
    parser.add_argument("--coverage", action="store_true", help="tell what the tests did not try")
    parser.add_argument(
        "--coverage-min",
        type=_share,
        metavar="PERCENT",
        help="fail if less of a pack is covered; implies --coverage",
    )
    parser.add_argument(
        "--format",
        choices=("text", "json", "junit"),
        default="text",
        help="how results are printed (default: text)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the tests and print how each went; returns the exit code. Raises UsageError, DiagnosticsError."""
    from cep.cli.output import diagnostics_text
    from cep.cli.packs import load_all
    from cep.cli.test_results import RanTests, print_at_end, print_at_once, print_before
    from cep.packs.read import runnable
    from rules.testing import label

    _not_a_test(arguments.paths)
    wanted = _expression(arguments.run)
    if arguments.job is not None:
        loaded = _of_job(arguments)
    elif arguments.paths:
        loaded = load_all(arguments.paths)
    else:
        raise UsageError("which packs are to be tested?", "cep test PATH..., or cep test --job job.toml")
    packs = [pack for one in loaded if (pack := runnable(one)) is not None]
    results = RanTests(
        diagnostics=[d for one in loaded for d in one.diagnostics if d.level == "error"],
        wanted=arguments.run,
        least=arguments.coverage_min,
        labels=[label(test) for pack in packs for test in pack.tests],
    )
    if arguments.format == "text":
        warnings = [d for one in loaded for d in one.of_queries if d.level != "error"]
        print(diagnostics_text(warnings, sys.stderr), end="", file=sys.stderr)
    print_before(results, arguments.format)
    for pack in packs:
        covering = arguments.coverage or arguments.coverage_min is not None
        _run_pack(pack, wanted, covering, results, lambda ran: print_at_once(ran, arguments.format))
    print_at_end(results, arguments.format)
    return FINDINGS if results.failed else OK


def _not_a_test(paths: Sequence[Path]) -> None:
    """Raise UsageError for a word behind a path that names no path: the rule or title of a test, it seems."""
    for path in paths[1:]:
        if not path.exists() and not path.suffix and len(path.parts) == 1:
            raise UsageError(
                f"there is no file or folder `{path}`",
                f"tests are chosen by their rule or title: --run {shlex.quote(str(path))}",
            )


def _of_job(arguments: argparse.Namespace) -> list[Checked]:
    """The packs of the paths, or else of the job, which fit the job. Raises UsageError, DiagnosticsError."""
    from cep.cli.feeding import job_of, misfits, tell
    from cep.cli.packs import load_all, load_of
    from cep.packs.read import runnable
    from rules.diagnostics import DiagnosticsError, has_errors

    job, told = job_of(arguments.job)
    assert job is not None
    loaded = load_all(arguments.paths) if arguments.paths else load_of(job)
    packs = [pack for one in loaded if (pack := runnable(one)) is not None]
    # Of packs with errors nobody knows what they read.
    found = misfits(job, packs, not arguments.paths) if len(packs) == len(loaded) else []
    if has_errors(found):
        raise DiagnosticsError([*told, *found])
    if arguments.format == "text":
        tell([*told, *found])
    return loaded


def _run_pack(
    pack: Pack,
    wanted: re.Pattern[str] | None,
    covering: bool,
    results: RanTests,
    tell: Callable[[Ran], None],
) -> None:
    """Run the chosen tests of a pack; a test that failed once more, to see what happened."""
    from alerts.notation import json_value
    from cep.cli.test_results import Ran
    from cep.inprocess.timelines import engine_of, observer_of
    from rules.testing import Coverage, run_test, selected

    chosen = selected(pack, wanted)
    if not chosen:
        return
    engine, observe, coverage = engine_of(pack), observer_of(pack), Coverage(pack)
    for test in chosen:
        begun = perf_counter()
        result = run_test(pack, test, engine, json_value)
        story = observe(result.timeline.moments, test.rules) if covering or not result.passed else None
        ran = Ran(result, story, perf_counter() - begun)
        results.ran.append(ran)
        tell(ran)
        if story is not None:
            coverage.add(result, story)
    if covering:
        results.coverage.append((pack, coverage.rules()))


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage from 0 to 100")
    return share


def _expression(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        help_ = f"where letters are meant as they stand: --run {shlex.quote(re.escape(text or ''))}"
        raise UsageError(f"--run {text!r} is no regular expression: {error}", help_) from error
