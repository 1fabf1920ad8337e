"""`cep silences`: what nobody wants to be told of for a while, in the outbox of a job or at its port."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from cep.cli.arguments import add_format, add_who, instant
from cep.cli.failure import OK, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "silences",
        help="what nobody wants to be told of for a while: add, list, expire",
        description="A silence holds alerts back on their way; they are raised all the same.",
    )
    parser.set_defaults(usual="cep silences add 'rule = r' --for '2 hours' --why TEXT --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    add = verbs.add_parser("add", help="begin a silence", description="Begin a silence.")
    add.add_argument(
        "matchers", nargs="+", metavar="MATCHER", help="such as 'severity = low', 'rule =~ card_.*'"
    )
    until = add.add_mutually_exclusive_group(required=True)
    until.add_argument("--for", dest="length", metavar="DURATION", help="how long: 2h, '30 minutes'")
    until.add_argument("--until", type=instant, metavar="TIME", help="when it ends: 2026-01-05T09:00:00Z")
    add.add_argument(
        "--from", dest="start", type=instant, metavar="TIME", help="when it begins (default: now)"
    )
    add.add_argument("--why", required=True, metavar="TEXT", help="why; others read it")
    add_who(add)
    said = "silences that go on or are to begin"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    listed.add_argument("--all", action="store_true", help="those that have ended, too")
    expire = verbs.add_parser("expire", help="take silences back", description="Take silences back.")
    expire.add_argument("ids", nargs="+", metavar="ID", help="as `list` prints it")
    add_who(expire)
    for one in verbs.choices.values():
        add_target(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    actions = {"add": _add, "list": _list, "expire": _expire}
    with api_of(arguments) as api:
        return actions[arguments.action](arguments, api)


def _add(arguments: argparse.Namespace, api: Api) -> int:
    from alerts.notation import timestamp

    if not arguments.why.strip():
        raise UsageError("--why is empty", "say why: others will ask")
    if arguments.length is not None:
        _check_length(arguments.length)
    body = {
        "matchers": arguments.matchers,
        "why": arguments.why,
        "begins": None if arguments.start is None else timestamp(arguments.start),
        "until": None if arguments.until is None else timestamp(arguments.until),
        "length": arguments.length,
    }
    one = api.ask("add_silence", body=body)
    print(json.dumps(one, ensure_ascii=False) if arguments.format == "json" else one["id"])
    return OK


def _check_length(text: str) -> None:
    from rules.instants import parse_duration

    try:
        parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--for: {error}", "write a number and a unit: `30m`, `2 hours`") from error


def _list(arguments: argparse.Namespace, api: Api) -> int:
    found = api.ask("silences", query={"ended": "true" if arguments.all else None})
    if arguments.format == "json":
        print(json.dumps(found))
        return OK
    from cep.cli.episode_text import aligned

    some = found["silences"]
    rows = [("id", "state", "from", "until", "who", "holds", "matchers", "why")] if some else []
    for one in some:
        times = [_second(one[name]) for name in ("begins", "until")]
        said = ", ".join(one["matchers"]) or "every alert"
        rows.append((one["id"], one["state"], *times, one["who"], f"{one['held']:,}", said, one["why"]))
    print(aligned(rows), end="")
    if not some:
        print("nothing is silenced")
    return OK


def _second(text: str) -> str:
    """A moment without what is less than a second."""
    whole, dot, _ = text.partition(".")
    return f"{whole}Z" if dot else text


def _expire(arguments: argparse.Namespace, api: Api) -> int:
    """Take back all of the silences named, or none."""
    done = api.ask("expire_silences", body={"silences": arguments.ids})
    if arguments.format == "json":
        print(json.dumps(done))
    else:
        print("".join(f"{id_} is taken back\n" for id_ in done["expired"]), end="")
    return OK
