"""Coverage as people read it, with what is missing drawn under the rules' text, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rules.nouns import counted
from rules.snippet import Mark, runs, snippet
from rules.source import Span
from rules.testing.coverage import Item, RuleCoverage, percent
from rules.typed import Pack, Rule

WIDTH = 140
"""Cells of a source line that are shown."""

_COMMENT_OR_TEXT = re.compile(r'#[^\n]*|"(?:[^"\\\n]|\\[^\n])*"')


def coverage_text(pack: Pack, rules: Sequence[RuleCoverage]) -> str:
    """A line for the pack and one for each rule, then every rule of which something is missing, drawn."""
    covered, total = sum(one.covered for one in rules), sum(one.total for one in rules)
    lines = [f"coverage of {pack.name}: {share_text(percent(rules))} ({covered:,} of {total:,} sides)"]
    width = max((len(one.rule.name) for one in rules), default=0)
    for one in rules:
        tests = counted(one.tests, "test") if one.tests else "no test"
        alerts = counted(one.alerts, "alert")
        lines.append(f"  {share_text(percent([one])):>7}  {one.rule.name:<{width}}  {tests}, {alerts}")
    for one in rules:
        missing = [item for item in one.items if item.missing]
        if missing and one.tests:
            lines += ["", f"rule {one.rule.name}  {one.rule.span.file.name}:{one.rule.span.line}"]
            lines += _drawn(one.rule, missing)
    return "\n".join(lines)


def coverage_json(pack: Pack, rules: Sequence[RuleCoverage]) -> dict[str, object]:
    """The same as a JSON object; lines and columns count from 1."""
    return {
        "pack": pack.name,
        "percent": round(percent(rules), 2),
        "covered": sum(one.covered for one in rules),
        "total": sum(one.total for one in rules),
        "rules": [
            {
                "rule": one.rule.name,
                "file": one.rule.span.file.name,
                "line": one.rule.span.line,
                "tests": one.tests,
                "alerts": one.alerts,
                "percent": round(percent([one]), 2),
                "covered": one.covered,
                "total": one.total,
                "items": [_item(one.rule, item) for item in one.items],
            }
            for one in rules
        ],
    }


def share_text(share: float) -> str:
    """A percentage that says 100 % only of all, and 0 % only of nothing."""
    rounded = round(share, 1)
    if rounded in (0.0, 100.0) and rounded != share:
        rounded = 0.1 if rounded == 0 else 99.9
    return f"{rounded:g} %"


def _item(rule: Rule, item: Item) -> dict[str, object]:
    place = _place(rule, item)
    end_line, end_column = place.file.position(place.end)
    return {
        "kind": item.kind,
        "text": place.text,
        "line": place.line,
        "column": place.column,
        "end_line": end_line,
        "end_column": end_column,
        "sides": dict(item.sides),
        "unknown": item.unknown,
    }


def _drawn(rule: Rule, missing: Sequence[Item]) -> Iterator[str]:
    said: dict[Span, list[str]] = {}
    plainly = {(item.span, side) for item in missing if item.kind == "comparison" for side in item.missing}
    for item in missing:
        for side in item.missing:
            # What was never false never decided by being false: once is enough.
            if item.kind not in ("and", "or") or (item.span, side) not in plainly:
                said.setdefault(_place(rule, item), []).append(_SAID[item.kind, side])
    marks = [Mark.of(place, ", ".join(texts), False) for place, texts in said.items()]
    rows = list(snippet(rule.span.file, marks, WIDTH))
    gutter = max(len(str(row.number or 0)) for row in rows)
    for row in rows:
        text = "".join(part for part, _ in runs(row.cells))
        yield "..." if row.number is None else f"{row.number or '':>{gutter}} | {text}".rstrip()


_SAID = {
    ("rule", "tested"): "no test",
    ("alert", "raised"): "never raised",
    ("event", "satisfied"): "no event satisfied it",
    ("event", "taken"): "no event satisfied it",
    ("event", "refused"): "every event satisfied it",
    ("window", "kept"): "never held two events",
    ("window", "left"): "held every event of its key",
    ("step", "taken"): "took no event",
    ("step", "refused"): "refused no event",
    ("step", "left out"): "never left out",
    ("guard", "fired"): "never came",
    ("guard", "held"): "never stayed away",
    ("within", "kept"): "no run kept to it",
    ("within", "ended a run"): "ended no run",
    ("gap", "kept"): "no run kept to it",
    ("gap", "ended a run"): "ended no run",
    ("comparison", "true"): "never true",
    ("comparison", "false"): "never false",
    ("and", "true"): "never true with all the others",
    ("and", "false"): "never alone in being false",
    ("or", "true"): "never alone in being true",
    ("or", "false"): "never false with all the others",
    ("range", "below"): "never below",
    ("range", "inside"): "never inside",
    ("range", "above"): "never above",
}
"""What is said of a side that no test showed."""


def _place(rule: Rule, item: Item) -> Span:
    """Where an item is drawn: of a rule its head, of a step its name, of a bound its clause."""
    match item.kind:
        case "rule" | "alert":
            return _found(r"rule\s+(?:`[^`]*`|\w+)", rule.span)
        case "within":
            return _found(r"within\s+(?:[\d._]+\s*\w+)", rule.span)
        case "gap":
            return _found(r"gap\s+(?:[\d._]+\s*\w+)", item.span)
        case "step":
            return _found(r"(?:(?:`[^`]*`|\w+)\s*:\s*)?(?:`[^`]*`|\w+)", item.span)
        case "event":
            return _found(r"(?:on|over)\s+(?:`[^`]*`|\w+)", item.span)
        case "window":
            return _found(r"(?:tumbling|hopping|sliding|session\s+gap|last)\s+[\d._]+\s*\w+", item.span)
        case _:
            return item.span


def _found(pattern: str, around: Span) -> Span:
    """The first place in a span that looks so, comments and texts aside; the span itself without one."""
    text = _COMMENT_OR_TEXT.sub(lambda part: " " * len(part[0]), around.text)
    found = re.search(rf"(?<!\w){pattern}", text)
    return (
        around
        if found is None
        else Span(around.file, around.start + found.start(), around.start + found.end())
    )
