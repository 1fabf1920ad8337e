"""`cep alerts`: the alerts of a job, from its outbox or from its port."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.cli.arguments import add_format, add_job, add_who, instant
from cep.cli.failure import OK, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api

_ID = "its id, or six digits or more from its beginning"


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "alerts",
        help="a job's alerts: list, show, explain, redeliver, export, erase",
        description="The alerts of a job: of its outbox, whether it runs or not, or at its URL.",
    )
    parser.set_defaults(usual="cep alerts list --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    said = "alerts, the newest first"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    _add_filters(listed)
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
    redeliver.add_argument("ids", nargs="*", metavar="ID", help=f"{_ID}; without any a filter says which")
    redeliver.add_argument("--receiver", metavar="NAME", help="to this receiver alone")
    _add_filters(redeliver)
    redeliver.add_argument(
        "--state",
        action="append",
        choices=("pending", "delivered", "failed"),
        help="with a filter: those whose delivery is in this state (default: failed); may be repeated",
    )
    redeliver.add_argument("--dry-run", action="store_true", help="with a filter: count, and change nothing")
    add_who(redeliver)
    said = "verdicts as labels of alerts"
    export = verbs.add_parser(
        "export", help=said, description=f"{said.capitalize()}, those of closed episodes."
    )
    export.add_argument(
        "--labels", type=Path, required=True, metavar="FILE", help="the file, .csv or .parquet, made anew"
    )
    said = "erase what is kept of a key: alerts, episodes, events, dead letters"
    erase = verbs.add_parser("erase", help=said, description=f"{said.capitalize()}.")
    erase.add_argument("--key", required=True, metavar="KEY", help="card_id=c1, or JSON")
    erase.add_argument("--dry-run", action="store_true", help="count, and change nothing")
    add_who(erase)
    for name, one in verbs.choices.items():
        if name == "export":
            add_job(one)
        else:
            add_target(one)
        add_format(one)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    for name in ("pack", "rule", "severity"):
        parser.add_argument(f"--{name}", metavar="NAME", help=f"those of this {name}")
    parser.add_argument("--key", metavar="KEY", help="those of this key: card_id=c1, or JSON")
    parser.add_argument("--since", type=instant, metavar="TIME", help="those of this event time and later")
    parser.add_argument("--until", type=instant, metavar="TIME", help="those before this event time")


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    if arguments.action == "export":
        from cep.cli.job_outbox import job_of, outbox_of

        with outbox_of(job_of(arguments.job)) as outbox:
            return _export(arguments, outbox)
    from cep.cli.erasing import erase

    actions = {"list": _list, "show": _show, "explain": _explain, "redeliver": _redeliver, "erase": erase}
    with api_of(arguments) as api:
        return actions[arguments.action](arguments, api)


def _list(arguments: argparse.Namespace, api: Api) -> int:
    from alerts.receivers.console import text_line
    from cep.cli.episode_text import SHORT
    from cep.cli.job_api import entries

    for one in entries(api, "alerts", _filters(arguments), arguments.limit):
        if arguments.format == "json":
            print(json.dumps(one["alert"], ensure_ascii=False, separators=(",", ":")))
        else:
            print(f"{one['alert']['id'][:SHORT]} {text_line(one['alert'])}")
    return OK


def _filters(arguments: argparse.Namespace) -> dict[str, str | None]:
    from alerts.notation import timestamp

    times = {
        name: None if (at := getattr(arguments, name)) is None else timestamp(at)
        for name in ("since", "until")
    }
    return {name: getattr(arguments, name) for name in ("pack", "rule", "severity", "key")} | times


def _show(arguments: argparse.Namespace, api: Api) -> int:
    found = api.ask("alert", {"id": arguments.id})["alert"]
    events = _events(arguments, api, found["id"])
    if arguments.format == "json":
        whole = found if events is None else {"alert": found, **events}
        print(json.dumps(whole, ensure_ascii=False))
        return OK
    print(json.dumps(found, ensure_ascii=False, indent=2))
    _print_events(events)
    return OK


def _events(arguments: argparse.Namespace, api: Api, id_: str) -> dict[str, Any] | None:
    """The events of an alert, where they are asked for."""
    return api.ask("alert_events", {"id": id_}) if arguments.events else None


def _print_events(events: dict[str, Any] | None) -> None:
    from cep.cli.event_lines import event_lines

    for line in () if events is None else event_lines(events):
        print(line)


def _explain(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.alert_way import lines

    told = api.ask("alert", {"id": arguments.id})
    events = _events(arguments, api, told["alert"]["id"])
    if arguments.format == "json":
        print(json.dumps(told if events is None else {**told, **events}, ensure_ascii=False))
        return OK
    print("\n".join(lines(told)))
    _print_events(events)
    return OK


def _redeliver(arguments: argparse.Namespace, api: Api) -> int:
    """Make deliveries pending again: of the alerts named, all or none; or those that a filter wants."""
    if not arguments.ids:
        return _redeliver_by_filter(arguments, api)
    if arguments.dry_run or any(_filters(arguments).values()):
        raise UsageError("either alerts are named, or a filter says which", "leave one of them out")
    done = api.ask("redeliver_alerts", body={"alerts": arguments.ids, "receiver": arguments.receiver})
    if arguments.format == "json":
        print(json.dumps(done))
    else:
        for one in done["redelivered"]:
            print(f"{one['alert'][:12]} is pending for {', '.join(one['receivers'])}")
    return OK


def _redeliver_by_filter(arguments: argparse.Namespace, api: Api) -> int:
    if arguments.receiver is None:
        raise UsageError("without ids --receiver is needed", "name alerts, or the receiver and a filter")
    body = {
        "receiver": arguments.receiver,
        "filter": {name: text for name, text in _filters(arguments).items() if text is not None},
        "states": arguments.state or ["failed"],
        "dry_run": arguments.dry_run,
    }
    done = api.ask("redeliver", body=body)
    if arguments.format == "json":
        print(json.dumps(done))
        return OK
    what = "would be pending" if done["dry_run"] else "are pending"
    print(
        f"alerts of the filter: {done['matched']:,}; for {done['receiver']} {what}: {done['redelivered']:,}"
    )
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
