"""Texts of decimals: each becomes its exact value or a dead letter, none reaches Arrow's unbounded shift."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from decoding import BASE, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import Decoded, decoder
from rules.decimals import fitting
from rules.types import Scalar

STREAM = stream_of({"x": Scalar.DECIMAL, "f": Scalar.DOUBLE}, ("x", "f"))
DIGITS = st.text("0123456789", max_size=45)
EXPONENTS = st.integers(-70, 70) | st.sampled_from(
    [-(2**31), 1 - 2**31, -999_999_999, 999_999_999, -(10**30)]
)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """A number as JSON allows it, often with more digits or a larger exponent than a decimal has."""
    whole = draw(DIGITS).lstrip("0") or "0"
    fraction = draw(st.just("") | DIGITS.filter(bool).map(".{}".format))
    power = draw(st.just("") | EXPONENTS.map("e{}".format) | EXPONENTS.map("E{:+d}".format))
    return draw(st.sampled_from(["", "-"])) + whole + fraction + power


def expected(text: str) -> Decimal | None:
    """The value that a decimal holds exactly; None where it holds none, or the exponent is below -18."""
    power = re.search(r"[eE](.*)", text)
    if power is not None and not -18 <= int(power[1]) <= 10**6:
        return None
    value = Decimal(text)
    return value if fitting(value) == value else None


def of_json(*values: str) -> Decoded:
    base = json.dumps(BASE)[:-1]
    text = "\n".join(f'{base}, "x": {value}}}' for value in values)
    return decoder(STREAM).decode_block(text.encode(), "in.jsonl", 0, "s")


def of_csv(*cells: str) -> Decoded:
    rows = "\n".join(f"{','.join(BASE.values())},{cell}" for cell in cells)
    return decoder(STREAM).decode_block(f"eid,at,x\n{rows}\n".encode(), "in.csv", 0, "s")


def column(decoded: Decoded) -> list[Decimal | None]:
    return decoded.events.table.column("x").to_pylist()


@pytest.mark.slow
@settings(max_examples=examples(600))
@given(numbers())
def test_a_text_becomes_its_exact_value_or_a_dead_letter(text: str) -> None:
    wanted = expected(text)
    for decoded in (of_json(text), of_json(f'"{text}"'), of_csv(text)):
        if decoded.dead:
            # zeros that say nothing, behind the point or as 0e30, may be refused too
            assert wanted is None or len(text) > 18 or wanted == 0, decoded.dead[0].reason
        else:
            assert column(decoded) == [wanted]


@pytest.mark.parametrize("text", ["1e-57", "0e-999999999", "1e-2147483647", "7.5E-111"])
def test_neighbours_of_a_refused_number_are_events(text: str) -> None:
    for decoded in (
        of_json(*["1.5"] * 3000, text, *["2.5"] * 3000),
        of_csv(*["1.5"] * 3000, text, *["2.5"] * 3000),
    ):
        (letter,) = decoded.dead
        assert letter.reason == "`x` is written with an exponent below -18"
        assert column(decoded) == [Decimal("1.5")] * 3000 + [Decimal("2.5")] * 3000


def test_small_numbers_of_other_fields_do_not_matter() -> None:
    base = json.dumps(BASE)[:-1]
    text = f'{base}, "x": 1.5, "f": 1e-300, "other": "phase-e-57", "more": 1e-999999999}}\n' * 10
    decoded = decoder(STREAM).decode_block(text.encode(), "in.jsonl", 0, "s")
    assert not decoded.dead
    assert decoded.events.table.column("f").to_pylist() == [1e-300] * 10
    cells = f"{','.join(BASE.values())},1.5,1e-300\n" * 10
    decoded = decoder(STREAM).decode_block(f"eid,at,x,f\n{cells}".encode(), "in.csv", 0, "s")
    assert not decoded.dead
    assert column(decoded) == [Decimal("1.5")] * 10


def test_blanks_around_a_cell_do_not_matter() -> None:
    decoded = of_csv(" 1.50 ", "", "+2", "1e3")
    assert not decoded.dead
    assert column(decoded) == [Decimal("1.5"), None, Decimal(2), Decimal(1000)]


@pytest.mark.parametrize("text", ["x", "1.5.5", "", "--1", "0x10"])
def test_a_text_that_is_no_number_is_refused_in_words_that_name_the_field(text: str) -> None:
    found = of_json(f'"{text}"')
    assert column(found) == []
    assert [one.reason for one in found.dead] == ["wrong type: `x` is a decimal, the text is no number"]
