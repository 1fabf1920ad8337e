"""Random blocks of JSON lines for random streams: as feeds write them, and damaged in all ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from decoding import stream_of

from cep.decode import FeedFormat
from rules.typed import Stream
from rules.types import ListOf, Record, Scalar, Type

FIELDS: dict[str, Type] = {
    "a": Scalar.STRING, "b": Scalar.LONG, "c": Scalar.DOUBLE, "d": Scalar.BOOLEAN, "t": Scalar.TIMESTAMP,
    "u": Scalar.DURATION, "x": Scalar.TEXT, "m": Scalar.DECIMAL, "l": ListOf(Scalar.STRING),
    "r": Record((("p", Scalar.LONG), ("q", Scalar.STRING)), frozenset({"q"})),
}  # fmt: skip
SPELLINGS = [
    "null", "true", "false", "0", "-1", "1.0", "1e3", "-0", "-0.0", "0.1", "9223372036854775807", "01",
    "1.", ".5", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "1E400", "1e-400",
    "NaN", "-Infinity", "0.30000000000000004", "1.7976931348623157e308", "5e-324",
    "2.2250738585072014e-308", "9007199254740993", "123456789012345678", "12345678901234567890",
    "0.1234567890123456789", "1e22", "1e23", "-", "+1", "tru", "nul", '"x"', '"1"', '"1.50"', '"-2.5"',
    '""', '"\\ud800"', '"\\udc00x"', '"\\u0041"', '"a\\nb\\"c\\\\\\/"', '"\\x"', '"\\ud83d\\ude00"',
    '"é€😀"', '"' + "long " * 20 + '"', '"' + "x" * 31 + '\\t"', "[]", "[1]", '["a", null]', "{}",
    '{"p": 1, "q": "z", "w": [1, {"k": "]"}]}', '{"q": null, "q": 1}', '"2020-02-30"', '"2020-02-28"',
    '"2020-01-01T00:00:00.123456789+05:30"', '"2020-01-01 00:00"', '"2020-02-29T23:59:59Z"', '"PT5M"',
    '"PT1.5S"', '"1900-02-29T00:00:00Z"', '"2020-12-31 23:59:59.5Z"', '"1969-12-31T23:59:59.999Z"',
    '"1500-01-01T00:00:00Z"', '"2020-01-01T00:00:00"', '"2020-01-01T00:00:00-23:59"',
    '"2020-01-01T00:00:60Z"', '"2020-01-01T24:00:00Z"', "1577836800", "1577836800.25", "1577836800.0000005",
    "1577836800123.4565", "1577836800123456789", "1e300",
]  # fmt: skip
EPOCHS = ("epoch_s", "epoch_ms", "epoch_us", "epoch_ns")
MARKS = b'{}[]",:\\ \t\r0123456789.-+eEtfnaZTu/\x00\x1f\x7f\xc3\xa9\xff'


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a stream's feed."""

    stream: Stream
    feed: FeedFormat
    data: bytes


@dataclass(frozen=True, slots=True)
class Habits:
    """How often, of 1, a line of a feed has its keys in another order, a value of any kind, and damage."""

    shuffled: float
    strange: float
    damaged: float


HABITS = (Habits(0, 0, 0), Habits(0.05, 0.02, 0.02), Habits(0.3, 0.2, 0.3))


def random_block(random: Random) -> Block:
    """A block of up to some hundred lines of a random stream."""
    fields = dict(random.sample(sorted(FIELDS.items()), random.randint(1, len(FIELDS))))
    nullable = tuple(name for name in fields if random.random() < 0.5)
    renamed = tuple((n, "S" + n * random.choice([1, 1, 30, 60, 80])) for n in fields if random.random() < 0.2)
    feed = random_feed(random, renamed)
    stream = stream_of(fields, nullable, random.choice([("eid",), None]))
    writer = Writer(random, stream, feed, random.choice(HABITS))
    newline = random.choice([b"\n", b"\n", b"\r\n"])
    lines = [writer.line() for _ in range(random.choice([1, 20, 200]))]
    data = newline.join(lines) + random.choice([b"", newline])
    return Block(stream, feed, data[: random.randrange(len(data) + 1)] if random.random() < 0.05 else data)


def random_feed(random: Random, renamed: tuple[tuple[str, str], ...]) -> FeedFormat:
    """A feed with times of any form."""
    return FeedFormat(
        fields=renamed,
        timestamps=random.choice(["iso", "iso", "iso", *EPOCHS, "%Y-%m-%d"]),
        zone=random.choice(["UTC", "UTC", "Europe/Berlin"]),
    )


