"""`cep check`: what is wrong with packs, without running them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.arguments import FORMATS
from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from rules.diagnostics import Diagnostic


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "check",
        help="check rule packs: syntax, types, lints",
        description="Report everything that is wrong with packs: syntax, names, types, lints; and, as hints, "
        "what cannot run yet. Exit code 1 if there is an error; with --strict also for a warning, and for "
        "what cannot run yet.",
    )
    parser.add_argument(
        "paths", nargs="*", default=[], type=Path, metavar="PATH",
        help="a rule file, or a folder that holds a pack; with --job it may be left out: the job's packs",
    )  # fmt: skip
    parser.add_argument(
        "--job", type=Path, metavar="JOB",
        help="also what a start of this job would tell: of job.toml, its folders, feeds and packs",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true", help="warnings fail, too, and so does what cannot run yet"
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how findings are printed (default: text)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the packs and print what was found; returns the exit code. Raises UsageError."""
    from cep.cli.findings import told
    from cep.cli.found import Findings
    from cep.cli.packs import load_all

    if not arguments.paths and arguments.job is None:
        raise UsageError("which packs are to be checked?", "cep check PATH..., or cep check --job job.toml")
    loaded = load_all(arguments.paths, to_run=arguments.strict)
    of_job: list[Diagnostic] = []
    if arguments.job is not None:
        from cep.cli.job_check import looked_over

        of_job, packs = looked_over(arguments.job, loaded, to_run=arguments.strict)
        loaded = loaded or packs
    found = Findings(
        diagnostics=[*of_job, *(d for one in loaded for d in one.diagnostics)],
        allowed=[a for one in loaded for a in one.allowed],
        files=[name for one in loaded if one.pack is not None for name, _ in one.pack.files],
        rules=sum(len(one.rules) for one in loaded),
        strict=arguments.strict,
    )
    print(told(found, arguments.format), end="")
    return FINDINGS if found.failed else OK
