"""Compressed feeds that are cut short, damaged or have rubbish behind: every whole line is an event."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from decoding import stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.decode import DeadLetter, decoder
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from rules.types import Scalar

DECODER = decoder(stream_of({"x": Scalar.LONG}, ("x",)))
LINES = [b'{"eid": "e%d", "at": "2026-01-01", "x": %d}\n' % (i, i * i) for i in range(300)]
TEXT = b"".join(LINES)
MEMBERS = [gzip.compress(part, mtime=0) for part in (b"".join(LINES[:90]), b"", b"".join(LINES[90:]))]
GZIP = b"".join(MEMBERS)
ENDS = (0, len(MEMBERS[0]), len(MEMBERS[0] + MEMBERS[1]))
ZSTD = pa.Codec("zstd").compress(TEXT, asbytes=True)


def found(path: Path, data: bytes, block: int = 1000) -> tuple[list[int], list[DeadLetter]]:
    """The places of a file's events, and its dead letters."""
    path.write_bytes(data)
    places: list[int] = []
    dead: list[DeadLetter] = []
    for part in splits(str(path), len(data), block):
        for decoded in read(part, DECODER, block=block):
            places += decoded.events.table.column("@offset").to_pylist()
            dead += decoded.dead
    return places, dead


def starts(text: bytes) -> list[int]:
    """Where the whole lines of a text begin, but for blank ones."""
    found, place = [], 0
    for line in text.split(b"\n")[:-1]:
        if line.strip(b" \t\r"):
            found.append(place)
        place += len(line) + 1
    return found


def readable(data: bytes) -> bytes:
    """The text that zlib reads of gzip members, fed byte by byte: the oracle."""
    text, one = b"", zlib.decompressobj(31)
    for place in range(len(data)):
        try:
            text += one.decompress(data[place : place + 1])
        except zlib.error:
            break
        if one.eof:
            one = zlib.decompressobj(31)
    return text


@given(cut=st.integers(0, len(GZIP) - 1), block=st.sampled_from([100, 1000, 1 << 20]))
@settings(max_examples=examples(60), deadline=None)
def test_all_whole_lines_of_a_file_that_is_cut_short_are_events(
    tmp_path_factory: pytest.TempPathFactory, cut: int, block: int
) -> None:
    text = readable(GZIP[:cut])
    places, dead = found(tmp_path_factory.mktemp("cut") / "in.jsonl.gz", GZIP[:cut], block)
    assert places == starts(text)
    whole = text.rfind(b"\n") + 1
    if cut in ENDS:  # a file of fewer members
        assert dead == []
        return
    (letter,) = dead
    assert (letter.stage, letter.offset, letter.data) == ("read", whole, text[whole:])
    assert "cut short" in letter.reason or "is not gzip" in letter.reason


@given(place=st.integers(20, len(GZIP) - 1), octet=st.integers(1, 255))
@settings(max_examples=examples(60), deadline=None)
def test_all_whole_lines_before_a_damaged_byte_are_events(
    tmp_path_factory: pytest.TempPathFactory, place: int, octet: int
) -> None:
    damaged = bytearray(GZIP)
    damaged[place] ^= octet
    text = readable(bytes(damaged))
    places, dead = found(tmp_path_factory.mktemp("damage") / "in.jsonl.gz", bytes(damaged))
    told = [*places, *(letter.offset for letter in dead if letter.stage == "decode")]
    assert sorted(told) == starts(text)
    assert [letter.stage for letter in dead].count("read") <= 1  # none where the byte says nothing


@pytest.mark.parametrize("name", ["in.jsonl.gz", "in.jsonl.zst"])
def test_what_follows_the_compressed_text_is_told_and_costs_no_event(tmp_path: Path, name: str) -> None:
    whole = GZIP if name.endswith(".gz") else ZSTD
    places, (letter,) = found(tmp_path / name, whole + b"and then something else")
    assert places == starts(TEXT)
    assert (letter.stage, letter.offset, letter.data) == ("read", len(TEXT), b"")
    assert "is not " in letter.reason


def test_a_last_line_without_its_end_is_whole_if_the_member_is(tmp_path: Path) -> None:
    places, (letter,) = found(tmp_path / "in.jsonl.gz", gzip.compress(TEXT[:-1]) + b"rubbish")
    assert places == starts(TEXT)
    assert letter.offset == len(TEXT) - 1


@pytest.mark.parametrize("padding", [b"", b"\0", b"\0" * 600_000])
def test_zeros_behind_a_member_are_padding(tmp_path: Path, padding: bytes) -> None:
    assert found(tmp_path / "in.jsonl.gz", GZIP + padding) == (starts(TEXT), [])


def test_members_after_padding_are_read(tmp_path: Path) -> None:
    assert found(tmp_path / "in.jsonl.gz", GZIP + b"\0\0\0" + GZIP)[0] == starts(TEXT + TEXT)


def test_frames_of_zstd_are_one_text(tmp_path: Path) -> None:
    assert found(tmp_path / "in.jsonl.zst", ZSTD + ZSTD) == (starts(TEXT + TEXT), [])


@given(cut=st.integers(1, len(ZSTD) - 1))
@settings(max_examples=examples(20), deadline=None)
def test_zstd_that_is_cut_short_keeps_what_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    many = ZSTD * 3
    places, dead = found(tmp_path_factory.mktemp("zstd") / "in.jsonl.zst", many[: 2 * len(ZSTD) + cut])
    assert places[: 2 * len(LINES)] == starts(TEXT + TEXT)
    assert "cut short" in dead[-1].reason


def test_what_is_no_compressed_text_at_all_is_told(tmp_path: Path) -> None:
    for name in ("in.jsonl.gz", "in.csv.gz", "in.jsonl.zst"):
        places, (letter,) = found(tmp_path / name, b"junk" * 10)
        assert places == []
        assert (letter.stage, letter.offset) == ("read", 0)
