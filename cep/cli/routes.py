"""`cep routes test`: the way of an alert through the routes of a job file to its receivers."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cep.cli.arguments import add_format, add_job
from cep.cli.failure import OK, UsageError

if TYPE_CHECKING:
    from alerts.routing import Branches
    from cep.cli.arguments import Subparsers
    from cep.config import Job

_LONGEST = 16 << 20


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "routes",
        help="the receivers that an alert goes to, and why",
        description="Which receivers an alert goes to by the job file, and by which route.",
    )
    parser.set_defaults(usual="cep routes test ALERT.json --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    test = verbs.add_parser(
        "test", help="print the way of an alert", description="Print the way of an alert."
    )
    test.add_argument(
        "alert",
        metavar="ALERT.json",
        help="an alert as `cep eval` writes it, or a webhook's body; - for standard input",
    )
    add_job(test)
    add_format(test)


def run(arguments: argparse.Namespace) -> int:
    """Print the way; returns the exit code."""
    from cep.cli.job_outbox import job_of
    from cep.cli.routes_told import on_the_way

    job = job_of(arguments.job)
    alert = read_alert(arguments.alert)
    tried = list(_by_branches(job.branches, alert) if job.branches else _by_receivers(job, alert))
    receivers = list(dict.fromkeys(name for one in tried for name in one["receivers"]))
    told = list(on_the_way(job, alert, receivers, time.time_ns()))
    if arguments.format == "json":
        print(json.dumps({"tried": tried, "receivers": receivers, "told": told}, ensure_ascii=False))
        return OK
    from alerts.shown import shown

    for one in tried:
        print(shown(f"{one['what']}: {one['said']}"))
    print(f"goes to {', '.join(receivers)}" if receivers else "goes to no receiver")
    for each in told:
        print(shown(f"{each['what']}: {each['said']}"))
    return OK


def _by_branches(branches: Branches, alert: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    from alerts.matchers import Labels

    labels = Labels(alert)
    for one in branches.tried(labels):
        receivers = list(one.branch.receivers) if one.against is None else []
        if one.against is not None:
            found = labels[one.against.name]
            is_ = " and ".join(f"`{value}`" if value else "empty" for value in found)
            said = f"no, {one.against.name} is {is_}"
        else:
            said = f"to {', '.join(receivers) or 'nobody'}{', and on' if one.branch.go_on else ''}"
        yield {
            "what": f"route {one.number} ({one.branch.matchers})",
            "taken": one.against is None,
            "said": said,
            "receivers": receivers,
        }


def _by_receivers(job: Job, alert: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Without routes each receiver takes what its own rules and severity let through."""
    for one in job.receivers:
        route = one.route
        taken = route.takes(str(alert["rule"]), str(alert["severity"]))
        rules = "all rules" if one.rules is None else f"rules {', '.join(one.rules)}"
        yield {
            "what": f"receiver {one.name} ({rules}, {one.severity} and worse)",
            "taken": taken,
            "said": "yes" if taken else f"no, it is {alert['severity']} of rule {alert['rule']}",
            "receivers": [one.name] if taken else [],
        }


def read_alert(place: str) -> Mapping[str, Any]:
    """The alert of a file or of standard input (`-`). Raises UsageError."""
    help_ = "name a file that holds one alert: a line of `cep eval`, or the body of a webhook"
    try:
        if place == "-":
            text = sys.stdin.read(_LONGEST)
        else:
            with Path(place).open(encoding="utf-8") as file:
                text = file.read(_LONGEST)
        value = json.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8"
        raise UsageError(f"{place} cannot be read: {reason}", help_) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place} is no JSON, or more than one object: {error}", help_) from error
    if isinstance(value, dict) and isinstance(value.get("data"), dict):
        value = value["data"]
    if (lacking := _lacking(value)) is not None:
        raise UsageError(f"{place} holds no alert: {lacking}", help_)
    found: Mapping[str, Any] = value
    return found


def _lacking(value: object) -> str | None:
    """The lack of a value that is to be an alert; None if it has all that is asked for."""
    if not isinstance(value, dict):
        return "it is no object"
    kinds = dict.fromkeys(("pack", "rule", "severity", "kind"), str) | {
        "key": dict,
        "emit": dict,
        "tags": list,
    }
    for name, kind in kinds.items():
        if not isinstance(value.get(name), kind):
            return f"`{name}` is missing, or of another kind"
    return None
