"""Random blocks of CSV for random streams: as feeds write them, and damaged in all ways."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from decoding import stream_of
from json_blocks import FIELDS, HABITS, Block, Writer, damaged, random_feed

from rules.types import Scalar, Type

CELLS = [
    "", '""', '"x"', '"x,y;z"', '"a""b"', 'a"b', '"a"b', '"', " ", " x ", "null", "NULL", "NaN", "true",
    "TRUE", "1", "0", "007", "-0", "+1", " 1", "1 ", "1.5", "1.", ".5", "1e3", "1E400", "0x1F", "inf",
    "9223372036854775808", "2026-01-02", "2026-01-02T03:04:05Z", "2026-02-29T00:00:00Z",
    '"2026-01-02T03:04:05Z"', '"1"', "PT5M", "é€😀", "0.1234567890123456789", "12345678901234567890",
    "long " * 20, '"' + "x," * 20 + '"', "a\tb", "a\0b", "a\rb", '"two\nlines"', "1577836800.25",
    "-9223372036854775808", "[1]",
]  # fmt: skip


def random_csv(random: Random) -> Block:
    """A block of up to some hundred records of a random stream, without a header."""
    scalars = sorted((name, type_) for name, type_ in FIELDS.items() if isinstance(type_, Scalar))
    fields = dict(random.sample(scalars, random.randint(1, len(scalars))))
    nullable = tuple(name for name in fields if random.random() < 0.5)
    stream = stream_of(fields, nullable, random.choice([("eid",), None]))
    feed = replace(random_feed(random, ()), header=False, delimiter=random.choice([",", ",", ";", "\t", "|"]))
    writer, habits = Writer(random, stream, feed, HABITS[0]), random.choice(HABITS)
    lines = []
    for _ in range(random.choice([1, 20, 200])):
        cells = [
            random.choice(CELLS)
            if random.random() < habits.strange
            else cell(writer, field.type, field.nullable)
            for field in stream.fields
        ]
        if random.random() < habits.strange / 4:
            cells = random.choice([cells[1:], [*cells, "more"], [""], []])
        line = feed.delimiter.join(cells).encode()
        lines.append(damaged(random, line) if random.random() < habits.damaged else line)
    newline = random.choice([b"\n", b"\n", b"\r\n"])
    return Block(stream, feed, newline.join(lines) + random.choice([b"", newline]))


def cell(writer: Writer, type_: Type, nullable: bool) -> str:
    """A cell that a field of a type may have."""
    random = writer.random
    if nullable and random.random() < 0.2:
        return random.choice(["", "", '""'])
    if type_ in (Scalar.STRING, Scalar.TEXT):
        text = "".join(random.choice("abé€😀 ") for _ in range(random.choice([1, 3, 10, 33, 70])))
        return f'"{text}{writer.feed.delimiter}{text}"' if random.random() < 0.2 else text
    written = writer.usual(type_)
    return written.strip('"') if random.random() < 0.9 else f'"{written.strip(chr(34))}"'
