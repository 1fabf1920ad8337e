"""Keys of objects: what stood between two values the last time is expected to stand there again.

Only where it does not is the text read as JSON, the key looked up, and what stands there now remembered, so
that keys which are left out, or come in another order, cost only themselves.
"""

from __future__ import annotations

from cep.decode.kernel.intrinsics import WIDTH, byte_at, differences, put_byte, stops_at
from cep.decode.kernel.layout import FOLLOWER, GAP, LENGTH, NAME, NAME_END, NAMED, SLOTS, Data, Keys, of
from kernels.family import inlined
from kernels.instructions import trailing_zeros

QUOTE, COLON, SPACE, TAB = 0x22, 0x3A, 0x20, 0x09


@inlined
def behind_blanks(data: Data, at: int) -> int:
    """The first place from here on that is no blank of a line."""
    while byte_at(data, at) == SPACE or byte_at(data, at) == TAB:
        at += 1
    return at


@inlined
def stands_at(data: Data, at: int, slot: int, keys: Keys) -> bool:
    """True if what is remembered of a slot stands at a place."""
    length = keys.slots[of(slot, LENGTH)]
    if trailing_zeros(differences(data, at, keys.gaps, slot * GAP)) < length:
        return False
    if length <= WIDTH:
        return True
    rest = differences(data, at + WIDTH, keys.gaps, slot * GAP + WIDTH)
    return bool(trailing_zeros(rest) >= length - WIDTH)


@inlined
def is_called(data: Data, name: int, length: int, slot: int, keys: Keys) -> bool:
    """True if the key of a slot stands at a place."""
    begin, end = keys.slots[of(slot, NAME)], keys.slots[of(slot, NAME_END)]
    if end - begin != length:
        return False
    same = 0
    while same < length and byte_at(keys.names, begin + same) == byte_at(data, name + same):
        same += 1
    return same == length


@inlined
def slot_of(data: Data, name: int, length: int, keys: Keys) -> int:
    """The slot of a key, a new one if there is room, else that of all others."""
    hashed = length
    for place in range(name, name + length):
        hashed = (hashed ^ byte_at(data, place)) * 16_777_619 & 0xFFFFFFFF
    last = len(keys.table) - 1
    entry = hashed & last
    while keys.table[entry] >= 0:
        known: int = keys.table[entry]
        if is_called(data, name, length, known, keys):
            return known
        entry = (entry + 1) & last
    slot: int = keys.counts[SLOTS]
    begin: int = keys.counts[NAMED]
    others = len(keys.gaps) // GAP - 2
    if slot >= others or begin + length > len(keys.names):
        return others
    for place in range(length):
        put_byte(keys.names, begin + place, byte_at(data, name + place))
    keys.table[entry] = slot
    keys.slots[of(slot, NAME)], keys.slots[of(slot, NAME_END)] = begin, begin + length
    keys.counts[SLOTS], keys.counts[NAMED] = slot + 1, begin + length
    return slot


def key_at(data: Data, begin: int, previous: int, keys: Keys) -> tuple[int, int]:
    """The slot of the key that begins here, behind `{` or a comma, and the place of its value, or -1.

    Both are remembered, for the next time behind the slot `previous`.
    """
    at = behind_blanks(data, begin)
    if byte_at(data, at) != QUOTE:
        return 0, -1
    name = at = at + 1
    found = stops_at(data, at)
    while found == 0:
        at += WIDTH
        found = stops_at(data, at)
    at += trailing_zeros(found)
    if byte_at(data, at) != QUOTE:
        return 0, -1
    slot = slot_of(data, name, at - name, keys)
    at = behind_blanks(data, at + 1)
    if byte_at(data, at) != COLON:
        return 0, -1
    at = behind_blanks(data, at + 1)
    if slot < len(keys.gaps) // GAP - 2:
        keys.slots[of(previous, FOLLOWER)] = slot
        if at - begin <= GAP:
            keys.slots[of(slot, LENGTH)] = at - begin
            for place in range(at - begin):
                put_byte(keys.gaps, slot * GAP + place, byte_at(data, begin + place))
    return slot, at
