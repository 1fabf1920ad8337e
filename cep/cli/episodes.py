"""`cep episodes`: what a desk works on, in the outbox of a job that runs or is stopped."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from alerts.episodes.episode import LONGEST_NOTE, STATES, VERDICTS, EpisodeError
from cep.cli.arguments import add_format, add_job, add_who, user
from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from alerts.episodes.episode import Episode, Standing
    from alerts.outbox import Outbox
    from cep.cli.arguments import Subparsers

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
        add_job(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_outbox import job_of, outbox_of

    actions: dict[str, Callable[[argparse.Namespace, Outbox], int]] = {
        "list": _list,
        "show": _show,
        "precision": _precision,
    }
    with outbox_of(job_of(arguments.job)) as outbox:
        return actions.get(arguments.action, _change)(arguments, outbox)


def _list(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.outbox.episodes import counted, ids_of, read_episodes
    from cep.cli.episode_text import as_dict, table

    states = arguments.state or STATES[:2]
    with outbox.reading() as connection:
        some = read_episodes(
            connection, states, pack=arguments.pack, rule=arguments.rule, limit=max(arguments.limit, 0)
        )
        ids, counts = ids_of(connection, some), counted(connection)
    now = _event_time(outbox)
    if arguments.format == "json":
        print(json.dumps({"episodes": [as_dict(one, ids[one.first], now) for one in some], "states": counts}))
        return OK
    print(table(some, ids, now), end="")
    print(", ".join(f"{count:,} {state}" for state, count in counts.items()))
    return OK


def _show(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.outbox import Wanted
    from alerts.outbox.episodes import ids_of
    from cep.cli.episode_text import as_dict, page

    with outbox.reading() as connection:
        one = _found(connection, arguments.id)
        id_ = ids_of(connection, [one])[one.first]
    wanted = Wanted(
        pack=one.pack, rule=one.rule, key=json.loads(one.key), after=one.first - 1, before=one.last + 1
    )
    alerts = [stored.alert for stored in outbox.alerts(wanted)]
    now = _event_time(outbox)
    if arguments.format == "json":
        print(json.dumps(as_dict(one, id_, now) | {"alerts_of": alerts}, ensure_ascii=False))
    else:
        print(page(one, id_, now, alerts), end="")
    return OK


def _change(arguments: argparse.Namespace, outbox: Outbox) -> int:
    """Change the standing of several episodes: of all of them, or of none."""
    from alerts.outbox.episodes import change, ids_of
    from cep.cli.episode_text import as_dict

    if len(arguments.note) > LONGEST_NOTE:
        raise UsageError(f"a note has {LONGEST_NOTE:,} characters at most", "shorten it")
    now, changed = _event_time(outbox), []
    with outbox.writing() as connection:
        for given in dict.fromkeys(arguments.ids):
            one = _found(connection, given)
            try:
                standing = _standing(one.standing, arguments)
            except EpisodeError as error:
                raise UsageError(f"episode {given} was not changed: {error}", error.help) from error
            change(connection, one.first, standing)
            changed.append((_found(connection, given), ids_of(connection, [one])[one.first]))
    if arguments.format == "json":
        print(json.dumps({"episodes": [as_dict(one, id_, now) for one, id_ in changed]}))
        return OK
    for one, id_ in changed:
        verdict = f", {one.standing.verdict}" if one.standing.verdict else ""
        print(f"{id_[:12]} is {one.standing.state}{verdict}")
    return OK


def _standing(before: Standing, arguments: argparse.Namespace) -> Standing:
    said = {"by": arguments.by or user(), "at": time.time_ns(), "note": arguments.note}
    match arguments.action:
        case "acknowledge":
            return before.acknowledged(**said)
        case "close":
            return before.closed(arguments.verdict, **said)
        case _:
            return before.reopened(**said)


def _precision(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from dataclasses import asdict

    from alerts.outbox.episodes import precisions
    from cep.cli.episode_text import precision_table

    with outbox.reading() as connection:
        found = precisions(connection)
    if arguments.format == "json":
        print(json.dumps({"rules": [asdict(one) | {"precision": one.share} for one in found]}))
    elif found:
        print(precision_table(found), end="")
    else:
        print("no episode has a verdict yet")
    return OK if found else FINDINGS


def _found(connection: Connection, given: str) -> Episode:
    """The episode that an id means, its own or that of one of its alerts. Raises UsageError."""
    from alerts.outbox.episodes import episode_of
    from cep.cli.job_outbox import number_of

    one = episode_of(connection, number_of(connection, given)[0])
    if one is None:
        raise UsageError(
            f"alert {given} belongs to no episode",
            "the job assigns alerts after their batch; those of before this version have no episode",
        )
    return one


def _event_time(outbox: Outbox) -> int | None:
    """The watermark after the last batch, by which episodes are quiet; None if it is not known."""
    record = outbox.last_batch()
    found = None if record is None else record.result.get("watermark")
    return found if isinstance(found, int) else None
