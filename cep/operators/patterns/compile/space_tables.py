"""The tables of the rules of a key space, laid end to end; made once for a plan.

Rules are numbered in the order of their identities. Those whose alternatives take about as many numbers share
pools, and one call of the kernel runs them all (`cep.operators.patterns.kernel.batch.run_rules`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.batch.texts import as_text
from cep.operators.patterns.compile.interests import MANY, awaited
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.program import FLOAT, TEXT, kind_of
from cep.operators.patterns.compile.strict_groups import StrictGroup, strict_groups
from cep.operators.patterns.compile.tables import Tables
from cep.operators.patterns.kernel import layout
from cep.operators.patterns.kernel import tables as kernel_tables
from cep.plan.plan import ByStream, StreamPlan

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WidthClass:
    """The rules whose alternatives take at most `width` numbers: their numbers, rising, and a row of each.

    The rows are the kernel's (kernel.U_RULE and what follows) as far as the plan alone says what is in them;
    `tables` is the array that they point into.
    """

    width: int
    rules: Ints
    rows: Ints
    tables: Ints


@dataclass(frozen=True, slots=True)
class SpaceTables:
    """Everything that running a space needs of its rules and that no event changes.

    `atoms` says by stream where its atoms begin among the space's `atom_count`. `pairs` has a row for each
    place of a rule and atom that it is true by, rule after rule; `first_pairs` says where, and `begins` which
    of them may begin a run. `awaited` says by stream which atoms a run that has begun may wait for; others
    only begin runs. `constants` are those of all rules as 64 bits, but for the `texts` at
    `text_places`, which each shard numbers for itself. `blocks` are the different sequences of columns, one
    of which is each rule's. `registers` are those that hold texts (kernel.texts_of). `back` are the rules
    that look back (`prev`, `absent` first), `outside` those with conditions that no program expresses.
    `strict` are the groups of strict sequences, whose runs are kept as sets.
    """

    kind: ClassVar[str] = "match"
    rules: tuple[PatternPlan, ...]
    classes: tuple[WidthClass, ...]
    atoms: Mapping[str, int]
    atom_count: int
    first_pairs: Ints
    pairs: Ints
    begins: npt.NDArray[np.bool_]
    awaited: Mapping[str, Bools]
    first_constants: Ints
    constants: Ints
    text_places: Ints
    texts: pa.StringArray
    blocks: tuple[ByStream, ...]
    block_of_rule: Ints
    first_registers: Ints
    registers: Ints
    past_texts: Mapping[int, tuple[int, ...]]
    back: tuple[int, ...]
    outside: tuple[int, ...]
    most_places: int
    most_slots: int
    ranked: bool
    strict: tuple[StrictGroup, ...]

    @property
    def strict_rules(self) -> Ints:
        """The rules of all groups of strict sequences."""
        return np.concatenate([np.zeros(0, np.int64), *(group.rules for group in self.strict)])

    def tables(self, rule: int) -> Tables:
        """The tables of a rule."""
        return self.rules[rule].tables


def width_class(numbers: int) -> int:
    """The width of the rows for alternatives that take so many numbers: 8, 12, 16, 24, 32, 48, ..."""
    width = 8
    while width < numbers:
        width = width * 3 // 2 if width & (width - 1) == 0 else width // 3 * 4
    return width


def space_tables(rules: Iterable[PatternPlan], streams: Sequence[StreamPlan]) -> SpaceTables:
    """The tables of patterns of one space, whose streams are given."""
    ordered = tuple(sorted(rules, key=lambda rule: rule.identity))
    found = [rule.tables for rule in ordered]
    atoms, count = {}, 0
    for stream in streams:
        atoms[stream.stream] = count
        count += len(stream.atoms)
    pairs = [_pairs(rule, atoms) for rule in ordered]
    constants = [[_bits(kind, value) for kind, value in tables.constants] for tables in found]
    flat = [constant for tables in found for constant in tables.constants]
    texts = [(place, as_text(value)) for place, (kind, value) in enumerate(flat) if kind == TEXT]
    blocks = dict.fromkeys(_sequence(rule.columns) for rule in ordered)
    numbers = {block: number for number, block in enumerate(blocks)}
    registers = [list(_text_registers(tables)) for tables in found]
    first_pairs, first_constants = _firsts(pairs), _firsts(constants)
    block_of_rule = np.array([numbers[_sequence(rule.columns)] for rule in ordered], np.int64)
    atoms_of = {stream.stream: len(stream.atoms) for stream in streams}
    return SpaceTables(
        rules=ordered,
        classes=tuple(_classes(found, first_pairs, first_constants)),
        atoms=atoms,
        atom_count=count,
        first_pairs=first_pairs,
        pairs=_flat(pairs, 2),
        begins=np.array(
            [
                place in first
                for first, of in zip(map(_first_steps, found), pairs, strict=True)
                for place, _ in of
            ],
            bool,
        ),
        awaited=_awaited(ordered, streams),
        first_constants=first_constants,
        constants=np.array([bits for of in constants for bits in of], np.int64),
        text_places=np.array([place for place, _ in texts], np.int64),
        texts=pa.array([text for _, text in texts], pa.string()),
        blocks=tuple(tuple(dict(of) for of in block) for block in blocks),
        block_of_rule=block_of_rule,
        first_registers=_firsts(registers),
        registers=_flat(registers, 3),
        past_texts={n: columns for n, tables in enumerate(found) if (columns := _past_texts(tables))},
        back=tuple(
            n for n, tables in enumerate(found) if tables.look_backs or any(c.back for c in tables.columns)
        ),
        outside=tuple(n for n, tables in enumerate(found) if tables.outside),
        most_places=max(len(rule.places) for rule in ordered),
        most_slots=max(tables.slots for tables in found),
        ranked=any(tables.ranked for tables in found),
        strict=strict_groups(ordered, block_of_rule, first_constants, atoms_of),
    )


def _pairs(rule: PatternPlan, atoms: Mapping[str, int]) -> list[tuple[int, int]]:
    return [
        (place, atoms[stream] + bit) for place, bits in enumerate(rule.places) for stream, bit in bits.items()
    ]


def _first_steps(tables: Tables) -> set[int]:
    """The places of the steps that begin a run."""
    steps = {transition.step for transition in tables.automaton.states[0].transitions}
    return {step for step in steps if step is not None}


def _awaited(rules: Sequence[PatternPlan], streams: Sequence[StreamPlan]) -> dict[str, Bools]:
    found = {stream.stream: np.zeros(len(stream.atoms), bool) for stream in streams}
    for rule in rules:
        tables, places = rule.tables, awaited(rule.tables.automaton)
        # What looks back is about events that no run took, and a low limit is soon reached.
        always = tables.everything or bool(tables.look_backs) or tables.array[kernel_tables.H_LIMIT] < MANY
        for place, bits in enumerate(rule.places):
            for stream, bit in bits.items():
                found[stream][bit] |= always or place in places
    return found


def _sequence(columns: ByStream) -> tuple[tuple[tuple[str, int], ...], ...]:
    return tuple(tuple(of.items()) for of in columns)


def _classes(tables: Sequence[Tables], pairs: Ints, constants: Ints) -> Iterator[WidthClass]:
    by_width: dict[int, list[int]] = {}
    for number, of_rule in enumerate(tables):
        by_width.setdefault(width_class(of_rule.row_width), []).append(number)
    for width, numbers in sorted(by_width.items()):
        arrays = [tables[number].array for number in numbers]
        ends = np.cumsum([len(array) for array in arrays])
        rows = np.zeros((len(numbers), layout.RULE), np.int64)
        rules = np.array(numbers, np.int64)
        rows[:, layout.U_RULE] = rules
        rows[:, layout.U_TABLES] = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        rows[:, layout.U_TABLES_END] = ends
        rows[:, layout.U_CONSTANTS] = constants[rules]
        rows[:, layout.U_CONSTANTS_END] = constants[rules + 1]
        rows[:, layout.U_PAIRS] = pairs[rules]
        rows[:, layout.U_PAIRS_END] = pairs[rules + 1]
        yield WidthClass(width, rules, rows, np.concatenate(arrays))


def _bits(kind: int, value: object) -> int:
    """A constant as 64 bits; a text has none of its own."""
    if kind == FLOAT:
        return int(np.array([value], np.float64).view(np.int64)[0])
    return 0 if kind == TEXT else int(value)  # type: ignore[call-overload]


def _text_registers(tables: Tables) -> Iterator[tuple[int, int, int]]:
    """The registers that hold numbers of the dictionary: column of an alternative, its null word, its bit."""
    first, values = int(tables.array[kernel_tables.H_NULLS]), int(tables.array[kernel_tables.H_VALUES])
    for number, register in enumerate(tables.registers):
        if register.kind == TEXT:
            yield values + number, first + number // layout.BITS, number % layout.BITS


def _past_texts(tables: Tables) -> tuple[int, ...]:
    """Those of the columns that look back which hold numbers of the dictionary."""
    back = (column for column in tables.columns if column.back)
    return tuple(place for place, column in enumerate(back) if kind_of(column.expression.type) == TEXT)


def _firsts(parts: Sequence[Sequence[object]]) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum([len(part) for part in parts], dtype=np.int64)))


def _flat(parts: Sequence[Sequence[tuple[int, ...]]], columns: int) -> Ints:
    return np.array([row for part in parts for row in part], np.int64).reshape(-1, columns)
