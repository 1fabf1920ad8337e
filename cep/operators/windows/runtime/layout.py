"""What the words of a rule's windows mean (cep.operators.windows.runtime.window_rows).

An item is an event, or where `folded` a pane or a session. Its words:

    the time of its first event; of a session that of its last, too
    of a folded item the number of its events, with those of its packed words and of its newest events
    bits: of each slot whether it has a value, and the value of a boolean; of an event whether it is named
    the values of the slots: arguments of an event, accumulators of a folded item

Sums and lists of values stand packed behind the items. The numbers behind a head are those of each item's
newest events, and then for each item those of the events whose lists and records are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from cep.operators.windows.compile.readings import Kind
from cep.operators.windows.compile.shapes import Newest, Sessions
from cep.operators.windows.compile.window_plan import WindowPlan
from cep.operators.windows.runtime.columns import is_nested, is_text
from cep.operators.windows.runtime.lists import Wanted
from rules.types import Scalar, Type

SLOTS_A_WORD = 31
NAMED = 62
"""The bit of an event that is named."""
COUNT_BITS, LENGTH_BITS = 34, 22
"""Of the word with the number of events; above them stands that of the packed words, and of those named."""

_LISTED: Mapping[str, Wanted] = MappingProxyType({"distinct": "different", "percentile": "ordered"})


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of an item: that of an argument, or of an accumulator (`kind`; None: an argument)."""

    kind: Kind | Wanted | None
    argument: int | None
    type: Type | None

    @property
    def width(self) -> int:
        """The number of its words."""
        match self.kind:
            case "count" | "squares" | "different" | "ordered":
                return 0
            case "sum" | "true":
                return 1
            case _:
                return 0 if self.type is Scalar.BOOLEAN or self.nested else 1 + (self.type is Scalar.DECIMAL)

    @property
    def nested(self) -> bool:
        """True if its value is an event's number."""
        return self.type is not None and is_nested(self.type) and self.kind not in ("count", "true")

    @property
    def packed(self) -> bool:
        """True of sums and lists, which stand behind the items."""
        return self.listed or self.kind in ("sum", "squares")

    @property
    def decimals(self) -> bool:
        """True of lists whose values are decimals: of two words."""
        return self.kind == "different" and self.type is Scalar.DECIMAL

    @property
    def listed(self) -> bool:
        """True of lists of values."""
        return self.kind in ("different", "ordered")


@dataclass(frozen=True)
class Layout:
    """The layout of a rule."""

    plan: WindowPlan

    @cached_property
    def folded(self) -> bool:
        """True if several events become one item."""
        return not isinstance(self.plan.shape, Newest)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots."""
        types = tuple(one.type for one in self.plan.readings.arguments)
        if not self.folded:
            return tuple(Slot(None, number, type_) for number, type_ in enumerate(types))
        found = []
        for number, one in enumerate(self.plan.readings.accumulators):
            type_ = None if one.argument is None else types[one.argument]
            if one.kind != "values":
                found.append(Slot(one.kind, one.argument, type_))
                continue
            read = {r.function for r in self.plan.readings.readings if number in r.accumulators}
            found += [Slot(_LISTED[function], one.argument, type_) for function in sorted(read)]
        return tuple(found)

    @cached_property
    def has_last(self) -> bool:
        """True if the time of an item's last event is kept."""
        return self.folded and isinstance(self.plan.shape, Sessions)

    @cached_property
    def bits(self) -> int:
        """The column of the first word of bits."""
        return 1 + self.has_last + self.folded

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The column of the first word of each slot, and last the number of all."""
        words = max(-(-len(self.slots) // SLOTS_A_WORD), 1)
        found = [self.bits + words]
        for slot in self.slots:
            found.append(found[-1] + slot.width)
        return tuple(found)

    @property
    def width(self) -> int:
        """The number of an item's words."""
        return self.values[-1]

    @cached_property
    def nested(self) -> tuple[int, ...]:
        """The slots whose values are events' numbers."""
        return tuple(number for number, slot in enumerate(self.slots) if slot.nested)

    @cached_property
    def packed(self) -> tuple[int, ...]:
        """The slots that are packed sums."""
        return tuple(number for number, slot in enumerate(self.slots) if slot.packed)

    @cached_property
    def texts(self) -> tuple[int, ...]:
        """The slots whose values are texts."""
        return tuple(
            number
            for number, slot in enumerate(self.slots)
            if slot.type is not None and is_text(slot.type) and (slot.width or slot.kind == "different")
        )

    def bit(self, slot: int) -> tuple[int, int]:
        """The column and the place of a slot's bits."""
        return self.bits + slot // SLOTS_A_WORD, 2 * (slot % SLOTS_A_WORD)

    def number(self, kind: Kind | Wanted, argument: int | None) -> int:
        """The slot of what is kept of an argument."""
        if not self.folded:
            assert argument is not None
            return argument
        return next(n for n, slot in enumerate(self.slots) if (slot.kind, slot.argument) == (kind, argument))

    def has(self, kind: Kind, argument: int | None) -> bool:
        """True if that is kept of a folded item."""
        return any((slot.kind, slot.argument) == (kind, argument) for slot in self.slots)
