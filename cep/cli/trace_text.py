"""A trace as people read it, run by run, and as JSON lines in the order in which things happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from alerts.notation import plain, timestamp
from cep.batch.trace import Key, Record, TracedEvent, TracedWindow


def lines(records: Sequence[Record]) -> Iterator[str]:
    """The records under headings: rule and key, then run; events that began none come last.

    Rules of one name are told apart by their packs.
    """
    groups: dict[tuple[str, str, Key], dict[int | None, list[Record]]] = {}
    for record in records:
        runs = groups.setdefault((record.pack, record.rule, record.key), {})
        runs.setdefault(record.run, []).append(record)
    packs = Counter(name for _, name in {(pack, rule) for pack, rule, _ in groups})
    for (pack, rule, key), runs in groups.items():
        on = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in key)
        of = f" of pack {pack}" if packs[rule] > 1 else ""
        yield f"rule {rule}{of}" + (f", {on}" if on else "")
        for run in sorted(runs, key=lambda number: (number is None, number)):
            windows = run is None and any(record.window for record in runs[run])
            yield "  windows" if windows else "  no run" if run is None else f"  run {run}"
            for record in runs[run]:
                yield f"    {timestamp(record.time)}  {sentence(record)}"


def sentence(record: Record) -> str:
    """The event of a trace in words, without rule, key, run and time."""
    if record.window is not None:
        return _judged(record, record.window)
    event = "" if record.event is None else named(record.event)
    condition = "" if record.condition is None else f"`{record.condition}`"
    match record.kind:
        case "repeated":
            raise AssertionError("only windows repeat")
        case "began":
            return f"began: {event} is {record.step}"
        case "took":
            return f"took {event} as {record.step}"
        case "tried" if record.step is None:
            return f"{event} does not prevent it: it is no {condition}"
        case "passed":
            return f"there was no {condition}"
        case "tried":
            if record.failed == "absence":
                return f"{event} is not {record.step}: what was to be absent before it was there"
            if record.failed == "until":
                return f"{event} is not {record.step}: it satisfies the `until` of the loop"
            return f"{event} is not {record.step}" + (f": {condition} is not true" if condition else "")
        case "prevented":
            return f"ended by {event}: there was to be no {condition}"
        case "broken":
            return f"ended by {event}: the next event had to be {record.step}"
        case "expired":
            return f"ended: its {record.bound} was over"
        case "timed out":
            return f"timed out: its {record.bound} was over"
        case "skipped":
            return f"ended by the match of run {record.by}"
        case "dropped":
            return "dropped: more runs than the rule's limit"
        case "gave up":
            return "kept its most preferred alternatives, and gave up the others: there were too many"
        case "matched":
            return f"matched: {taken(record.taken)}"
        case "forked":
            return f"forked from run {record.parent}"
        case "stopped":
            return f"stopped by {event}, which is {condition}"
        case "refused":
            return f"no match: {condition} is not true"
        case "waiting":
            until = "" if record.until is None else f" until {timestamp(record.until)}"
            return f"waits for {', '.join(record.waits) or 'its end'}{until}: {taken(record.taken)}"


def _judged(record: Record, window: TracedWindow) -> str:
    """A window with what it held, what the rule read of it, and what came of that."""
    at = "" if record.event is None else f" at {record.event.id}"
    bounds = f"{timestamp(window.start)} to {timestamp(window.end)}{at}, {' '.join(window.events)}"
    said = ", ".join(f"{text} {plain(value)}" for text, value in window.readings)
    outcome = {
        "matched": "raised",
        "repeated": f"`{record.condition}` is true, as before",
    }.get(record.kind, f"`{record.condition}` is not true")
    return f"{bounds}: {said}: {outcome}"


def named(event: TracedEvent) -> str:
    """An event by stream and id, with its values."""
    values = ", ".join(f"{name} {plain(value)}" for name, value in event.values.items() if value != event.id)
    return f"{event.stream} {event.id}" + (f" ({values})" if values else "")


def taken(events: Iterable[tuple[str, TracedEvent]]) -> str:
    """The steps with what they took, in order."""
    steps: dict[str, list[str]] = {}
    for step, event in events:
        steps.setdefault(step, []).append(event.id)
    return ", ".join(f"{step} {' '.join(ids)}" for step, ids in steps.items())


def as_json(record: Record) -> dict[str, Any]:
    """A record for programs; what it does not say is left out."""
    content: dict[str, Any] = {
        "pack": record.pack,
        "rule": record.rule,
        "key": dict(record.key),
        "kind": record.kind,
        "time": timestamp(record.time),
        "run": record.run,
        "parent": record.parent,
        "event": None if record.event is None else _event(record.event),
        "step": record.step,
        "failed": record.failed,
        "condition": record.condition,
        "bound": record.bound,
        "by": record.by,
        "waits": list(record.waits) or None,
        "until": None if record.until is None else timestamp(record.until),
        "window": None if record.window is None else _window(record.window),
        "taken": [{"step": step, "stream": e.stream, "id": e.id} for step, e in record.taken] or None,
    }
    return {name: value for name, value in content.items() if value is not None}


def _window(window: TracedWindow) -> dict[str, Any]:
    return {
        "start": timestamp(window.start),
        "end": timestamp(window.end),
        "events": list(window.events),
        "values": dict(window.readings),
    }


def _event(event: TracedEvent) -> dict[str, Any]:
    return {
        "stream": event.stream,
        "id": event.id,
        "time": timestamp(event.time),
        "values": dict(event.values),
    }
