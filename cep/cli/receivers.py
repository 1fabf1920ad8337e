"""`cep receivers`: how the receivers of a job stand, a test of one, and the end of a pause."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OK, OUTSIDE, OutsideError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from alerts.outbox import Outbox, Status
    from alerts.standing import Standing
    from cep.cli.arguments import Subparsers
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
        one.add_argument("--job", type=Path, required=True, metavar="JOB", help="the job's job.toml")
        one.add_argument(
            "--format",
            choices=("text", "json"),
            default=argparse.SUPPRESS,  # what stands before the word counts, too
            help="how results are printed (default: text)",
        )


def run(arguments: argparse.Namespace) -> int:
    """List, test or resume; returns the exit code. Raises UsageError, OutsideError and DiagnosticsError."""
    from cep.config import load_job

    job = load_job(arguments.job, None).need()
    if arguments.does == "list":
        return _list(job, arguments.format)
    receiver = _named(job, arguments.name)
    if arguments.does == "test":
        return _test(job, receiver, arguments.format)
    return _resume(job, receiver, arguments.format)


def _named(job: Job, name: str) -> Receiver:
    from rules.suggest import meant

    found = {receiver.name: receiver for receiver in job.receivers}
    if name not in found:
        help_ = meant(name, found, "receivers") if found else "write [receivers.NAME] in it"
        raise UsageError(f"{job.file.name} has no receiver `{name}`", help_)
    return found[name]


def _outbox(job: Job) -> Outbox:
    """The job's outbox. Raises UsageError and OutboxError."""
    from alerts.outbox import Outbox
    from cep.config import SecretError

    try:
        url = job.outbox_url(os.environ)
    except SecretError as error:
        raise UsageError(f"[outbox] url: {error}", error.help) from error
    return Outbox.open(url, create=False)


def _list(job: Job, form: str) -> int:
    from alerts.codes import CANNOT_OPEN
    from alerts.outbox import OutboxError

    status: Mapping[str, Status] | None = None
    standings: Mapping[str, Standing] = {}
    try:
        outbox = _outbox(job)
        try:
            status, standings = outbox.status(), outbox.standings()
        finally:
            outbox.close()
    except OutboxError as error:
        if error.code != CANNOT_OPEN:  # a job that never ran has none
            raise OutsideError(error.message, error.help, error.code) from error
    rows = [_row(one, status, standings, time.time_ns()) for one in job.receivers]
    if form == "json":
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        _print_table(rows)
    else:
        raise UsageError(f"{job.file.name} has no receivers", "write [receivers.NAME] in it")
    return OK


def _row(
    receiver: Receiver,
    status: Mapping[str, Status] | None,
    standings: Mapping[str, Standing],
    now: int,
) -> dict[str, object]:
    from alerts.notation import timestamp
    from alerts.standing import Standing

    standing = standings.get(receiver.name, Standing())
    mine = None if status is None else status.get(receiver.name)
    since = standing.since_at or standing.failing_since_at
    return {
        "receiver": receiver.name,
        "kind": receiver.target.kind,
        "where": receiver.target.where,
        "rules": None if receiver.rules is None else list(receiver.rules),
        "severity": receiver.severity,
        "state": standing.shown(now),
        "reason": standing.reason,
        "since": None if since is None else timestamp(since // 1_000_000_000 * 1_000_000_000),
        "pending": None if status is None else mine.pending if mine else 0,
        "failed": None if status is None else mine.failed if mine else 0,
    }


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
    named = ", ".join(rules) if isinstance(rules, list) else "all rules"
    least = "" if row["severity"] == "info" else f", {row['severity']} and worse"
    counts = ["-" if row[name] is None else row[name] for name in ("pending", "failed")]
    return [row["receiver"], row["kind"], row["state"], *counts, row["where"], f"{named}{least}"]


def _test(job: Job, receiver: Receiver, form: str) -> int:
    from alerts.receivers.notification import trial
    from cep.config import receiver_secrets
    from cep.receivers_made import receiver_made
    from rules.diagnostics import DiagnosticsError, has_errors

    found = receiver_secrets(job, receiver, os.environ)
    if has_errors(found):
        raise DiagnosticsError(found)
    made = receiver_made(receiver, os.environ, sys.stdout)
    now = time.time_ns()
    alert = trial(receiver.name, now)
    try:
        outcome = made.send(alert.id, alert.to_json(), now)
    finally:
        made.close()
    if form == "json":
        said = {
            "receiver": receiver.name,
            "id": alert.id,
            "outcome": outcome.result,
            "detail": outcome.detail,
        }
        print(json.dumps(said, ensure_ascii=False))
        return OK if outcome.result == "delivered" else OUTSIDE
    if outcome.result != "delivered":
        raise OutsideError(f"{receiver.name} did not take the test: {outcome.detail}", _HELP[outcome.result])
    print(f"{receiver.name} took the test: {outcome.detail}")
    return OK


_HELP = {
    "rejected": "the answer is the receiver's own; docs/alerts.md says what outcomes mean",
    "unreachable": "look whether it runs and can be reached from this machine",
    "gone": "it wants nothing any more: settle that with its owner",
}


def _resume(job: Job, receiver: Receiver, form: str) -> int:
    from alerts.outbox import OutboxError

    try:
        outbox = _outbox(job)
        try:
            before = outbox.resume(receiver.name)
            outbox.hasten(receiver.name, time.time_ns())
            waiting = outbox.status().get(receiver.name)
        finally:
            outbox.close()
    except OutboxError as error:
        raise OutsideError(error.message, error.help, error.code) from error
    pending, failed = (waiting.pending, waiting.failed) if waiting else (0, 0)
    if form == "json":
        said = {"receiver": receiver.name, "before": before.state, "pending": pending, "failed": failed}
        print(json.dumps(said))
        return OK
    was = f"was {before.state}" if before.state != "closed" else "was neither open nor paused"
    print(f"{receiver.name} {was}; what waits is sent while the job runs: {pending}")
    return OK
