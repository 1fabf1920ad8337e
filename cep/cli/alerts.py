"""`cep alerts`: the alerts of a job's outbox, while the job runs or is stopped."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.arguments import add_format, add_job, instant
from cep.cli.failure import OK, UsageError

if TYPE_CHECKING:
    from alerts.outbox import Outbox, StoredAlert
    from cep.cli.arguments import Subparsers
    from cep.record.read import Evidence

_ID = "its id, or six digits or more from its beginning"


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "alerts",
        help="a job's alerts: list, show, explain, redeliver, export",
        description="The alerts of a job's outbox; the job may run or not.",
    )
    parser.set_defaults(usual="cep alerts list --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    said = "alerts, the newest first"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    for name in ("pack", "rule", "severity"):
        listed.add_argument(f"--{name}", metavar="NAME", help=f"those of this {name}")
    listed.add_argument("--since", type=instant, metavar="TIME", help="those of this event time and later")
    listed.add_argument("--until", type=instant, metavar="TIME", help="those before this event time")
    listed.add_argument("--limit", type=int, default=50, metavar="N", help="so many at most (default: 50)")
    show = verbs.add_parser(
        "show", help="an alert as receivers get it", description="An alert as receivers get it."
    )
    said = "the way of an alert, in words: where it went, or why it did not"
    explain = verbs.add_parser("explain", help=said, description=f"{said.capitalize()}.")
    said = "send alerts again, under their ids and with their bodies"
    redeliver = verbs.add_parser("redeliver", help=said, description=f"{said.capitalize()}.")
    for one in (show, explain):
        one.add_argument("id", metavar="ID", help=_ID)
        said = "also the events that it lists, from the job's record"
        one.add_argument("--events", action="store_true", help=said)
    redeliver.add_argument("ids", nargs="+", metavar="ID", help=_ID)
    redeliver.add_argument("--receiver", metavar="NAME", help="to this receiver alone")
    said = "verdicts as labels of alerts"
    export = verbs.add_parser(
        "export", help=said, description=f"{said.capitalize()}, those of closed episodes."
    )
    export.add_argument(
        "--labels", type=Path, required=True, metavar="FILE", help="the file, .csv or .parquet, made anew"
    )
    for one in verbs.choices.values():
        add_job(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_outbox import job_of, outbox_of

    actions = {"list": _list, "show": _show, "explain": _explain, "redeliver": _redeliver, "export": _export}
    job = job_of(arguments.job)
    arguments.state = job.state
    with outbox_of(job) as outbox:
        return actions[arguments.action](arguments, outbox)


def _list(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.outbox import Wanted
    from alerts.receivers.console import text_line
    from cep.cli.episode_text import SHORT

    wanted = Wanted(
        rule=arguments.rule, severity=arguments.severity, since=arguments.since, until=arguments.until,
        pack=arguments.pack,
    )  # fmt: skip
    for one in outbox.alerts(wanted, limit=max(arguments.limit, 0), newest_first=True):
        if arguments.format == "json":
            print(json.dumps(one.alert, ensure_ascii=False, separators=(",", ":")))
        else:
            print(f"{str(one.alert['id'])[:SHORT]} {text_line(one.alert)}")
    return OK


def _show(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from cep.cli.job_outbox import number_of

    with outbox.reading() as connection:
        _, id_ = number_of(connection, arguments.id)
    found = outbox.alert(id_)
    assert found is not None
    evidence = _evidence(arguments, found)
    if arguments.format == "json":
        whole = found.alert if evidence is None else {"alert": found.alert, **evidence.as_dict()}
        print(json.dumps(whole, ensure_ascii=False))
        return OK
    print(json.dumps(found.alert, ensure_ascii=False, indent=2))
    _print_events(evidence)
    return OK


def _evidence(arguments: argparse.Namespace, stored: StoredAlert | None) -> Evidence | None:
    """The events of an alert, where they are asked for."""
    if not arguments.events or stored is None:
        return None
    from cep.record.read import events_of

    return events_of(arguments.state, stored)


def _print_events(evidence: Evidence | None) -> None:
    from cep.cli.event_lines import event_lines

    for line in () if evidence is None else event_lines(evidence):
        print(line)


def _explain(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from cep.cli.alert_way import lines, way
    from cep.cli.job_outbox import number_of

    with outbox.reading() as connection:
        number, id_ = number_of(connection, arguments.id)
    told = way(outbox, number, id_, time.time_ns())
    evidence = _evidence(arguments, outbox.alert(id_))
    if arguments.format == "json":
        print(json.dumps(told if evidence is None else {**told, **evidence.as_dict()}, ensure_ascii=False))
        return OK
    print("\n".join(lines(told)))
    _print_events(evidence)
    return OK


def _redeliver(arguments: argparse.Namespace, outbox: Outbox) -> int:
    """Make deliveries pending again: those of all alerts named, or none."""
    from alerts.outbox.deliveries import redeliver_alert
    from cep.cli.job_outbox import number_of

    done = []
    with outbox.writing() as connection:
        for given in dict.fromkeys(arguments.ids):
            number, id_ = number_of(connection, given)
            receivers = redeliver_alert(connection, number, arguments.receiver, time.time_ns())
            if not receivers:
                to = f"to {arguments.receiver}" if arguments.receiver else "to anybody"
                help_ = (
                    "`cep alerts explain` says where it went; a new receiver gets what is raised from then on"
                )
                raise UsageError(f"alert {given} was never to go {to}", help_)
            done.append({"alert": id_, "receivers": receivers})
    if arguments.format == "json":
        print(json.dumps({"redelivered": done}))
    else:
        for one in done:
            print(f"{one['alert'][:12]} is pending for {', '.join(one['receivers'])}")
    return OK


def _export(arguments: argparse.Namespace, outbox: Outbox) -> int:
    from alerts.episodes.labels import labels
    from cep.cli import label_files
    from rules.nouns import counted

    label_files.check(arguments.labels)
    with outbox.reading() as connection:
        count = label_files.write(arguments.labels, labels(connection))
    if arguments.format == "json":
        print(json.dumps({"file": str(arguments.labels), "labels": count}))
    else:
        print(f"{counted(count, 'label')} in {arguments.labels}")
    return OK
