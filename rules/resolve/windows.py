"""Windows: how large they are, and what bounds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import assert_never

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.arguments import zone_exists
from rules.resolve.findings import Findings
from rules.source import Span

MOST = 1_000_000
"""Greatest number of events in `last n events`, and in `limit n events`."""
AT_ONCE = 10_000
"""Greatest number of hopping windows that one event lies in."""
EVENTS = 100_000
"""Events of one key that sliding windows and last events keep, where a rule sets no limit."""
DAY = 86_400 * 10**9

Words = Mapping[str, syntax.WindowModifier]
_FITTING: Mapping[type[syntax.Window], frozenset[str]] = MappingProxyType(
    {
        syntax.Tumbling: frozenset({"zone", "early"}),
        syntax.Hopping: frozenset({"zone", "early"}),
        syntax.Sliding: frozenset(),
        syntax.Session: frozenset({"max", "early"}),
        syntax.LastEvents: frozenset({"within"}),
    }
)
"""What may stand behind each window."""
_CALLED: Mapping[type[syntax.Window], str] = MappingProxyType(
    {
        syntax.Tumbling: "a tumbling window",
        syntax.Hopping: "a hopping window",
        syntax.Sliding: "a sliding window",
        syntax.Session: "a session",
        syntax.LastEvents: "a window of last events",
    }
)
_INSTEAD = {
    "zone": "days of a zone are those of `tumbling 1 day` and `hopping 7 days every 1 day`: remove it",
    "early": "it is evaluated at each event anyway: remove it",
    "max": "only sessions have no length of their own: remove it",
}


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why there can be no such window; `note` is drawn under the place."""

    code: str
    message: str
    place: Span
    help: str
    note: str = ""


def resolve_window(node: syntax.Window, findings: Findings) -> typed.Window | None:
    """The typed window; None, with a finding, where there can be none."""
    words = _modifiers(node, findings)
    problem = _of_size(node) or _of_modifiers(node, words)
    if problem is not None:
        findings.error(problem.code, problem.message, problem.place, note=problem.note, help_=problem.help)
        return None
    if len(words) < len(node.modifiers):
        return None
    early, zone = "early" in words, words["zone"].zone if "zone" in words else None
    name = None if zone is None else zone.value
    match node:
        case syntax.Tumbling():
            return typed.Tumbling(node.size.value, name, early)
        case syntax.Hopping():
            return typed.Hopping(node.size.value, node.every.value, name, early)
        case syntax.Sliding():
            return typed.Sliding(node.size.value)
        case syntax.Session():
            return typed.Session(node.gap.value, _length(words.get("max")), early)
        case syntax.LastEvents():
            return typed.LastEvents(int(node.events.value), _length(words.get("within")))
        case _:
            assert_never(node)


def _length(node: syntax.WindowModifier | None) -> int | None:
    return None if node is None or node.duration is None else node.duration.value


def _modifiers(node: syntax.Window, findings: Findings) -> Words:
    """What stands behind the window, by its word; what is there twice has a finding."""
    found: dict[str, syntax.WindowModifier] = {}
    for one in node.modifiers:
        first = found.setdefault(one.kind, one)
        if first is not one:
            labels = (Label(first.span, "first given here"),)
            message = f"`{one.kind}` is given twice"
            findings.error("CEP0112", message, one.span, labels=labels, help_="remove one of them")
    return found


