"""`cep episodes`: what a desk works on, in the outbox of a job or at its port."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from alerts.episodes.episode import LONGEST_NOTE, STATES, VERDICTS
from cep.cli.arguments import add_format, add_who
from cep.cli.failure import FINDINGS, OK, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api

_DOES = {
    "acknowledge": "say that somebody works on episodes",
    "close": "close episodes with a verdict",
    "reopen": "open episodes again",
}


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "episodes",
        help="what a desk works on: list, acknowledge, close with a verdict",
        description="Alerts of one rule and key that follow one another are an episode; people work on it.",
    )
    parser.set_defaults(usual="cep episodes list --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    said = "open and acknowledged episodes, the worst first"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    listed.add_argument(
        "--state", choices=STATES, action="append", help="those in this state; may be repeated"
    )
    listed.add_argument("--limit", type=int, default=50, metavar="N", help="so many at most (default: 50)")
    for name in ("pack", "rule"):
        listed.add_argument(f"--{name}", metavar="NAME", help=f"those of this {name}")
    show = verbs.add_parser(
        "show", help="an episode and its alerts", description="An episode and its alerts."
    )
    show.add_argument("id", metavar="ID", help="its id, or six digits or more from its beginning")
    for action, said in _DOES.items():
        one = verbs.add_parser(action, help=said, description=f"{said.capitalize()}.")
        one.add_argument(
            "ids", nargs="+", metavar="ID", help="an id, or six digits or more from its beginning"
        )
        if action == "close":
            one.add_argument("--verdict", choices=VERDICTS, required=True, help="what came of it")
        one.add_argument("--note", default="", metavar="TEXT", help="what others should know")
        add_who(one)
    said = "verdicts and precision by rule"
    verbs.add_parser("precision", help=said, description=f"{said.capitalize()}.")
    for one in verbs.choices.values():
        add_target(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    actions: dict[str, Callable[[argparse.Namespace, Api], int]] = {
        "list": _list,
        "show": _show,
        "precision": _precision,
    }
    with api_of(arguments) as api:
        return actions.get(arguments.action, _change)(arguments, api)


def _list(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import table
    from cep.cli.job_api import entries

    wanted = {"state": arguments.state, "pack": arguments.pack, "rule": arguments.rule}
    some = list(entries(api, "episodes", wanted, arguments.limit))
    counts = api.ask("episodes", query={"limit": "1"})["states"]
    if arguments.format == "json":
        print(json.dumps({"episodes": some, "states": counts}))
        return OK
    print(table(some), end="")
    print(", ".join(f"{count:,} {state}" for state, count in counts.items()))
    return OK


def _show(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import page, told_to

    found = api.ask("episode", {"id": arguments.id}, {"limit": "500"})
    if arguments.format == "json":
        print(json.dumps(found, ensure_ascii=False))
    else:
        print(page(found["episode"], found["alerts"], found["more"]), end="")
        print(told_to(found["told"]), end="")
    return OK


def _change(arguments: argparse.Namespace, api: Api) -> int:
    """Change the standing of several episodes: of all of them, or of none."""
    if len(arguments.note) > LONGEST_NOTE:
        raise UsageError(f"a note has {LONGEST_NOTE:,} characters at most", "shorten it")
    body = {"episodes": arguments.ids, "note": arguments.note}
    if arguments.action == "close":
        body["verdict"] = arguments.verdict
    done = api.ask(f"{arguments.action}_episodes", body=body)
    if arguments.format == "json":
        print(json.dumps(done))
        return OK
    for one in done["episodes"]:
        verdict = f", {one['verdict']}" if one["verdict"] else ""
        print(f"{one['id'][:12]} is {one['state']}{verdict}")
    return OK


def _precision(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import precision_table

    found = api.ask("precision")
    if arguments.format == "json":
        print(json.dumps(found))
    elif found["rules"]:
        print(precision_table(found["rules"]), end="")
    else:
        print("no episode has a verdict yet")
    return OK if found["rules"] else FINDINGS
