"""Cells of CSV that the compiled kernel reads itself, and those that it leaves to the other reader."""

from __future__ import annotations

import numpy as np
import pytest
from both_readers import assert_same, using_kernel
from decoding import stream_of

from cep.decode import FeedFormat, decoder
from cep.decode.csv_records import CsvReader
from rules.types import Scalar, Type

NAMES = ("other", "eid", "x", "at")
HEADER = ",".join(NAMES) + "\n"


def taken(type_: Type, records: list[str], feed: FeedFormat | None = None) -> list[int]:
    """The numbers of the records that the kernel reads itself; all give what the other reader gives."""
    using = decoder(stream_of({"x": type_}, ("x",)), feed)
    data = "\n".join(records).encode()
    assert_same(using, HEADER.encode() + data, "f.csv")
    with using_kernel(True):
        reader = CsvReader(memoryview(data), NAMES, using.stream, using.feed, using.constants)
    return [int(record) for _, part in reader.usual(np.arange(len(reader.lines))) for record in part]


def with_x(*cells: str) -> list[str]:
    return [f"some text,e{n},{cell},2026-01-01T00:00:00Z" for n, cell in enumerate(cells)]


USUAL = [
    (Scalar.STRING, ["x", " x ", "", '""', '"x"', '"x,y"', "null", "é" * 40, '"' + "x, " * 40 + '"', "a\tb"]),
    (Scalar.LONG, ["", "0", "-0", "17", "-9223372036854775807"]),
    (Scalar.DOUBLE, ["", "1", "-0.0", "1e5", "0.30000000000000004"]),
    (Scalar.DECIMAL, ["", "1.10", "-9999999999999999999"]),
    (Scalar.BOOLEAN, ["", "true", "false", "0", "1"]),
    (Scalar.TIMESTAMP, ["", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05.5+01:00"]),
    (Scalar.DURATION, ["", "PT5M"]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "cells"), USUAL, ids=[str(type_) for type_, _ in USUAL])
def test_the_kernel_reads_what_is_usual(type_: Type, cells: list[str]) -> None:
    assert taken(type_, [record + "\r" for record in with_x(*cells)]) == list(range(len(cells)))
    assert taken(type_, with_x(*cells)) == list(range(len(cells)))


HANDED_BACK = [
    (Scalar.STRING, ['"a""b"', '"a"b', 'a"b', "a\rb", '"', '"a\rb"']),
    (Scalar.LONG, ["007", "+1", " 1", "1 ", "1.0", "0x1F", '"1"', "9223372036854775808"]),
    (Scalar.DOUBLE, ["1.", ".5", "inf", "NaN", "1e400", '"1"', "true"]),
    (Scalar.DECIMAL, ["1e2", "+1", " 1", "12345678901234567890", '"1"']),
    (Scalar.BOOLEAN, ["TRUE", "True", "2", "10", "yes", '"true"']),
    (Scalar.TIMESTAMP, ["2026-01-02", '"2026-01-02T03:04:05Z"', "2026-01-02T03:04:05Z "]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "cells"), HANDED_BACK, ids=[str(type_) for type_, _ in HANDED_BACK])
def test_what_is_not_usual_is_left_to_the_other_reader(type_: Type, cells: list[str]) -> None:
    assert taken(type_, with_x(*cells)) == []


def test_records_of_another_width_are_left_to_the_other_reader() -> None:
    usual = with_x("1")[0]
    records = [usual, usual + ",more", usual.rpartition(",")[0], usual + ",", "", " ", usual]
    # An empty line is no record.
    assert taken(Scalar.LONG, records) == [0, 5]


def test_a_quote_that_is_never_closed_spoils_its_own_line_only() -> None:
    assert taken(Scalar.STRING, with_x("x", '"y', "z")) == [0, 2]


def test_missing_required_cells_are_left_to_the_other_reader() -> None:
    assert taken(Scalar.LONG, [",,1,2026-01-01T00:00:00Z", ",e,1,", ",e,1,2026-01-01T00:00:00Z"]) == [2]


def test_cells_may_be_divided_by_other_characters() -> None:
    using = decoder(stream_of({"x": Scalar.STRING}), FeedFormat(delimiter=";", header=False))
    data = b'e1;2026-01-01T00:00:00Z;a,b\ne2;2026-01-01T00:00:00Z;"c;d"\n'
    assert assert_same(using, data, "f.csv").events.table.column("x").to_pylist() == ["a,b", "c;d"]