def _of_size(node: syntax.Window) -> _Problem | None:
    parts = [*typed.parts(node), *(one.duration for one in node.modifiers)]
    sizes = [part for part in parts if isinstance(part, syntax.Duration | syntax.Number)]
    empty = next((size for size in sizes if size.value == 0), None)
    match node:
        case _ if empty is not None:
            return _Problem("CEP0402", "a window of nothing holds no event", empty.span, "give it a length")
        case syntax.LastEvents(events) if events.value > MOST:
            message = f"a window holds {MOST:,} last events at most"
            help_ = "ask for fewer, or for a window of time: `sliding 1 hour`"
            return _Problem("CEP0407", message, events.span, help_)
        case syntax.Hopping(size, every) if every.value > size.value:
            message = "these windows leave gaps: events between one and the next are in none"
            note = f"longer than the window's `{size.span.text}`"
            help_ = f"write `every {size.span.text}`, or a shorter one"
            return _Problem("CEP0420", message, every.span, help_, note)
        case syntax.Hopping(size, every) if size.value % every.value:
            message = "a hopping window lasts a whole number of hops"
            note = f"`{size.span.text}` is no multiple of `{every.span.text}`"
            help_ = f"write an `every` that `{size.span.text}` is a multiple of"
            return _Problem("CEP0420", message, every.span, help_, note)
        case syntax.Hopping(size, every) if size.value // every.value > AT_ONCE:
            message = f"an event lies in {AT_ONCE:,} windows at most"
            note = f"of these it lies in {size.value // every.value:,}"
            help_ = f"write a longer `every`; `sliding {size.span.text}` is evaluated at each event"
            return _Problem("CEP0420", message, every.span, help_, note)
        case _:
            return None


def _of_modifiers(node: syntax.Window, words: Words) -> _Problem | None:
    for word, one in words.items():
        if word not in _FITTING[type(node)]:
            return _Problem("CEP0427", f"{_CALLED[type(node)]} has no `{word}`", one.span, _INSTEAD[word])
    zone = words["zone"].zone if "zone" in words else None
    if zone is None:
        return None
    if not zone_exists(zone.value):
        message = f"`{zone.value}` is not a time zone"
        return _Problem("CEP0211", message, zone.span, 'such as "Europe/Berlin"')
    sizes = (node.size, node.every) if isinstance(node, syntax.Hopping) else _sizes(node)
    broken = next((size for size in sizes if size.value % DAY), None)
    if broken is None:
        return None
    message, note = "only whole days begin at midnight", f"`{broken.span.text}` is no whole number of days"
    return _Problem("CEP0428", message, broken.span, "write whole days, or remove `zone`", note)


def _sizes(node: syntax.Window) -> Iterable[syntax.Duration]:
    return (node.size,) if isinstance(node, syntax.Tumbling) else ()


def resolve_limit(
    clause: syntax.Limit | None, node: syntax.Window, shape: typed.Window, findings: Findings
) -> int:
    """The greatest number of events that a key keeps. Its own place is told where it cannot be."""
    if clause is None:
        return EVENTS
    number = int(clause.number.value)
    if clause.of == "runs":
        message, help_ = "a window has no runs", f"what a key keeps is bounded by `limit {number} events`"
        findings.error("CEP0427", message, clause.span, help_=help_)
    elif not isinstance(shape, typed.AtEachEvent):
        message = f"{_CALLED[type(node)]} has no `limit`"
        help_ = "it keeps sums, not events, and ends: remove it"
        findings.error("CEP0427", message, clause.span, help_=help_)
    elif number == 0:
        message = "a window that keeps no event is empty"
        findings.error("CEP0402", message, clause.number.span, help_="keep one event or more")
    elif number > MOST:
        message = f"a key keeps {MOST:,} events at most"
        findings.error("CEP0429", message, clause.number.span, help_=f"write `limit {MOST} events` or less")
    return number


def check_room(
    over: typed.Over, node: syntax.Window, expressions: Iterable[object], findings: Findings
) -> None:
    """A finding where the last events that a rule names are more than its key may keep."""
    if not isinstance(over.window, typed.LastEvents) or not isinstance(node, syntax.LastEvents):
        return
    named = (part for one in expressions for part in typed.walk(one))
    back = max((p.offset for p in named if isinstance(p, typed.WindowAggregate)), default=0)
    needed = over.window.events * (1 + back)
    if needed > over.limit:
        message = f"the rule looks at {needed:,} events of a key, which keeps {over.limit:,}"
        help_ = f"write `limit {needed} events`" if needed <= MOST else "look at fewer events"
        findings.error("CEP0429", message, node.events.span, help_=help_)
