"""`cep deadletters`: what became no event, in the outbox of a job or at its port."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from typing import TYPE_CHECKING

from cep.cli.arguments import add_format
from cep.cli.failure import OK
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "deadletters",
        help="what became no event: list, show",
        description="Bytes of feeds that became no event, with their place and what is wrong with them.",
    )
    parser.set_defaults(usual="cep deadletters list --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    said = "dead letters, the newest first"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    listed.add_argument("--feed", metavar="STREAM", help="those of this feed")
    listed.add_argument("--limit", type=int, default=50, metavar="N", help="so many at most (default: 50)")
    said = "one of them, with all of its bytes"
    show = verbs.add_parser("show", help=said, description=f"{said.capitalize()}.")
    show.add_argument("number", metavar="NUMBER", help="as `list` prints it")
    show.add_argument("--raw", action="store_true", help="the bytes alone, as they came")
    for one in verbs.choices.values():
        add_target(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    with api_of(arguments) as api:
        return _list(arguments, api) if arguments.action == "list" else _show(arguments, api)


def _list(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import aligned
    from cep.cli.job_api import pages

    some = list(pages(api, "deadletters", "dead_letters", {"feed": arguments.feed}, arguments.limit))
    if arguments.format == "json":
        print(json.dumps({"dead_letters": some}))
        return OK
    rows = [("number", "feed", "stage", "place", "bytes", "reason")] if some else []
    for one in some:
        place = f"{one['file']}:{one['offset']}"
        rows.append((str(one["number"]), one["feed"], one["stage"], place, f"{one['size']:,}", one["reason"]))
    print(aligned(rows), end="")
    if not some:
        print("there are no dead letters")
    return OK


def _show(arguments: argparse.Namespace, api: Api) -> int:
    from alerts.shown import shown, shown_lines

    one = api.ask("deadletter", {"number": arguments.number})
    if arguments.raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(base64.b64decode(one["base64"]))
        return OK
    if arguments.format == "json":
        print(json.dumps(one))
        return OK
    print(shown(f"dead letter {one['number']} of feed {one['feed']}, batch {one['batch']}"))
    print(shown(f"{one['file']}, offset {one['offset']}, stage {one['stage']}, bytes: {one['size']:,}"))
    print(shown(one["reason"]))
    if one["text"]:
        print(shown_lines(one["text"].rstrip("\n")))
    return OK
