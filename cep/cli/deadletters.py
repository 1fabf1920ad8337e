"""`cep deadletters`: what became no event, in the outbox of a job or at its port."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.cli.arguments import add_format, add_who
from cep.cli.failure import OK, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "deadletters",
        help="what became no event: list, show, replay",
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
    said = "have the job's next batches read some again"
    again = verbs.add_parser("replay", help=said, description=f"{said.capitalize()}.")
    again.add_argument("numbers", nargs="*", metavar="NUMBER", help="as `list` prints it")
    again.add_argument("--feed", metavar="STREAM", help="all of this feed that can be read again")
    again.add_argument("--all", action="store_true", help="all of all feeds that can be read again")
    again.add_argument(
        "--with",
        dest="file",
        type=Path,
        metavar="FILE",
        help="the record that takes the place of one's bytes",
    )
    again.add_argument("--dry-run", action="store_true", help="say how many, and do nothing")
    add_who(again)
    for one in verbs.choices.values():
        add_target(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    actions = {"list": _list, "show": _show, "replay": _replay}
    with api_of(arguments) as api:
        return actions[arguments.action](arguments, api)


def _list(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import aligned
    from cep.cli.job_api import pages

    some = list(pages(api, "deadletters", "dead_letters", {"feed": arguments.feed}, arguments.limit))
    if arguments.format == "json":
        print(json.dumps({"dead_letters": some}))
        return OK
    rows = [("number", "feed", "stage", "place", "bytes", "replay", "reason")] if some else []
    for one in some:
        place = f"{one['file']}:{one['offset']}"
        state = one["replay"]["state"] if one["replay"] else "-"
        size = f"{one['size']:,}"
        rows.append((str(one["number"]), one["feed"], one["stage"], place, size, state, one["reason"]))
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
    if one["forebear"] is not None:
        print(f"it was dead letter {one['forebear']} before that was read again")
    if one["replay"] is not None:
        print(shown(_replay_told(one["replay"])))
    if one["text"]:
        print(shown_lines(one["text"].rstrip("\n")))
    return OK


def _replay_told(replay: dict[str, Any]) -> str:
    mended = ", mended" if replay["mended"] else ""
    asked = f"{replay['who']} had it read again{mended}, {replay['at']}"
    came = {
        "waits": "it waits for a batch",
        "event": f"batch {replay['batch']} made an event of it",
        "late": f"in batch {replay['batch']} it was an event that came too late",
        "refused": f"batch {replay['batch']} refused it again: it is dead letter {replay['successor']} now",
    }
    return f"{asked}: {came[replay['state']]}"


def _replay(arguments: argparse.Namespace, api: Api) -> int:
    from rules.nouns import counted

    numbers, feed = arguments.numbers, arguments.feed
    if [bool(numbers), feed is not None, arguments.all].count(True) != 1:
        raise UsageError("say which dead letters", "give their numbers, or --feed STREAM, or --all")
    if wrong := [text for text in numbers if not text.isdecimal()]:
        raise UsageError(f"`{wrong[0]}` is no number of a dead letter", "`cep deadletters list` has them")
    body = {
        "numbers": [int(text) for text in numbers] or None,
        "feed": feed,
        "all": arguments.all,
        "data": None if arguments.file is None else _mended(arguments.file),
        "dry_run": arguments.dry_run,
    }
    found = api.ask("replay_deadletters", body=body)
    if arguments.format == "json":
        print(json.dumps(found))
        return OK
    what = "can be read again" if found["dry_run"] else "the next batches read again"
    print(f"{what}: {found['replayed']:,} of {counted(found['matched'], 'dead letter')}")
    for reason, number in found["left"].items():
        print(f"{number:,} not: each {reason}")
    return OK


def _mended(file: Path) -> str:
    """The record that a file holds, in base64, without the line end behind it. Raises UsageError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}", "name a file with one record") from error
    return base64.b64encode(data.removesuffix(b"\n").removesuffix(b"\r")).decode()
