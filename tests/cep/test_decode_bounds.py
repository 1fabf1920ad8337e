"""Reading a file costs bounded memory, whatever it holds: endless lines, bombs, rubbish without end."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from decoding import stream_of
from hypothesis import given
from hypothesis import strategies as st

from cep.decode import DeadLetter, bounds, decoder, lines
from cep.decode.blocks import Decoder
from cep.decode.compiled import load
from cep.decode.letters import Decoded
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.types import Scalar

STREAM = stream_of({"x": Scalar.LONG}, ("x",))
GOOD = b'{"eid": "e1", "at": "2020-01-01T00:00:00Z"}\n'
LONG = bounds.LONGEST + 5
BOMB = 1 << 29


def found(path: Path, block: int = 4 << 20) -> tuple[list[int], list[DeadLetter]]:
    """The places of a file's events, and its dead letters."""
    places: list[int] = []
    dead: list[DeadLetter] = []
    for part in splits(str(path), path.stat().st_size, block):
        for decoded in read(part, decoder(STREAM), block=block):
            places += decoded.events.table.column("@offset").to_pylist()
            dead += decoded.dead
    return places, dead


@given(st.binary(max_size=40), st.integers(1, 9))
def test_newlines_are_counted_across_pieces(data: bytes, size: int) -> None:
    data = data.replace(b"a", b"\n").replace(b"\0", b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_AT_ONCE", size)
        assert lines.count_newlines(memoryview(data)) == data.count(b"\n")
    assert lines.count_newlines(memoryview(data), load()) == data.count(b"\n")


def bomb(path: Path, octet: bytes, behind: bytes = b"", size: int = BOMB) -> None:
    """A gzip file of one byte so many times, and what follows it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(packer.compress(octet * (1 << 20)))
        file.write(packer.compress(behind) + packer.flush())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
@pytest.mark.parametrize("block", [4 << 20, 64 << 20])
def test_a_line_above_the_limit_is_one_dead_letter(tmp_path: Path, name: str, block: int) -> None:
    path, text = tmp_path / name, GOOD + b"x" * LONG + b"\n" + GOOD
    path.write_bytes(gzip.compress(text, 1) if name.endswith(".gz") else text)
    places, (letter,) = found(path, block=block)
    assert places == [0, len(text) - len(GOOD)]
    assert (letter.stage, letter.offset, letter.data) == ("decode", len(GOOD), b"x" * bounds.SHOWN)
    assert letter.reason == bounds.too_long(LONG)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_a_line_above_the_limit_may_be_the_last(tmp_path: Path, name: str) -> None:
    path, text = tmp_path / name, GOOD + b"x" * LONG
    path.write_bytes(gzip.compress(text, 1) if name.endswith(".gz") else text)
    places, (letter,) = found(path)
    assert (places, letter.offset, letter.reason) == ([0], len(GOOD), bounds.too_long(LONG))


@pytest.mark.slow
def test_a_line_as_long_as_the_limit_is_read(tmp_path: Path) -> None:
    note = b'{"eid": "e1", "at": "2020-01-01T00:00:00Z", "note": "%b"}\n'
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(note % (b"x" * (bounds.LONGEST - len(note) + 3)) + GOOD, 1))
    assert found(path) == ([0, bounds.LONGEST + 1], [])


@pytest.mark.slow
def test_a_quote_that_is_never_closed_spoils_its_own_line(tmp_path: Path) -> None:
    row = b"e1,2020-01-01T00:00:00Z,1\n"
    spoilt = b'e2,"2020\n'
    path = tmp_path / "in.csv.gz"
    path.write_bytes(gzip.compress(b"eid,at,x\n" + row + spoilt + row * (bounds.LONGEST // len(row) + 9), 1))
    places, (letter,) = found(path)
    assert len(places) == bounds.LONGEST // len(row) + 10
    assert letter.data == spoilt.strip()
    assert "a quote is not closed" in letter.reason


def test_many_bad_lines_are_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "LETTERS", 10)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"x\n" * 30 + GOOD + b"y\n")
    places, dead = found(path)
    assert places == [60]
    assert [letter.offset for letter in dead] == list(range(0, 22, 2))
    assert dead[-1].reason.startswith(
        "21 records from here to 104 are no events (only 10 of a part of a file"
    )


def test_bytes_of_dead_letters_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "LETTER_BYTES", 5)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"xxxx\nyyyy\n")
    first, second = found(path)[1]
    assert (first.data, second.data) == (b"xxxx", b"")
    assert "its bytes are not kept" in second.reason


@pytest.mark.slow
def test_lines_without_number_are_decoded_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * (9 << 20) + GOOD, 1))
    assert found(path, block=32 << 20) == ([9 << 20], [])


@pytest.mark.slow
@pytest.mark.parametrize("short", [1, 12 << 20, 16 << 20])
def test_a_block_has_parts_also_where_many_of_its_lines_are_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    """Samples of it are looked into: half a block of short lines is more than enough to see."""
    line = GOOD.replace(b"}", b" " * 8_000 + b"}")
    path = tmp_path / "in.jsonl"
    path.write_bytes(line * 1_000 + b"\n" * short + line * 1_000)
    sizes: list[int] = []
    whole = Decoder.decode_block

    def seen(self: Decoder, data: memoryview, *others: object) -> Decoded:
        sizes.append(len(data))
        return whole(self, data, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(Decoder, "decode_block", seen)
    assert len(found(path, block=1 << 30)[0]) == 2_000
    assert sum(sizes) == path.stat().st_size
    assert (len(sizes) > 1) == (short > 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "octet", [*(pytest.param(one, marks=pytest.mark.soak) for one in (b"\0", b"{")), b"\n"]
)
def test_half_a_gigabyte_in_half_a_megabyte_takes_little_memory(tmp_path: Path, octet: bytes) -> None:
    bomb(tmp_path / "in.jsonl.gz", octet, b"\n" + GOOD)
    assert (tmp_path / "in.jsonl.gz").stat().st_size < 1 << 20
    events, resident = _in_a_process(tmp_path / "in.jsonl.gz")
    assert events == 1
    assert resident < 400 << 10


def test_nesting_without_end_is_no_crash() -> None:
    deep = 200_000
    line = b'{"eid": "e2", "at": "2020-01-01T00:00:00Z", "x": ' + b"[" * deep + b"]" * deep + b"}\n"
    ignored = line.replace(b'"x"', b'"other"')
    decoded = decoder(STREAM).decode_block(GOOD + line + ignored + GOOD, "in.jsonl", 0, "s")
    assert decoded.events.table.num_rows + len(decoded.dead) == 4
    assert [letter.offset for letter in decoded.dead][:1] == [len(GOOD)]


@pytest.mark.slow
def test_a_million_columns_are_read(tmp_path: Path) -> None:
    number = 200_000
    head = b"eid,at," + b",".join(b"c%d" % i for i in range(number))
    path = tmp_path / "in.csv"
    path.write_bytes(head + b"\n" + b"e1,2020-01-01" + b",1" * number + b"\ne2,2020-01-01,1\n")
    places, (letter,) = found(path, block=32 << 20)
    assert places == [len(head) + 1]
    assert letter.reason == f"has 3 cells where the file has {number + 2} columns"


def _in_a_process(path: Path) -> tuple[int, int]:
    """The events of a file, and the greatest kilobytes that reading them in a process of its own took."""
    program = f"""
import re, sys
sys.path[:0] = {sys.path!r}
from decoding import stream_of
from cep.decode import decoder
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
found = 0
for part in splits({str(path)!r}, {path.stat().st_size}):
    for decoded in read(part, decoder(stream_of({{}}))):
        found += decoded.events.table.num_rows
print(found, re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1])
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    events, resident = done.stdout.split()
    return int(events), int(resident)
