"""An alert's events on a line of time, as a drawing (SVG) that stands beside their table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from cep.web.page.rendering import cut, plain

_WIDTH, _LEFT, _RIGHT = 1_000, 130, 30
_LANE = 26
_MOST_STEPS = 5
_SECOND = 10**9
_UNITS = ((86_400 * _SECOND, "days"), (3_600 * _SECOND, "h"), (60 * _SECOND, "min"), (_SECOND, "s"))


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """An event that an alert names: `time`, in ns, and `fields` are None where they are not known."""

    step: str
    id: str
    time: int | None = None
    fields: dict[str, Any] | None = None


def drawn(events: Sequence[AlertEvent]) -> Markup | None:
    """The drawing, a lane for each step; None where fewer than two events have a time."""
    placed = [(one, one.time) for one in events if one.time is not None]
    if len(placed) < 2:
        return None
    steps = list(dict.fromkeys(one.step for one, _ in placed))[:_MOST_STEPS]
    first, last = min(time for _, time in placed), max(time for _, time in placed)
    scale = (_WIDTH - _LEFT - _RIGHT) / max(last - first, 1)
    height = _LANE * (len(steps) + 1)
    parts = [_lane(n, step) for n, step in enumerate(steps)]
    for one, time in placed:
        if one.step in steps:
            x = round(_LEFT + (time - first) * scale, 1)
            y = _LANE * steps.index(one.step) + _LANE // 2
            said = f"{one.step} {one.id}" if one.fields is None else f"{one.step} {one.id}: {_told(one)}"
            parts.append(
                Markup('<circle cx="{}" cy="{}" r="6"><title>{}</title></circle>').format(x, y, said)
            )
    spanned = _span(last - first)
    parts.append(
        Markup('<text x="{}" y="{}">0 s</text><text x="{}" y="{}" text-anchor="end">{}</text>').format(
            _LEFT, height - 8, _WIDTH - _RIGHT, height - 8, spanned
        )
    )
    head = Markup('<svg class="timeline" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    label = f"{len(placed)} events over {spanned}; the table has them"
    return head.format(_WIDTH, height, label) + Markup("").join(parts) + Markup("</svg>")


def _span(length: int) -> str:
    """A length in ns: with its milliseconds up to two minutes, else as `6 days 7 h`."""
    if length < 120 * _SECOND:
        return f"{length / _SECOND:,.3f}".rstrip("0").rstrip(".") + " s"
    parts: list[str] = []
    for of, name in _UNITS:
        count, length = divmod(length, of)
        if len(parts) == 2 or (parts and not count):
            break
        if count:
            parts.append(f"{count:,} {name if count > 1 else name.removesuffix('s') or name}")
    return " ".join(parts)


def _lane(n: int, step: str) -> Markup:
    y = _LANE * n + _LANE // 2
    line = Markup('<line x1="{}" y1="{}" x2="{}" y2="{}"></line><text x="6" y="{}">{}</text>')
    return line.format(_LEFT, y, _WIDTH - _RIGHT, y, y + 4, cut(plain(step), 16))


def _told(one: AlertEvent) -> str:
    return cut(", ".join(f"{name} {plain(value)}" for name, value in (one.fields or {}).items()), 300)
