"""Values stand under the text that they belong to, and are those of the operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import loaded

from alerts.notation import json_value
from cep.expressions.scalar import evaluate
from rules.packs import load_texts
from rules.source import SourceFile, Span
from rules.terminal import excerpt
from rules.testing.drawing import drawn
from rules.testing.operands import Operand, operands
from rules.typed import Aggregate, KeyRef, On, PrevRef, StepRef, TextMatch

HEAD = """pack p version "1"
stream s { a: long b: long? x: double? c: string? at: timestamp flag: boolean? t: text e: duration? time at }
let most = 5
let names = ("x", "y")
"""
ROW = {
    "a": 7, "b": None, "x": 0.1, "c": "\u4e2d\u6587", "at": 100 * 10**9, "flag": None, "t": "red",
    "e": 90 * 10**9,
}  # fmt: skip


@dataclass
class Row:
    """One event, no run."""

    values: Mapping[str, object]

    def field(self, path: tuple[str, ...]) -> object:
        return self.values[path[0]]

    def text_match(self, _: TextMatch) -> bool | None:
        return True

    def key(self, name: str) -> object:
        raise AssertionError(name)

    def step(self, ref: StepRef) -> object:
        raise AssertionError(ref)

    def previous(self, ref: PrevRef) -> object:
        raise AssertionError(ref)

    def aggregate(self, ref: Aggregate) -> object:
        raise AssertionError(ref)


def drawing(condition: str) -> list[str]:
    """The lines drawn under a condition that stands alone on its lines."""
    pack = load_texts([("p.rules", f"{HEAD}rule r {{ on s[\n{condition}\n] }}")]).need()
    body = pack.rules[0].body
    assert isinstance(body, On)
    assert body.condition is not None
    node = body.condition
    return drawn(node.span, operands(node, lambda part: evaluate(part, Row(ROW)), json_value))


DRAWINGS = (Path(__file__).parent / "texts" / "drawings.txt").read_text(encoding="utf-8").strip("\n")


@pytest.mark.parametrize("expected", DRAWINGS.split("\n\n"), ids=lambda text: text.splitlines()[0][4:])
def test_a_condition_is_drawn_as_in_the_golden_file(expected: str) -> None:
    lines = [line[4:] for line in expected.splitlines() if line[0].isdigit()]
    assert "\n".join(drawing("\n".join(lines))) == expected


def test_a_long_text_is_cut() -> None:
    start = '  | "' + "z" * 36 + "...  "
    assert any(line.startswith(start) for line in drawing(f'lower("{"Z" * 70}") == c'))


@settings(max_examples=examples(200), deadline=None)
@given(
    st.text("ab\t\u4e2d\u0301", max_size=40),
    st.dictionaries(st.integers(0, 39), st.text("xyz\u4e2d", min_size=1, max_size=8), max_size=8),
)
def test_every_value_stands_under_its_place(line: str, values: dict[int, str]) -> None:
    """Down from a place there are bars, and below them its value, with nothing in between or run together."""
    line = line.replace("\n", " ") + "."
    file = SourceFile("t", line)
    cells = excerpt(line, 0, 1, 1000).edges
    marks = {cells[place]: text for place, text in values.items() if place < len(line)}
    placed = [Operand(place, text) for place, text in values.items() if place < len(line)]
    placed = [one for one in placed if cells.index(cells[one.place]) == one.place]
    rows = [row[4:] for row in drawn(Span(file, 0, len(line)), placed)[1:]]
    for one in placed:
        column = [excerpt(row, 0, 1, 1000) for row in rows]
        at = cells[one.place]
        seen = [_from(row.text, row.edges, at) for row in column]
        bars = next(number for number, text in enumerate(seen) if not text.startswith("|"))
        assert bars > 0
        assert seen[bars].split(" ")[0] == one.text, (rows, marks)


def _from(text: str, edges: tuple[int, ...], cell: int) -> str:
    return text[edges.index(cell) :] if cell in edges else ""


def test_it_needs_no_named_step_to_place_an_aggregate() -> None:
    text = "rule r { by card_id match a: payment{2} -> b: payment[amount > avg(a.amount)] within 1 hour }"
    rule = loaded(text).need().rules[0]
    condition = rule.body.pattern.elements[1][1].condition  # type: ignore[union-attr]
    assert condition is not None
    found = operands(condition, lambda part: 2.5 if not hasattr(part, "operator") else True, json_value)
    assert [one.text for one in found] == ["2.5", "true", "2.5"]
    assert [condition.span.file.text[one.place :][:3] for one in found] == ["amo", "> a", "avg"]
    assert isinstance(condition.right, Aggregate)  # type: ignore[union-attr]
    assert not isinstance(condition, KeyRef)
