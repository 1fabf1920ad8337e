"""The kernel finds the lines that numpy finds, however dense they become, and whether all is ASCII."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.decode import lines as module
from cep.decode.compiled import load
from cep.decode.lines import Lines
from cep.decode.records import records_of

SHORT = b"{}\n"
BLOCKS = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"a", b'{"x": 1}', b" ", b"\t", b"\xc3\xa9", b"\xff", b"b" * 40])
)


def places(found: Lines | None) -> tuple[list[int], list[int], int]:
    assert found is not None
    return found.starts.tolist(), found.ends.tolist(), found.longest


def by_kernel(data: bytes) -> Lines | None:
    kernel = load()
    return Lines.found(memoryview(data), kernel, kernel.find_lines)


@given(BLOCKS.map(b"".join), st.integers(1, 80))
def test_lines_are_those_of_numpy(data: bytes, beginning: int) -> None:
    """Also where the beginning, by which their number is guessed, says little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BEGINNING", beginning)
        found = by_kernel(data)
    assert places(found) == places(Lines.of(memoryview(data)))
    assert found is not None
    assert found.is_ascii == data.isascii()


@given(BLOCKS.map(b"".join), st.integers(1, 80))
def test_records_are_those_without_a_kernel(data: bytes, beginning: int) -> None:
    """Of CSV without quotes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BEGINNING", beginning)
        found = records_of(memoryview(data.replace(b'"', b"q")), ",", load()).lines
    assert places(found) == places(records_of(memoryview(data.replace(b'"', b"q")), ",").lines)
    assert found.is_ascii == data.isascii()


@pytest.mark.parametrize("closing", [b"", b"\n"])
def test_lines_behind_a_beginning_of_long_ones_are_found(closing: bytes) -> None:
    """There is no room for them at first."""
    data = (b"x" * 1000 + b"\n") * 100 + SHORT * 100_000 + closing
    found = by_kernel(data)
    assert found is not None
    assert len(found) == 100_100
    assert places(found) == places(Lines.of(memoryview(data)))


@pytest.mark.parametrize("place", [0, 31, 32, 33, 4095, 4096, 4999])
def test_one_byte_beyond_ascii_is_seen_wherever_it_is(place: int) -> None:
    """In the first register, the last, and what is behind them."""
    plain = (b"y" * 99 + b"\n") * 50
    found, other = by_kernel(plain), by_kernel(plain[:place] + b"\x80" + plain[place + 1 :])
    assert found is not None
    assert other is not None
    assert found.is_ascii
    assert not other.is_ascii
    with_quotes = (b'"' + b"y" * 97 + b'"\n') * 50 + b"z\x80"
    assert not records_of(memoryview(with_quotes), ",", load()).lines.is_ascii


def test_records_behind_a_beginning_of_long_ones_are_found() -> None:
    """Also those with quotes; a misplaced quote is still one."""
    data = (b'"' + b"x" * 1000 + b'",1\n') * 100 + b'"a\nb",2\n' * 50_000
    for block in (data, data + b'a"b,3\n'):
        view = memoryview(block)
        assert places(records_of(view, ",", load()).lines) == places(records_of(view, ",").lines)