class Writer:
    """Writes the lines of one feed, in its style."""

    def __init__(self, random: Random, stream: Stream, feed: FeedFormat, habits: Habits) -> None:
        self.random, self.stream, self.feed, self.habits = random, stream, feed, habits
        self.comma, self.colon = random.choice([",", ",", ", ", " , "]), random.choice([":", ": ", " : "])
        self.others = [f"e{n}" for n in range(random.choice([0, 1, 3, 3, 300]))]

    def line(self) -> bytes:
        """A line without its line end."""
        random = self.random
        fields = list(self.stream.fields)
        if random.random() < self.habits.shuffled:
            random.shuffle(fields)
        written = []
        for field in fields:
            value = self.value(field.type)
            if field.nullable and random.random() < 0.2:
                if random.random() < 0.5:
                    continue
                value = "null"
            written.append(json.dumps(self.feed.source(field.name)) + self.colon + value)
        for other in random.sample(self.others, min(len(self.others), random.randint(0, 3))):
            value = random.choice(SPELLINGS) if random.random() < self.habits.strange else self.nested()
            written.insert(random.randint(0, len(written)), json.dumps(other) + self.colon + value)
        line = ("{" + self.comma.join(written) + "}").encode("utf-8", "surrogatepass")
        if random.random() < self.habits.damaged:
            line = damaged(random, line)
        if random.random() < self.habits.strange / 4:
            line = random.choice(
                [b"", b"  ", b"\r", b"null", b"{}", b"[]", b" \t\r\r", line + line, b" " + line]
            )
        return line

    def value(self, type_: Type) -> str:
        """A value that a field of a type may have, or, at times, any other."""
        if self.random.random() < self.habits.strange:
            return self.random.choice([self.random.choice(SPELLINGS), self.number(), self.iso_time()])
        return self.usual(type_)

    def usual(self, type_: Type) -> str:
        """A value of a type."""
        random = self.random
        match type_:
            case Scalar.STRING | Scalar.TEXT:
                return self.text()
            case Scalar.LONG:
                return str(random.randint(-(10 ** random.randint(0, 18)), 10 ** random.randint(0, 18)))
            case Scalar.DOUBLE:
                return random.choice(
                    [repr(random.random()), f"{random.random() * 1000:.2f}", "17", self.number()]
                )
            case Scalar.DECIMAL:
                form = random.choice(["{}", "{}.5", '"{}.25"', "-{}.000000000000000001", "{}000000000"])
                return form.format(random.randint(0, 10 ** random.randint(0, 9)))
            case Scalar.BOOLEAN:
                return random.choice(["true", "false"])
            case Scalar.DURATION:
                return f'"PT{random.randint(0, 99)}S"'
            case ListOf(element):
                return "[" + ", ".join(self.usual(element) for _ in range(random.randint(0, 3))) + "]"
            case Record(fields):
                return "{" + ",".join(f'"{name}": {self.usual(part)}' for name, part in fields) + "}"
            case _:
                return self.time()

    def time(self) -> str:
        """A time as the feed writes it."""
        random, form = self.random, self.feed.timestamps
        if form == "iso":
            fraction = random.choice(["", ".5", ".123", ".123456", ".123456789"])
            day = f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
            return (
                f'"{day}T{random.randint(0, 23):02}:59:00{fraction}{random.choice(["Z", "Z", "", "+01:00"])}"'
            )
        if form not in EPOCHS:
            return f'"2026-01-{random.randint(1, 28):02}"'
        size = 2 * 10 ** (9 + 3 * EPOCHS.index(form))
        if form in EPOCHS[2:] or random.random() < 0.5:
            return str(random.randint(0, size))
        return random.choice([repr(random.random() * size), f"{random.randint(0, size)}.5"])

    def iso_time(self) -> str:
        """Something like a time of ISO 8601."""
        low: Callable[[int, int], str] = lambda least, most: f"{self.random.randint(least, most):02}"  # noqa: E731
        day = f"{low(1690, 2210)}-{low(0, 13)}-{low(0, 32)}"
        fraction = self.random.choice(["", ".", ".1", ".123456789", ".1234567890"])
        zone = self.random.choice(["Z", "", "+01:00", "-05:30", "+0100", "+24:00", "-00:60"])
        return f'"{day}{self.random.choice("TT t")}{low(0, 24)}:{low(0, 60)}:{low(0, 60)}{fraction}{zone}"'

    def number(self) -> str:
        """A number of JSON."""
        random = self.random
        fraction = "".join(random.choice("0123456789") for _ in range(random.randint(0, 22)))
        exponent = random.choice(["", "", f"e{random.randint(-400, 400)}", f"E+{random.randint(0, 30)}"])
        whole = random.randint(0, 10 ** random.randint(0, 25))
        return random.choice(["", "-"]) + str(whole) + (f".{fraction}" if fraction else "") + exponent

    def text(self) -> str:
        """A string."""
        random = self.random
        letters = random.choice(["ab c", "aé€😀", 'ab"\\/\n\t\0é😀'])
        text = "".join(random.choice(letters) for _ in range(random.choice([3, 10, 33, 70])))
        return json.dumps(text, ensure_ascii=random.random() < 0.5)

    def nested(self, depth: int = 0) -> str:
        """A value of a field that nobody reads."""
        random = self.random
        if depth > 3 or random.random() < 0.5:
            return random.choice(
                ["1", '"a]}"', '"\\"{"', "null", "true", "-1.5e3", '""', '"\\u00e9"', "[]", "{ }"]
            )
        parts = [self.nested(depth + 1) for _ in range(random.randint(0, 3))]
        if random.random() < 0.5:
            return "[" + random.choice([",", " , "]).join(parts) + "]"
        return "{" + ", ".join(f'"k{n}"{self.colon}{part}' for n, part in enumerate(parts)) + "}"


def damaged(random: Random, line: bytes) -> bytes:
    """A line with up to three bytes or parts changed, left out, doubled or put in."""
    data = bytearray(line)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if not data:
            break
        at = random.randrange(len(data))
        match random.choice(["other", "other", "less", "less", "more", "more", "again", "bit", "cut"]):
            case "other":
                data[at] = random.choice(MARKS)
            case "less":
                del data[at : at + random.choice([1, 1, 2, 5])]
            case "more":
                data[at:at] = bytes([random.choice(MARKS)])
            case "again":
                begin = random.randrange(len(data))
                data[at:at] = data[begin : begin + random.randint(1, 20)]
            case "bit":
                data[at] ^= 1 << random.randrange(8)
            case _:
                del data[at:]
    return bytes(data)
