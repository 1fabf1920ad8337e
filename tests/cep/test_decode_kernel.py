"""The compiled kernel reads as the other readers do, whatever the lines; and it reads what is usual."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from both_readers import assert_same, by_kernel, by_reader, using_kernel
from csv_blocks import random_csv
from decoding import BASE, stream_of
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from json_blocks import FIELDS, Block, random_block

from cep.decode import FeedFormat, decoder, patience
from cep.decode.compiled import load
from cep.decode.json_lines import JsonReader
from cep.decode.kernel.times import FIRST_YEAR, LAST_YEAR
from cep.decode.patience import LOADED, PATIENCE, SMALLEST, kernel_for
from cep.hashing.compiled import load as load_strings
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type

BLOCKS = [(random_block, "f.jsonl"), (random_csv, "f.csv")]


def taken(stream: Stream, lines: list[str], feed: FeedFormat | None = None) -> list[int]:
    """The numbers of the lines that the kernel reads itself; all give what the other reader gives."""
    data = "\n".join(lines).encode()
    using = decoder(stream, feed)
    assert_same(using, data)
    with using_kernel(True):
        reader = JsonReader(memoryview(data), stream, using.feed, using.constants)
    return [int(line) for _, part in reader.usual(np.arange(len(reader.lines))) for line in part]


def with_x(*values: str) -> list[str]:
    return [json.dumps(BASE)[:-1] + f', "x": {value}' + "}" for value in values]


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "file"), BLOCKS, ids=["json", "csv"])
@settings(max_examples=examples(80), deadline=None)
@given(seed=st.integers(0, 2**64))
def test_a_block_is_read_as_by_the_other_reader(
    blocks: Callable[[random.Random], Block], file: str, seed: int
) -> None:
    block = blocks(random.Random(seed))
    assert_same(decoder(block.stream, block.feed), block.data, file)


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("blocks", "file"), BLOCKS, ids=["json", "csv"])
def test_a_million_lines_are_read_as_by_the_other_reader(
    blocks: Callable[[random.Random], Block], file: str
) -> None:
    seed = int(os.environ.get("CEP_SEED") or random.SystemRandom().randrange(10**9))
    first, lines = seed + 1, 0
    while lines < examples(1_000_000):
        seed += 1
        block = blocks(random.Random(seed))
        try:
            assert_same(decoder(block.stream, block.feed), block.data, file)
        except BaseException:
            print(f"CEP_SEED={seed - 1}")
            raise
        lines += block.data.count(b"\n") + 1
    print(f"seeds from {first}: {lines:,} lines of {file}")


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**64), st.data())
def test_blocks_may_be_cut_after_any_line(seed: int, cut: st.DataObject) -> None:
    block = random_block(random.Random(seed))
    using, data = decoder(block.stream, block.feed), block.data
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = sorted(cut.draw(st.sets(st.sampled_from(ends), max_size=5))) if ends else []
    parts = [by_kernel(using, data[a:b], "f.jsonl", a) for a, b in pairwise([0, *cuts, len(data)])]
    whole = by_reader(using, data)
    assert [row for part in parts for row in part.events.table.to_pylist()] == whole.events.table.to_pylist()
    assert tuple(letter for part in parts for letter in part.dead) == whole.dead


USUAL: list[tuple[Type, list[str]]] = [
    (Scalar.STRING, ['""', '"é"', '"' + "long " * 99 + '"', '"x" ', r'"a\n\"\\\/\u00e9\ud83d\ude00\u0000"']),
    (Scalar.TEXT, ['"x"', '"' + "x" * 31 + '"', '"' + "x" * 32 + '"', '"' + "x" * 33 + '\\t"']),
    (Scalar.LONG, ["0", "-0", "12345678", "123456789", "-9223372036854775807", "9223372036854775807"]),
    (Scalar.DOUBLE, ["0", "-0.0", "1", "1.5", "-273.15", "1e22", "1E-5", "0.30000000000000004", "1e+60"]),
    (Scalar.BOOLEAN, ["true", "false"]),
    (Scalar.TIMESTAMP, ['"2026-01-02T03:04:05Z"', '"2024-02-29 03:04:05.5"',
                        '"1969-12-30T23:59:59.123456789Z"', '"2200-12-31T23:59:59+23:59"',
                        '"1700-01-01T00:00:00-00:01"']),
    (Scalar.DURATION, ['"PT5M"', '"-P1D"']),
    (Scalar.DECIMAL, ["0", "-0", "1.10", "-0.000000000000000001", "9999999999999999999", '"-12.5"']),
    (ListOf(Scalar.TIMESTAMP), ["[]", '[ "2026-01-01T00:00:00Z" , "2026-01-01"]']),
    (Record((("p", Scalar.DOUBLE), ("q", ListOf(Scalar.STRING))), frozenset({"q"})),
     ['{"p": 1, "other": {"a": [true]}}', '{"q": ["]}", "\\""], "p": 0.1}']),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "values"), USUAL, ids=[str(type_) for type_, _ in USUAL])
def test_the_kernel_reads_what_is_usual(type_: Type, values: list[str]) -> None:
    stream = stream_of({"x": type_}, ("x",))
    lines = [*with_x(*values, "null"), json.dumps(BASE), json.dumps(BASE) + "\r", f"\t{json.dumps(BASE)} "]
    assert taken(stream, lines) == list(range(len(lines)))


EPOCHS = [
    ("epoch_s", ["0", "-1", "1767225600", "1767225600.123456", "1.7672256e9", "0.0000005"]),
    ("epoch_ms", ["1767225600123", "1767225600123.4565", "0.0015", "-0.5"]),
    ("epoch_us", ["1767225600123456", "-1"]),
    ("epoch_ns", ["1767225600123456789"]),
]


@pytest.mark.parametrize(("form", "values"), EPOCHS)
def test_the_kernel_reads_numbers_of_an_epoch(form: str, values: list[str]) -> None:
    lines = [f'{{"eid":"e","at":{value}}}' for value in values]
    assert taken(stream_of({}), lines, FeedFormat(timestamps=form)) == list(range(len(lines)))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_times_of_other_forms_are_read_as_texts(zone: str) -> None:
    for form, value in ("iso", "2026-07-01T00:00:00"), ("%d.%m.%Y", "01.07.2026"):
        lines = [f'{{"eid":"e","at":"{value}"}}'] * 3
        assert taken(stream_of({}), lines, FeedFormat(timestamps=form, zone=zone)) == [0, 1, 2]


def test_keys_may_come_in_any_order_and_others_between_them() -> None:
    stream = stream_of({"x": Scalar.LONG, "y": Scalar.STRING}, ("y",))
    row = [
        f'"{name}": {json.dumps(value)}' for name, value in {**BASE, "x": 1, "y": "z", "other": True}.items()
    ]
    choice = random.Random(1)
    lines = ["{" + ", ".join([*choice.sample(row, len(row)), f'"k{n}": [{n}]']) + "}" for n in range(400)]
    assert taken(stream, lines) == list(range(400))
    # Keys that no place is left for, and that differ in their last letter only.
    long = "k" * 100
    lines = [
        "{" + f'"{long}{n}": null, ' + ", ".join([*row, f'"{long}{n % 3}x": 1.5']) + "}" for n in range(400)
    ]
    assert taken(stream, lines) == list(range(400))


def test_what_stood_before_a_value_may_be_less_than_what_stands_there_now() -> None:
    lines = with_x("1", " 1", "\t 1", "1", "  2")
    assert taken(stream_of({"x": Scalar.LONG}), lines) == [0, 1, 2, 3, 4]


def test_a_key_is_found_twice_also_behind_null() -> None:
    lines = with_x("1", 'null, "x": 1', '1, "x": null', '1, "y": 1, "y": 2', "2")
    assert taken(stream_of({"x": Scalar.LONG}, ("x",)), lines) == [0, 3, 4]


HANDED_BACK = [
    (Scalar.LONG, ["1.0", "01", "9223372036854775808", "12345678901234567890", '"1"', "1e2", "-", ""]),
    (Scalar.DOUBLE, ["01", "1.", ".5", "-", "1e", "1e400", "1e-70", "12345678901234567890", "NaN", "Inf"]),
    (Scalar.DECIMAL, ["1e2", "12345678901234567890", "0.1234567890123456789", '"+1"', '"1."', '"1', '"x"']),
    (ListOf(Scalar.LONG), ["1", "[1,]", "[1", "[NaN]", "[01]", "[tru]", '{"a": 1}', "[{]}", r'["\ud800"]']),
    (ListOf(Scalar.STRING), ["[" * 61 + "]" * 61, '[{"a"}]', '[{"a": 1 "b": 2}]', "[1 2]", "[,]"]),
    (Scalar.STRING, [r'"\ud800"', r'"\udc00"', r'"\ud800\u0041"', r'"\x"', r'"\u00g0"', '"a\tb"', "1", '"']),
    (Scalar.BOOLEAN, ["1", "True", "tru", "fals", "nul", '"true"']),
    (Scalar.TIMESTAMP, ['"2026-01-02"', '"2026-01-02T03:04Z"', '"2026-02-29T00:00:00Z"',
                        '"2026-13-01T00:00:00Z"', '"2026-01-02T24:00:00Z"',
                        '"2026-01-02T00:00:60Z"', '"1699-01-02T00:00:00Z"', "1",
                        '"2026-01-02T00:00:00.Z"', '"2026-01-02T00:00:00.1234567890Z"',
                        '"1969-12-31T23:59:59Z"',
                        '"2026-01-02T00:00:00+24:00"', '"2026-01-02T00:00:00Z', '"2026-01-02t00:00:00Z"']),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "values"), HANDED_BACK, ids=[str(type_) for type_, _ in HANDED_BACK])
def test_what_is_not_usual_is_left_to_the_other_reader(type_: Type, values: list[str]) -> None:
    assert taken(stream_of({"x": type_}, ("x",)), with_x(*values)) == []


def test_what_arrow_or_a_later_step_refuses_leaves_all_to_the_other_reader() -> None:
    assert taken(stream_of({"x": Scalar.DURATION}), with_x('"PT1S"', '"PT"', '"PT2S"')) == []
    assert taken(stream_of({"x": ListOf(Scalar.LONG)}), with_x("[1]", '["1"]', "[2]")) == []
    assert taken(stream_of({"x": ListOf(Scalar.DECIMAL)}), with_x("[1]", "[2]")) == []


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(-1e300, 1e300), min_size=1), st.integers(1, 17))
def test_doubles_are_exact(values: list[float], digits: int) -> None:
    texts = [text for value in values for text in (repr(value), f"{value:.{digits}g}", f"{value:.{digits}f}")]
    found = by_kernel(decoder(stream_of({"x": Scalar.DOUBLE})), "\n".join(with_x(*texts)).encode())
    expected = [float(text) for text in texts]
    read = found.events.table.column("x").to_pylist()
    assert [(value, math.copysign(1, value)) for value in read] == [
        (v, math.copysign(1, v)) for v in expected
    ]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10**19), st.integers(-64, 64)), min_size=1, max_size=200))
def test_doubles_of_many_digits_are_exact(numbers: list[tuple[int, int]]) -> None:
    # Half way between two doubles, where the last digit decides.
    middles = [(2**53 + 2 * n % 2**53 + 1, 0) for n, _ in numbers]
    texts = [f"{digits}e{power}" for digits, power in [*numbers, *middles]]
    found = by_kernel(decoder(stream_of({"x": Scalar.DOUBLE})), "\n".join(with_x(*texts)).encode())
    assert found.events.table.column("x").to_pylist() == [float(text) for text in texts]


@pytest.mark.slow
def test_every_day_is_its_own() -> None:
    days = pa.array(range(-98_615, 84_370), pa.int32()).cast(pa.date32())
    texts = [f'"{day}T12:00:00Z"' for day in days.cast(pa.string()).to_pylist()]
    assert (texts[0][1:5], texts[-1][1:5]) == (str(FIRST_YEAR), str(LAST_YEAR))
    noon = [f'{{"eid":"e","at":{text}}}' for text in texts]
    found = by_kernel(decoder(stream_of({})), "\n".join(noon).encode())
    expected = [(day * 24 + 12) * 3600 * 10**9 for day in range(-98_615, 84_370)]
    assert found.events.table.column("@time").to_pylist() == expected


def test_bytes_of_nothing_are_no_date() -> None:
    lines = [line.replace("?", "\0" * 10) for line in with_x('"?T00:00:00Z"', '"2026-01-01T00:00:00Z"')]
    assert taken(stream_of({"x": Scalar.TIMESTAMP}), lines) == [1]


def test_bytes_that_are_no_utf8_spoil_their_own_line_only() -> None:
    good, wrong = with_x('"é"')[0].encode(), with_x('"?"')[0].encode().replace(b"?", b"\xff")
    found = assert_same(decoder(stream_of({"x": Scalar.STRING})), b"\n".join([good, wrong, good, good]))
    assert len(found.dead) == 1
    assert found.events.table.num_rows == 3


def test_columns_of_more_texts_than_there_is_room_for_come_in_parts() -> None:
    lines = [json.dumps({**BASE, "x": str(n) * (n % 50)}) for n in range(500)]
    using = decoder(stream_of({"x": Scalar.STRING}))
    with patch("cep.decode.kernel_reader.POOL", 1000):
        assert_same(using, "\n".join(lines).encode())


def test_records_may_be_set_aside() -> None:
    using = decoder(stream_of({"x": Scalar.LONG}))
    lines = "\n".join(with_x(*map(str, range(100)))).encode()
    letter = by_reader(using, b"{}").dead[0]
    using = replace(using, aside=lambda records: dict.fromkeys(range(0, len(records.offsets), 3), letter))
    assert assert_same(using, lines).events.table.num_rows == 66


@pytest.mark.slow
@pytest.mark.parametrize(
    "type_", [type_ for type_ in FIELDS.values() if not isinstance(type_, ListOf)], ids=str
)
def test_a_block_may_end_anywhere(type_: Type) -> None:
    stream = stream_of({name: of for name, of in FIELDS.items() if of == type_}, tuple(FIELDS))
    line = json.dumps({**BASE, "z": 1}).encode()
    for length in range(200):
        assert_same(decoder(stream), (line + b"\n" + line)[:length])


def test_where_kernels_are_loaded_it_comes_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    load_strings()
    monkeypatch.setattr(patience, "_LEFT", patience._Patience())
    half = patience.PATIENCE // LOADED // 2
    assert kernel_for(half) is None
    assert kernel_for(half + LOADED) == load()
    assert kernel_for(SMALLEST - 1) is None


@pytest.mark.slow
def test_numba_is_imported_only_where_there_is_much_to_read() -> None:
    program = (
        "import sys\n"
        "from decoding import stream_of\n"
        "from cep.decode import decoder\n"
        'data = b\'{"eid": "e", "at": "2026-01-01T00:00:00Z"}\\n\' * 200_000\n'
        "using = decoder(stream_of({}))\n"
        "loaded = []\n"
        f"for _ in range({PATIENCE} // len(data) + 1):\n"
        "    loaded.append('numba' in sys.modules)\n"
        "    assert using.decode_block(data, 'a.jsonl', 0, 's').events.table.num_rows == 200_000\n"
        "assert not any(loaded) and 'numba' in sys.modules, loaded\n"
    )
    here = Path(__file__).parent
    path = f"{here}{os.pathsep}{here.parents[1]}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
