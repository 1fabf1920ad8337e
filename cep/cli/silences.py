"""`cep silences`: what nobody wants to be told of for a while, in the outbox of a job."""

from __future__ import annotations

import argparse
import json
import secrets
import time
from typing import TYPE_CHECKING

from cep.cli.arguments import add_format, add_job, add_who, instant, user
from cep.cli.failure import OK, UsageError

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from alerts.silences import Silence
    from cep.cli.arguments import Subparsers


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
        add_job(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_outbox import job_of, outbox_of

    actions = {"add": _add, "list": _list, "expire": _expire}
    with outbox_of(job_of(arguments.job)) as outbox:
        return actions[arguments.action](arguments, outbox)


def _add(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.matchers import MatcherError, Matchers
    from alerts.outbox.silences import add
    from alerts.silences import Silence

    now = time.time_ns()
    start = now if arguments.start is None else arguments.start
    end = arguments.until if arguments.length is None else start + _length(arguments.length)
    if end <= max(start, now):
        raise UsageError("the silence would end before it begins, or has ended", "name a later end")
    if not arguments.why.strip():
        raise UsageError("--why is empty", "say why: others will ask")
    try:
        matchers = Matchers.of(arguments.matchers)
    except MatcherError as error:
        raise UsageError(f"{error}", error.help) from error
    who = arguments.by or user()
    one = Silence(secrets.token_hex(4), who, arguments.why, start, min(end, 2**63 - 1), matchers)
    with outbox.writing() as connection:
        add(connection, one)
    if arguments.format == "json":
        print(json.dumps(_dict(one, now), ensure_ascii=False))
    else:
        print(one.id)
    return OK


def _length(text: str) -> int:
    from rules.instants import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--for: {error}", "write a number and a unit: `30m`, `2 hours`") from error


def _list(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.outbox.silences import held_counts, read_silences
    from alerts.silences import reason_of

    now = time.time_ns()
    with outbox.reading() as connection:
        some = read_silences(connection, None if arguments.all else now)
        counts = held_counts(connection)
    held = {
        one.id: sum(count for (_, reason), count in counts.items() if reason == reason_of(one.id))
        for one in some
    }
    if arguments.format == "json":
        print(json.dumps({"silences": [_dict(one, now) | {"held": held[one.id]} for one in some]}))
        return OK
    from alerts.notation import timestamp
    from cep.cli.episode_text import aligned

    rows = [("id", "state", "from", "until", "who", "holds", "matchers", "why")] if some else []
    for one in some:
        times = (timestamp(_second(one.starts_at)), timestamp(_second(one.ends_at)))
        rows.append(
            (one.id, _state(one, now), *times, one.who, f"{held[one.id]:,}", str(one.matchers), one.why)
        )
    print(aligned(rows), end="")
    if not some:
        print("nothing is silenced")
    return OK


def _second(at: int) -> int:
    return at // 10**9 * 10**9


def _state(one: Silence, now: int) -> str:
    return "active" if one.active(now) else "ended" if one.ends_at <= now else "to begin"


def _dict(one: Silence, now: int) -> dict[str, object]:
    from alerts.notation import timestamp

    return {
        "id": one.id,
        "state": _state(one, now),
        "from": timestamp(one.starts_at),
        "until": timestamp(one.ends_at),
        "who": one.who,
        "why": one.why,
        "matchers": [str(matcher) for matcher in one.matchers.all],
    }


def _expire(arguments: argparse.Namespace, outbox: Outbox) -> int:
    """Take back all of the silences named, or none."""
    from alerts.outbox.silences import expire

    now, who = time.time_ns(), arguments.by or user()
    with outbox.writing() as connection:
        for id_ in dict.fromkeys(arguments.ids):
            if not expire(connection, id_, who, now):
                raise UsageError(
                    f"there is no silence {id_} that goes on", "`cep silences list` has their ids"
                )
    if arguments.format == "json":
        print(json.dumps({"expired": arguments.ids}))
    else:
        print("".join(f"{id_} is taken back\n" for id_ in arguments.ids), end="")
    return OK
