"""`cep receivers`: how the receivers of a job stand, a test of one, and the end of a pause."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from cep.cli.arguments import add_who, user
from cep.cli.failure import OK, OUTSIDE, OutsideError, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from alerts.outbox import Outbox
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api
    from cep.config import Job, Receiver

_HEADS = ("receiver", "kind", "state", "pending", "failed", "where", "gets")


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "receivers",
        help="how receivers stand; try one; resume one that is paused",
        description="The receivers of a job, running or stopped: how they stand, a test of one, the end of a "
        "pause.",
    )
    parser.set_defaults(usual="cep receivers list --job job.toml")
    verbs = parser.add_subparsers(metavar="list|test|resume", required=True, dest="does")
    for name, line in (
        ("list", "what each gets, what waits, and whether it is paused"),
        ("test", "send one notification that is marked as a test, and tell what the receiver answers"),
        ("resume", "attempt deliveries to a receiver again, now"),
    ):
        one = verbs.add_parser(name, help=line, description=f"{line[0].upper()}{line[1:]}.")
        if name != "list":
            one.add_argument("name", metavar="NAME", help="the receiver's name in job.toml")
            add_who(one)
        add_target(one)
        one.add_argument(
            "--format",
            choices=("text", "json"),
            default=argparse.SUPPRESS,  # what stands before the word counts, too
            help="how results are printed (default: text)",
        )


def run(arguments: argparse.Namespace) -> int:
    """List, test or resume; returns the exit code. Raises UsageError, OutsideError and DiagnosticsError."""
    from cep.cli.job_api import api_of

    if arguments.url is not None or arguments.does == "resume":
        if arguments.url is None:
            _named(_job(arguments), arguments.name)
        with api_of(arguments) as api:
            return _asked(arguments, api)
    job = _job(arguments)
    if arguments.does == "list":
        return _list(job, arguments.format)
    return _test(job, _named(job, arguments.name), arguments)


def _asked(arguments: argparse.Namespace, api: Api) -> int:
    """The answer of the job that runs, or of its outbox."""
    if arguments.does == "list":
        return _print(api.ask("receivers")["receivers"], arguments.format, "the job")
    if arguments.does == "test":
        return _tried(api.ask("test_receiver", {"name": arguments.name}, body={}), arguments.format)
    done = api.ask("resume_receiver", {"name": arguments.name}, body={})
    if arguments.format == "json":
        print(json.dumps(done))
        return OK
    was = f"was {done['before']}" if done["before"] != "closed" else "was neither open nor paused"
    print(f"{arguments.name} {was}; what waits is sent while the job runs: {done['pending']}")
    return OK


def _job(arguments: argparse.Namespace) -> Job:
    from cep.config import load_job

    if arguments.token_env is not None:
        raise UsageError("--token-env goes with --url", "with --job the outbox itself is asked")
    return load_job(arguments.job, None).need()


def _named(job: Job, name: str) -> Receiver:
    from cep.web.desk.errors import MissingError
    from cep.web.desk.receivers import receiver_named

    try:
        return receiver_named(job, name)
    except MissingError as error:
        raise UsageError(error.message, error.help, error.code) from error


@contextmanager
def _outbox(job: Job) -> Iterator[Outbox | None]:
    """The job's outbox; None for a job that never ran. Raises UsageError and OutsideError."""
    from alerts.codes import CANNOT_OPEN
    from cep.cli.job_outbox import outbox_of

    with ExitStack() as stack:
        try:
            outbox = stack.enter_context(outbox_of(job))
        except OutsideError as error:
            if error.code != CANNOT_OPEN:
                raise
            outbox = None
        yield outbox


def _list(job: Job, form: str) -> int:
    from dataclasses import asdict

    from cep.web.desk.receivers import receivers_of

    with _outbox(job) as outbox:
        rows = [asdict(one) for one in receivers_of(job, outbox, time.time_ns())]
    return _print(rows, form, job.file.name)


def _print(rows: list[dict[str, Any]], form: str, whose: str) -> int:
    if form == "json":
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        _print_table(rows)
    else:
        raise UsageError(f"{whose} has no receivers", "write [receivers.NAME] in it")
    return OK


def _print_table(rows: list[dict[str, object]]) -> None:
    from alerts.shown import shown

    lines = [_HEADS, *([shown(str(cell)) for cell in _cells(row)] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(_HEADS))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for row in rows:
        if row["state"] != "closed":
            print(shown(f"{row['receiver']} is {row['state']} since {row['since']}: {row['reason']}"))


def _cells(row: dict[str, object]) -> list[object]:
    rules = row["rules"]
    named = ", ".join(rules) if isinstance(rules, list | tuple) else "all rules"
    least = "" if row["severity"] == "info" else f", {row['severity']} and worse"
    counts = ["-" if row[name] is None else row[name] for name in ("pending", "failed")]
    return [row["receiver"], row["kind"], row["state"], *counts, row["where"], f"{named}{least}"]


def _test(job: Job, receiver: Receiver, arguments: argparse.Namespace) -> int:
    """Try a receiver from here, also one of a job that never ran."""
    from cep.config import receiver_secrets
    from cep.web.desk.acting import Actor
    from cep.web.desk.receiver_acts import send_test
    from rules.diagnostics import DiagnosticsError, has_errors

    found = receiver_secrets(job, receiver, os.environ)
    if has_errors(found):
        raise DiagnosticsError(found)
    now = time.time_ns()
    with _outbox(job) as outbox:
        if outbox is not None:
            with outbox.writing() as connection:
                details = {"receiver": receiver.name}
                Actor(arguments.by or user(), now).did(connection, "receiver test", details)
    id_, outcome = send_test(receiver, os.environ, now, sys.stdout)
    said = {"receiver": receiver.name, "id": id_, "outcome": outcome.result, "detail": outcome.detail}
    return _tried(said, arguments.format)


def _tried(said: Mapping[str, Any], form: str) -> int:
    delivered = said["outcome"] == "delivered"
    if form == "json":
        print(json.dumps(said, ensure_ascii=False))
        return OK if delivered else OUTSIDE
    if not delivered:
        raise OutsideError(
            f"{said['receiver']} did not take the test: {said['detail']}", _HELP[said["outcome"]]
        )
    print(f"{said['receiver']} took the test: {said['detail']}")
    return OK


_HELP = {
    "rejected": "the answer is the receiver's own; docs/alerts.md says what outcomes mean",
    "unreachable": "look whether it runs and can be reached from this machine",
    "gone": "it wants nothing any more: settle that with its owner",
}
