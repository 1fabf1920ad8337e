"""`cep check`: what is wrong with packs, without running them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import FINDINGS, OK

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "check",
        help="check rule packs: syntax, types, lints",
        description="Report everything that is wrong with packs: syntax, names, types, lints, and what "
        "cannot run yet. Exit code 1 if there is an error.",
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a rule file, or a folder that holds a pack"
    )
    parser.add_argument("--strict", action="store_true", help="warnings fail, too")


def run(arguments: argparse.Namespace) -> int:
    """Check the packs and print what was found; returns the exit code."""
    from cep.cli.output import counted, diagnostics_json, diagnostics_text, paint
    from cep.cli.packs import load_all
    from rules.diagnostics import has_errors

    loaded = load_all(arguments.paths)
    diagnostics = [d for one in loaded for d in one.diagnostics]
    rules = sum(one.rules for one in loaded)
    errors = sum(d.level == "error" for d in diagnostics)
    warnings = sum(d.level == "warning" for d in diagnostics)
    if arguments.format == "json":
        told = {
            "diagnostics": diagnostics_json(diagnostics),
            "rules": rules,
            "errors": errors,
            "warnings": warnings,
        }
        print(json.dumps(told, ensure_ascii=False))
    else:
        print(diagnostics_text(diagnostics, sys.stdout), end="")
        total = f"{counted(rules, 'rule')}, {counted(errors, 'error')}, {counted(warnings, 'warning')}"
        print(paint(total, "red" if errors else "yellow" if warnings else "green", sys.stdout))
    failed = has_errors(diagnostics) or (arguments.strict and warnings > 0) or rules == 0
    return FINDINGS if failed else OK
