"""`cep alerts erase`: what a person may ask to be removed, and what it came to, by kind."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cep.cli.failure import OK, OutsideError

if TYPE_CHECKING:
    from cep.cli.job_api import Api

_KINDS = (
    ("alerts", "alert", "alerts"),
    ("ended", "delivery that waited", "deliveries that waited"),
    ("episodes", "episode", "episodes"),
    ("events", "event of the record", "events of the record"),
    ("dead_letters", "dead letter", "dead letters"),
    ("late_events", "late event", "late events"),
    ("silences", "silence", "silences"),
    ("notes", "note or reason, which stays without it", "notes and reasons, which stay without it"),
    ("audit", "line of who did what, which stays without it", "lines of who did what, which stay without it"),
    (
        "suppression",
        "suppressed key, which stays as a digest",
        "suppressed keys, which stay as digests",
    ),
)


def erase(arguments: argparse.Namespace, api: Api) -> int:
    """Erase what is kept of a key, or count it; the exit code. Raises OutsideError for what is left."""
    done = api.ask("erase", body={"key": arguments.key, "dry_run": arguments.dry_run})
    if arguments.format == "json":
        print(json.dumps(done))
    else:
        print("\n".join(_lines(done)))
    if done["left"]:
        said = "; ".join(done["left"])
        raise OutsideError(f"not all was erased: {said}", "mend that, and erase once more", "CEP0970")
    return OK


def _lines(done: Mapping[str, Any]) -> Iterator[str]:
    yield "would be erased:" if done["dry_run"] else "erased:"
    some = [(done[name], one, several) for name, one, several in _KINDS if done[name]]
    yield from (f"  {count:,} {one if count == 1 else several}" for count, one, several in some)
    if not some:
        yield "  nothing: no alert, event or letter has this key"
    for receiver, count in done["delivered"].items():
        yield f"{receiver} got {_alerts(count)}: ask there for its copies"
    for name, count in done["elsewhere"].items():
        yield f"not erased: {_alerts(count)} with it in `{name}`"


def _alerts(count: int) -> str:
    return "1 alert" if count == 1 else f"{count:,} alerts"
