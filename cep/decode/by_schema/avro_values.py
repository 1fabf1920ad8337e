"""The bytes of an Avro record to its values, by a plan (Avro 1.12, "Binary Encoding").

Strict: all bytes have to be used, numbers to fit their types, blocks to have the size that they say. What
nobody reads is passed over, and has to be as right, but for its texts.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from cep.decode.by_schema.avro_leaves import Leaf, converted
from cep.decode.by_schema.avro_resolution import (
    ChoicePlan,
    FieldsPlan,
    ItemsPlan,
    PairsPlan,
    Plan,
    Unread,
)
from cep.decode.malformed import Malformed

DEEPEST = 100
"""Values in one another, at most."""
MOST_VALUES, PER_BYTE = 100_000, 64
"""Values that a record may have, and so many more for each of its bytes: records may hold others that hold
nothing, each twice as many as those within."""


def values(plan: FieldsPlan, data: bytes, begin: int) -> dict[str, Any]:
    """The values of the record that begins at a place and ends with the data, by the reader's names.

    Raises Malformed, which names the field.
    """
    cursor = _Cursor(data, begin)
    try:
        found = cursor.fields(plan, 0)
    except _WrongError as error:
        said = f"`{error.path}`: {error.why}" if error.path else error.why
        raise Malformed(f"{said} (byte {cursor.at} of the value)") from None
    if cursor.at < len(data):
        raise Malformed(
            f"{len(data) - cursor.at:,} bytes follow the record: it was written by another schema"
        )
    return found


class _WrongError(Exception):
    """A mistake of a value, and its place in the record, from within outwards."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.path = ""

    def inside(self, name: str) -> _WrongError:
        """The same, within a field of a name or an item."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{name}{dot}{self.path}"
        return self


@dataclass(slots=True)
class _Cursor:
    """A place in bytes; `items` are those of all arrays and maps so far, `values` all that were looked at."""

    data: bytes
    at: int
    items: int = 0
    values: int = 0

    def fields(self, plan: FieldsPlan, depth: int) -> dict[str, Any]:
        """The values that are read of a record."""
        found = dict(plan.defaults)
        for number, (name, inner) in enumerate(plan.entries):
            try:
                value = self.value(inner, depth + 1, read=bool(name))
            except _WrongError as error:
                raise error.inside(name or f"(field {number + 1})") from None
            if name:
                found[name] = value
        return found

    def value(self, plan: Plan, depth: int, *, read: bool) -> Any:
        """A value; something else where it is not read."""
        if depth > DEEPEST:
            raise _WrongError(f"more than {DEEPEST} values in one another")
        self.values += 1
        if self.values > MOST_VALUES + PER_BYTE * len(self.data):
            raise _WrongError("its schema has too many values in it that take no bytes")
        match plan:
            case Leaf():
                raw = self._raw(plan)
                try:
                    return converted(plan, raw) if read else None
                except Malformed as error:
                    raise _WrongError(error.reason) from None
            case FieldsPlan():
                return self.fields(plan, depth)
            case ChoicePlan(branches):
                chosen = self._long()
                if not 0 <= chosen < len(branches):
                    raise _WrongError(f"its union has no branch {chosen}")
                return self.value(branches[chosen], depth + 1, read=read)
            case ItemsPlan(element):
                return self._items(element, depth, read=read)
            case PairsPlan(value):
                self._pairs(value, depth)
                return None
            case Unread(why):
                raise _WrongError(why)

    def _raw(self, plan: Leaf) -> Any:
        match plan.written:
            case "null":
                return None
            case "boolean":
                byte = self._bytes(1)[0]
                if byte > 1:
                    raise _WrongError(f"{byte} is no boolean")
                return byte == 1
            case "int":
                number = self._long()
                if not -(1 << 31) <= number < 1 << 31:
                    raise _WrongError(f"{number} does not fit into 32 bits")
                return number
            case "long":
                return self._long()
            case "float":
                return struct.unpack("<f", self._bytes(4))[0]
            case "double":
                return struct.unpack("<d", self._bytes(8))[0]
            case "fixed":
                return self._bytes(plan.size)
            case "enum":
                number = self._long()
                if not 0 <= number < len(plan.symbols):
                    raise _WrongError(f"its enum has no symbol {number}")
                symbol = plan.symbols[number]
                if symbol is None:
                    raise _WrongError(
                        f"the reader's schema does not know symbol {number} of the writer's enum"
                    )
                return symbol
            case _:
                return self._bytes(self._long())

    def _items(self, element: Plan, depth: int, *, read: bool) -> list[Any]:
        found: list[Any] = []
        while count := self._block():
            until = self._size() if count < 0 else None
            for _ in range(abs(count)):
                try:
                    found.append(self.value(element, depth + 1, read=read))
                except _WrongError as error:
                    raise error.inside(f"[{len(found)}]") from None
            self._ends(until)
        return found

    def _pairs(self, value: Plan, depth: int) -> None:
        while count := self._block():
            until = self._size() if count < 0 else None
            for _ in range(abs(count)):
                self._bytes(self._long())
                self.value(value, depth + 1, read=False)
            self._ends(until)

    def _block(self) -> int:
        """The number of items in a block, below 0 where its size follows.

        A record has no more items than bytes, so that one of a few bytes is not read for hours.
        """
        count = self._long()
        self.items += abs(count)
        if self.items > len(self.data):
            raise _WrongError(f"it says that it has {self.items:,} items, more than the value has bytes")
        return count

    def _size(self) -> int:
        """Where a block ends that says its size."""
        return self._long() + self.at

    def _ends(self, until: int | None) -> None:
        if until is not None and until != self.at:
            raise _WrongError("a block has another size than it says")

    def _bytes(self, count: int) -> bytes:
        if not 0 <= count <= len(self.data) - self.at:
            raise _WrongError(f"it says that it has {count:,} bytes, {len(self.data) - self.at:,} are left")
        found = self.data[self.at : self.at + count]
        self.at += count
        return found

    def _long(self) -> int:
        """A number of 64 bits, the sign in the lowest."""
        value = shift = 0
        while True:
            if self.at >= len(self.data):
                raise _WrongError("the value ends here")
            byte = self.data[self.at]
            self.at += 1
            if shift == 63 and byte > 1:
                raise _WrongError("a number has more than 64 bits")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)
            shift += 7
