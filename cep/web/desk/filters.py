"""Texts that people and programs give to values: filters, cursors and ids; each mistake with its fix.

The CLI, the API and the page read the same texts by the same functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from alerts.alert import SEVERITIES
from alerts.episodes.episode import STATES, State
from alerts.outbox.episodes import After
from alerts.outbox.found import beginning_with, is_erased
from alerts.outbox.pages import Wanted
from alerts.shown import shown
from cep.web.desk.errors import GoneError, MissingError, MistakenError

if TYPE_CHECKING:
    from sqlalchemy import Connection

FILTERS = ("pack", "rule", "severity", "since", "until", "key")
"""The names by which alerts are filtered."""
MOST = 500
"""Entries that one answer has at most."""
USUAL = 50
LONGEST = 80
"""Characters of what was given that a message repeats."""
LONGEST_VALUE = 2_000
_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list: `limit` entries, those behind the place of a `cursor` (None: from its beginning)."""

    limit: int = USUAL
    cursor: str | None = None


def told(text: str) -> str:
    """The text that was given, as messages repeat it: one line, not all of what is long."""
    return shown(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")


def wanted(given: Mapping[str, str]) -> Wanted:
    """The alerts that filters by name ask for. Raises MistakenError."""
    for name, text in given.items():
        if len(text) > LONGEST_VALUE:
            raise MistakenError(f"`{told(name)}` has {len(text):,} characters", f"at most {LONGEST_VALUE:,}")
    since, until = (instant(name, given[name]) if name in given else None for name in ("since", "until"))
    severity = given.get("severity")
    if severity is not None and severity not in SEVERITIES:
        raise MistakenError(f"`{told(severity)}` is no severity", f"write one of {', '.join(SEVERITIES)}")
    key = given.get("key")
    return Wanted(
        rule=given.get("rule"),
        severity=severity,
        since=since,
        until=until,
        pack=given.get("pack"),
        key=None if key is None else key_of(key),
    )


def instant(name: str, text: str) -> int:
    """A point in time in ns since 1970. Raises MistakenError."""
    from rules.instants import parse_instant

    try:
        return parse_instant(text)
    except ValueError:
        fix = "write one such as 2026-01-05T09:00:00Z"
        raise MistakenError(f"`{name}` is no point in time: `{told(text)}`", fix) from None


def key_of(text: str) -> Mapping[str, object]:
    """The key that a text means: a JSON object, or `NAME=VALUE`, several with commas between, for texts.

    Raises MistakenError.
    """
    fix = 'write `card_id=c1`, or as alerts have it: `{"card_id": "c1", "n": 3}`'
    if not text.startswith("{"):
        pairs = [pair.partition("=") for pair in text.split(",")]
        if all(name.strip() and equal for name, equal, _ in pairs):
            return {name.strip(): value for name, _, value in pairs}
        raise MistakenError(f"`{told(text)}` is no key", fix)
    try:
        found = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise MistakenError(f"`{told(text)}` is no key", fix) from None
    assert isinstance(found, dict)
    return found


def limit_of(text: str) -> int:
    """A number of entries. Raises MistakenError."""
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= MOST:
        raise MistakenError(f"`limit` is `{told(text)}`", f"write a number from 1 to {MOST}")
    return int(text)


def number_of(name: str, text: str) -> int:
    """A number, as cursors are. Raises MistakenError."""
    if not _NUMBER.fullmatch(text):
        fix = "leave it out, or give back what an answer had as `next`"
        raise MistakenError(f"`{name}` is no place in the list: `{told(text)}`", fix)
    return int(text)


def place_among_episodes(text: str) -> After:
    """The place that a cursor of episodes means. Raises MistakenError."""
    state, _, rest = text.partition(".")
    worst, _, first = rest.partition(".")
    if state not in STATES:
        state = "open"
        worst = ""
    return After(cast(State, state), number_of("cursor", worst), number_of("cursor", first))


def states_of(texts: list[str]) -> list[State]:
    """States of episodes; none: those that people have to work on. Raises MistakenError."""
    for text in texts:
        if text not in STATES:
            raise MistakenError(f"`{told(text)}` is no state", f"write one of {', '.join(STATES)}")
    return cast(list[State], list(dict.fromkeys(texts)) or list(STATES[:2]))


def alert_of(connection: Connection, given: str) -> tuple[int, str]:
    """The number and the id of the alert whose id begins so.

    Raises MissingError, GoneError and MistakenError.
    """
    number, id_ = named_by(connection, given)
    if is_erased(connection, number):
        raise gone(given)
    return number, id_


def gone(given: str) -> GoneError:
    """The error for an alert that was erased."""
    return GoneError(
        f"alert {told(given)} was erased",
        "nothing is left of it but its id; `outbox_audit`, or /api/v1/audit, says when and by whom",
    )


def named_by(connection: Connection, given: str) -> tuple[int, str]:
    """The same of an alert that may be erased. Raises MissingError and MistakenError."""
    found = beginning_with(connection, given.lower())
    if len(found) == 1:
        return found[0]
    if found:
        raise MistakenError(
            f"several alerts have ids that begin with {told(given)}", "write more of its digits"
        )
    raise MissingError(
        f"there is no alert {told(given)}", "write an id, or six of its digits or more from its beginning"
    )
