"""`cep test`: runs the test blocks of packs through the functions that the job runs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from rules.testing import Engine, Result
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "test",
        help="run the test blocks of rule packs",
        description="Run the test blocks of packs, in this process. Exit code 1 if any fails, or if there "
        "is none.",
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a rule file, or a folder that holds a pack"
    )
    parser.add_argument(
        "--run",
        metavar="REGEX",
        help='only tests whose rules and title, as in `a, b "title"`, it is found in',
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the tests and print how each went; returns the exit code. Raises UsageError."""
    from alerts.notation import json_value
    from cep.cli.output import diagnostics_json, diagnostics_text, paint
    from cep.cli.packs import load_all, runnable
    from rules.diagnostics import has_errors
    from rules.testing import result_json, result_text, run_test, selected

    wanted = _expression(arguments.run)
    loaded = load_all(arguments.paths)
    diagnostics = [d for one in loaded for d in one.diagnostics if d.level == "error"]
    results: list[Result] = []
    as_json = arguments.format == "json"
    if not as_json:
        print(diagnostics_text(diagnostics, sys.stderr), end="", file=sys.stderr)
    for pack in filter(None, map(runnable, loaded)):
        chosen = selected(pack, wanted)
        engine = engine_of(pack) if chosen else None
        for test in chosen:
            assert engine is not None
            result = run_test(pack, test, engine, json_value)
            results.append(result)
            if not as_json:
                text = result_text(result, json_value)
                print(text if result.passed else paint(text, "red", sys.stdout), flush=True)
    passed = sum(result.passed for result in results)
    failed = len(results) - passed
    if as_json:
        told = {
            "tests": [result_json(result, json_value) for result in results],
            "passed": passed,
            "failed": failed,
            "diagnostics": diagnostics_json(diagnostics),
        }
        print(json.dumps(told, ensure_ascii=False))
    else:
        if not results and not diagnostics:
            print(_nothing(arguments.run), file=sys.stderr)
        total = f"{passed:,} passed, {failed:,} failed"
        print(paint(total, "green" if passed and not failed else "red", sys.stdout))
    return OK if passed and not failed and not has_errors(diagnostics) else FINDINGS


def _expression(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise UsageError(f"--run {text!r} is no regular expression: {error}") from error


def _nothing(wanted: str | None) -> str:
    return "there is no test" if wanted is None else f"no test fits --run {wanted!r}"


def engine_of(pack: Pack) -> Engine:
    """Runs a timeline through the engine of the job, suppression applied, nothing drained."""
    from alerts.suppress import Memory, withhold
    from cep.automata.plan import compile_plan
    from cep.cli.engines import Compiled
    from cep.cli.rows import typed_events
    from rules.testing import Moment, RefusedError, Seen

    plan = compile_plan([pack])

    def run_timeline(moments: Sequence[Moment]) -> list[Seen]:
        running = Compiled(plan, one_partition=True)
        memory = Memory()
        seen: list[Seen] = []
        number = 0
        for moment in moments:
            events, refused = typed_events(pack, moment.arrivals, number)
            for letter in refused:
                arrival = moment.arrivals[letter.offset - number]
                raise RefusedError(f"the event of line {arrival.given.span.line}: {letter.reason}")
            number += len(moment.arrivals)
            kept, _, memory = withhold(running.feed(events, moment.watermark), memory)
            seen.extend(Seen(one.time, json.loads(one.body)) for one in kept)
        return seen

    return run_timeline
