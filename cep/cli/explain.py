"""`cep explain CODE|RULE|FUNCTION`: the page of a code, a function, or what a rule comes to when it runs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from rules.typed import Pack, Rule

_CODE = re.compile(r"(?:cep|pq)[ _-]?\d*|\d+", re.IGNORECASE)
_WIDTH = 100
"""Cells of a line, where the terminal has more."""


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "explain",
        help="what a diagnostic means; how a rule runs",
        description="Print the page of a code, such as CEP0207: an example, why, and what to do; or what a "
        "function takes and gives. `functions` and `codes` list all of them. Or tell of a rule its pattern, "
        "automaton, key and bounds, where its conditions are evaluated, and what it keeps.",
    )
    parser.set_defaults(usual="cep explain CEP0207, cep explain avg, or of a rule: cep explain RULE PATH")
    parser.add_argument(
        "subject",
        metavar="CODE|FUNCTION|RULE",
        help="the code in brackets of a message, a function, `functions`, `codes`, or a rule; a rule that is "
        "called like a function needs its PATH",
    )
    parser.add_argument(
        "paths",
        nargs="*",
        default=[],  # so that argparse does not ask for a path where only the subject is missing
        type=Path,
        metavar="PATH",
        help="where the rule is: a rule file, or a folder that holds packs (default: this folder)",
    )
    parser.add_argument(
        "--graph", choices=("dot", "mermaid"), help="only the rule's automaton, for Graphviz or Mermaid"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the page or the explanation; returns the exit code. Raises UsageError."""
    if _CODE.fullmatch(arguments.subject.strip("[]")) and not arguments.paths:
        _explain_code(arguments.subject, arguments.format)
        return OK
    if not arguments.paths and arguments.graph is None:
        from cep.cli.words import told

        text = told(arguments.subject, arguments.format)
        if text is not None:
            print(text, end="")
            return OK
    return _explain_rule(arguments.subject, arguments.paths, arguments.graph, arguments.format)


def _explain_rule(name: str, paths: Sequence[Path], drawing: str | None, form: str) -> int:
    from cep.cli.output import diagnostics_text
    from cep.cli.packs import load_all
    from cep.cli.words import subjects
    from rules.called_elsewhere import called_here
    from rules.suggest import did_you_mean

    if Path(name).is_file():
        raise _which(Path(name), paths)
    loaded = load_all(paths or [Path()], to_run=False)
    found = [(one.pack, rule) for one in loaded if one.pack is not None for rule in one.pack.rules]
    wanted = [(pack, rule) for pack, rule in found if rule.name == name]
    if len(wanted) > 1:
        packs = ", ".join(f"`{pack.name}`" for pack, _ in wanted)
        raise UsageError(f"packs {packs} all have a rule `{name}`", "name the path of one of them")
    if wanted:
        print(_told(*wanted[0], drawing, form), end="")
        return OK
    broken = [one for one in loaded if one.pack is None]
    errors = [d for one in broken if name in one.rules for d in one.diagnostics if d.level == "error"]
    if errors:
        print(diagnostics_text(errors, sys.stderr), end="", file=sys.stderr)
        return FINDINGS
    where = " or ".join(f"`{path}`" for path in paths) or "this folder"
    known = [rule for one in loaded for rule in one.rules]
    help_ = did_you_mean(name, known) or called_here(name)
    if not help_ and broken:
        help_ = "it may be in what cannot be read there: `cep check` shows the errors"
    help_ = help_ or did_you_mean(name, subjects()) or "rules stand in *.rules files: name their path"
    raise UsageError(f"there is no rule `{name}` in {where}", help_)


def _which(file: Path, others: Sequence[Path]) -> UsageError:
    """The error for a file where a rule is to stand."""
    from cep.packs.read import checked_in

    names = [rule for one in checked_in(file, to_run=False) for rule in one.rules]
    meant = next((str(other) for other in others if str(other) in names), names[0] if names else "RULE")
    there = f"; its rules are {', '.join(names)}" if names else ""
    return UsageError(f"`{file}` is a file: which rule?", f"cep explain {meant} {file}{there}")


def _told(pack: Pack, rule: Rule, drawing: str | None, form: str) -> str:
    from cep.explanation.automaton_graph import dot, graph, mermaid
    from cep.explanation.explanation_text import as_dict, text
    from cep.explanation.rule_facts import facts
    from rules.typed import Match, On, Over

    found = facts(pack, rule)
    why = help_ = ""
    match rule.body:
        case Match() as body:
            drawn = None if found.tables is None else graph(found.tables.automaton, body)
        case On():
            drawn, why = None, "it takes events one by one"
        case Over():
            drawn, why = None, "it compares windows of events"
        case _:
            assert_never(rule.body)
    if drawing is not None:
        if drawn is None:
            if found.refused:
                why, help_ = found.refused[0].message, found.refused[0].help
            raise UsageError(
                f"rule `{rule.name}` has no automaton: {why}",
                help_ or "leave --graph out to read how it runs",
            )
        return dot(drawn, rule.name) if drawing == "dot" else mermaid(drawn, rule.name)
    if form == "json":
        return json.dumps(as_dict(found, drawn), ensure_ascii=False) + "\n"
    return text(found, drawn)


def _explain_code(written: str, form: str) -> None:
    from cep.cli.output import paint, terminal_width
    from cep.explanation.pages import address, page, titles

    code = re.sub(r"[ _\[\]-]", "", written).upper()
    if code not in titles():
        raise UsageError(f"there is no code `{written}`", _meant(code))
    if form == "json":
        told = {"code": code, "title": titles()[code], "page": page(code), "address": address(code)}
        print(json.dumps(told, ensure_ascii=False))
        return
    from cep.cli.markdown import text_of

    width = min(terminal_width(sys.stdout) or _WIDTH, _WIDTH)
    print(text_of(page(code), lambda text, colour: paint(text, colour, sys.stdout), width), end="")


def _meant(code: str) -> str:
    """The help: the nearest code, with its title."""
    from cep.explanation.pages import titles
    from rules.suggest import closest

    if code.isdigit():
        # A code without its letters is that of a rule, before it is that of a query.
        whole = [each for each in (f"CEP{code:0>4}", f"PQ{code:0>2}") if each in titles()]
        code = whole[0] if whole else f"CEP{code:0>4}"
    near = closest(code, titles()) if code[-1:].isdigit() else None
    if near is None:
        return "codes are such as CEP0207 and PQ05, in brackets in a message; `cep explain codes` lists them"
    return f"did you mean `{near}`: {titles()[near]}?"
