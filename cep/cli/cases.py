"""`cep eval --cases`: many small independent cases in one process, a line each in, a line each out.

The contract is docs/cli.md's ("Cases"). A case that cannot be run gives its diagnostics, an event
that cannot be decoded its reason; nothing ends the run but the end of its lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # missing from typeshed
from typing import cast

from alerts.raised import Raised
from cep.inprocess.listed import Times
from rules.diagnostics import Diagnostic, DiagnosticsError
from rules.instants import parse_instant
from rules.typed import Pack


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the input. `events` are number, stream, and the event's own text.

    `rejected` has number and reason of what cannot be an event by its form alone. `watermark` and `clock` are
    in nanoseconds since 1970; without a watermark it stands at the greatest event time.
    """

    id: object
    rules: str
    events: tuple[tuple[int, str, bytes], ...]
    rejected: tuple[tuple[int, str], ...]
    watermark: int | None
    drain: bool
    clock: int | None = None

    @property
    def times(self) -> Times:
        """The times that the case gives."""
        return Times(self.watermark, self.drain, self.clock)


class BadCaseError(ValueError):
    """A line that is no case; `id` is the case's own id, where one could be read."""

    def __init__(self, reason: str, id: object = None) -> None:  # noqa: A002  the name in the file
        super().__init__(reason)
        self.id = id


Prepared = tuple[Pack | None, tuple[Diagnostic, ...]]


def read_case(line: bytes) -> Case:
    """The case of a line. Raises BadCaseError."""
    try:
        text = line.decode()
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadCaseError(f"the line is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCaseError("the line is not a JSON object")
    id_ = value.get("id")
    if not isinstance(value.get("rules"), str):
        raise BadCaseError("`rules` must be a string", id_)
    if not isinstance(value.get("events", []), list):
        raise BadCaseError("`events` must be a list", id_)
    if not isinstance(value.get("drain", False), bool):
        raise BadCaseError("`drain` must be true or false", id_)
    watermark, clock = _time(value, "watermark"), _time(value, "clock")
    events, rejected = _events(text, value.get("events", []))
    return Case(id_, value["rules"], events, rejected, watermark, value.get("drain", False), clock)


def _time(case: Mapping[str, object], name: str) -> int | None:
    """A time of a case in ns since 1970 UTC; None where it has none. Raises BadCaseError."""
    written = case.get(name)
    try:
        return None if written is None else parse_instant(cast(str, written))
    except (ValueError, TypeError, AttributeError):
        said = f"`{name}` must be a time such as 2026-01-05T09:00:00Z, or null"
        raise BadCaseError(said, case.get("id")) from None


def _events(
    text: str, items: list[object]
) -> tuple[tuple[tuple[int, str, bytes], ...], tuple[tuple[int, str], ...]]:
    """The events' own texts, so that they are decoded as they were written, digit for digit."""
    good: list[tuple[int, str, bytes]] = []
    bad: list[tuple[int, str]] = []
    places = _events_places(text) if items else []
    for number, (item, place) in enumerate(zip(items, places, strict=True)):
        if not isinstance(item, dict) or not isinstance(item.get("stream"), str):
            bad.append((number, 'an event is {"stream": NAME, "event": {...}}'))
        elif not isinstance(item.get("event"), dict):
            bad.append((number, "`event` must be an object"))
        else:
            start, end = {name: span for name, *span in _members(text, place)}["event"]
            good.append((number, item["stream"], text[start:end].replace("\r", " ").encode()))
    return tuple(good), tuple(bad)


_SPACE = re.compile(r"[ \t\r\n]*")
_decode_at = json.JSONDecoder().raw_decode


def _events_places(text: str) -> list[int]:
    top = {name: start for name, start, _ in _members(text, _after_space(text, 0))}
    return [start for _, start, _ in _members(text, top["events"])]


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Name, start and end of each value in the JSON object or array (names empty) that begins at `start`.

    The text is known to be JSON.
    """
    named = text[start] == "{"
    at = _after_space(text, start + 1)
    while text[at] not in "}]":
        name = ""
        if named:
            name, at = scanstring(text, at + 1)
            at = _after_space(text, _after_space(text, at) + 1)
        _, end = _decode_at(text, at)
        yield name, at, end
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def run_cases(
    lines: Iterable[bytes],
    load: Callable[[str], Prepared],
    evaluate: Callable[[Pack, Case], tuple[list[Raised], list[tuple[int, str]]]],
    unforeseen: Callable[[Exception], str],
) -> Iterator[dict[str, object]]:
    """One result per line, in order; lines of white space alone have none.

    `load` checks a pack's text; `evaluate` gives a case's alerts in their order and its rejected events.
    An exception of either ends its case only: `unforeseen` keeps it and says what the result tells of it.
    """
    for line in lines:
        if not line.strip():
            continue
        try:
            case = read_case(line)
        except BadCaseError as error:
            yield refused(
                error.id,
                [
                    Diagnostic(
                        "CEP0854",
                        "error",
                        str(error),
                        help="a line is one JSON object with `id`, `rules` and `events`: docs/cli.md",
                    )
                ],
            )
            continue
        try:
            yield _result(case, load, evaluate)
        except DiagnosticsError as error:
            yield refused(case.id, error.diagnostics)
        except Exception as error:
            yield refused(
                case.id,
                [
                    Diagnostic(
                        "CEP0999",
                        "error",
                        unforeseen(error),
                        help="this is a mistake of ours: please report it with the case",
                    )
                ],
            )


def _result(
    case: Case,
    load: Callable[[str], Prepared],
    evaluate: Callable[[Pack, Case], tuple[list[Raised], list[tuple[int, str]]]],
) -> dict[str, object]:
    pack, diagnostics = load(case.rules)
    if pack is None:
        return refused(case.id, diagnostics)
    alerts, undecodable = evaluate(pack, case)
    rejected = sorted([*case.rejected, *undecodable])
    return {
        "id": case.id,
        "alerts": [json.loads(one.body) for one in alerts],
        "rejected": [{"event": number, "reason": reason} for number, reason in rejected],
    }


def refused(id_: object, diagnostics: Iterable[Diagnostic]) -> dict[str, object]:
    """The result of a case that was not run: the errors that stand in its way."""
    return {"id": id_, "diagnostics": [d.as_dict() for d in diagnostics if d.level == "error"]}
