"""Groups of strict sequences: rules whose runs are kept and moved as sets (kernel.strict).

Rules of a group see the same streams and take the same values out of an event, so that what is kept of an
event serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cep.operators.patterns.compile.automaton import State, Transition
from cep.operators.patterns.compile.comparisons import comparison, sources
from cep.operators.patterns.compile.ladders import ladders
from cep.operators.patterns.compile.pattern_plan import PatternPlan
from cep.operators.patterns.compile.program import TEXT, kind_of
from cep.operators.patterns.compile.tables import Tables
from cep.operators.patterns.kernel import bytecode, strict_layout, tables
from cep.operators.patterns.kernel.layout import BITS, NONE

Ints = npt.NDArray[np.int64]
MOST_STEPS = 8
"""Steps of a rule that joins a group: of every key a group keeps the last events of its longest rule."""


@dataclass(frozen=True, slots=True)
class Masks:
    """Sets that the atoms of a stream add to those of an event (fit_events): where the rows of each atom
    begin, and the rows; and for each four atoms what those of them that are true add together."""

    firsts: Ints
    rows: Ints
    halves: Ints


@dataclass(frozen=True, slots=True)
class StrictGroup:
    """Rules by number, rising, which is their place in sets; what the kernel needs of them (StrictRules).

    A key's last `depth` events are kept, of each the values of `columns`; `texts` are those of them that
    name texts. `masks` are by stream.
    """

    rules: Ints
    depth: int
    arrays: strict_layout.StrictRules
    texts: tuple[int, ...]
    masks: Mapping[str, Masks]

    @property
    def words(self) -> int:
        """The numbers that a set of its rules takes."""
        return words(len(self.rules))

    @property
    def columns(self) -> Ints:
        """The columns of its rules whose values are kept of an event."""
        return self.arrays.columns


def words(rules: int) -> int:
    """The numbers that a set of so many rules takes."""
    return -(-rules // BITS)


def steps_of(rule: PatternPlan) -> int | None:
    """The number of steps of a strict sequence; None: the rule is none, or needs more than sets can say."""
    found = rule.tables
    states, body = found.automaton.states, rule.body
    count = len(states) - 1
    codes = _updates(found, count)
    if (
        not 2 <= count <= MOST_STEPS
        or body.on_timeout is not None
        or body.having is not None
        or body.within == 0
        or body.limit < count
        or found.automaton.counters
        or found.outside
        or found.look_backs
        or len(found.columns) > BITS
        or any(column.back for column in found.columns)
        or not all(_is_step(states[n], n) for n in range(count))
        or states[count] != State((Transition("end"),))
        # These alone can overflow, which is counted by rule.
        or any(code[0] in (bytecode.SUM_I, bytecode.SUM_F) for of_edge in codes for code in of_edge)
    ):
        return None
    return count


def _is_step(state: State, number: int) -> bool:
    """True if a state waits for one event of the step of its number, and from the second on for the next."""
    sign = state.transitions[0].sign if state.transitions else "->"
    plain = Transition("option", step=number, sign=sign, target=number + 1, edge=number)
    return state.items == (plain,) and (sign == "=>" or number == 0)


def strict_groups(
    rules: Sequence[PatternPlan], blocks: Ints, constants: Ints, atoms: Mapping[str, int]
) -> tuple[StrictGroup, ...]:
    """The groups of a space's rules. `blocks` name the columns of each, `constants` say where those of each
    begin, `atoms` how many each stream has."""
    found: dict[object, list[int]] = {}
    for number, rule in enumerate(rules):
        if (count := steps_of(rule)) is not None:
            taken = _updates(rule.tables, count)
            changes = tuple((edge, codes) for edge, codes in enumerate(taken[:-1]) if codes)
            name = (rule.body.streams, int(blocks[number]), _registers(rule.tables), changes)
            found.setdefault(name, []).append(number)
    return tuple(_group(rules, numbers, constants, atoms) for numbers in found.values())


def _registers(of: Tables) -> tuple[int, ...]:
    """Where registers lie in an alternative's row, and which are null at first."""
    nulls, values, size, initial = (
        int(of.array[at]) for at in (tables.H_NULLS, tables.H_VALUES, tables.H_ALT, tables.H_INITIAL)
    )
    return (nulls, values, size, *of.array[initial : initial + values - nulls].tolist())


def _updates(of: Tables, edges: int) -> list[tuple[tuple[int, ...], ...]]:
    """By edge the updates of registers."""
    places = of.updates.reshape(-1, 2)[:edges].tolist()
    return [tuple(map(tuple, _codes(of.array, at, length))) for at, length in places]


def _codes(array: Ints, at: int, length: int) -> list[list[int]]:
    size = bytecode.INSTRUCTION
    codes: list[list[int]] = array[at : at + length * size].reshape(-1, size).tolist()
    return codes


def _group(
    rules: Sequence[PatternPlan], numbers: Sequence[int], constants: Ints, atoms: Mapping[str, int]
) -> StrictGroup:
    plans = [rules[number] for number in numbers]
    counts = [len(rule.tables.automaton.states) - 1 for rule in plans]
    most = max(counts)
    longest = plans[counts.index(most)].tables
    writer = _Writer(longest, most)
    free, last = (np.zeros((most, words(len(plans))), np.int64) for _ in range(2))
    programs = np.zeros((len(plans), most, 2), np.int64)
    comparisons = np.zeros((len(plans), most, strict_layout.COMPARISON), np.int64)
    taken = sources(_updates(longest, most))
    for place, (rule, number, count) in enumerate(zip(plans, numbers, counts, strict=True)):
        word, bit = place // BITS, 1 << place % BITS
        last[count - 1, word] |= bit
        for step in range(count):
            codes = _with_constants(_codes_of(rule.tables, step), int(constants[number]))
            programs[place, step] = writer.program(codes)
            comparisons[place, step] = comparison(codes, taken, step)
            if not programs[place, step, 1]:
                free[step, word] |= bit
    own = [
        (count, -1 if rule.body.within is None else rule.body.within, _keeps(rule.tables, count))
        for rule, count in zip(plans, counts, strict=True)
    ]
    columns = sorted({code[2] for codes in _updates(longest, most)[:-1] for code in codes if code[2] >= 0})
    alone, rows, firsts, rungs = _climbed(plans, counts, programs, last & 0)
    arrays = strict_layout.StrictRules(
        np.array(writer.content, np.int64), np.array(own, np.int64).ravel(), programs.ravel(),
        comparisons.ravel(), np.array(writer.updates, np.int64).ravel(), free.ravel(), last.ravel(),
        np.array(columns, np.int64), _places_among(columns, len(longest.columns)), alone.ravel(), rows,
        firsts, rungs,
    )  # fmt: skip
    return StrictGroup(
        rules=np.array(numbers, np.int64),
        depth=most - 1,
        arrays=arrays,
        texts=tuple(
            n for n, column in enumerate(columns) if kind_of(longest.columns[column].expression.type) == TEXT
        ),
        masks={
            name: _masks(plans, name, atoms[name], words(len(plans)), free.size)
            for name in plans[0].body.streams
        },
    )


def _places_among(columns: Sequence[int], count: int) -> Ints:
    """Of so many columns the places among some; NONE: it is none of them."""
    found = np.full(count, NONE, np.int64)
    found[list(columns)] = np.arange(len(columns))
    return found


def _climbed(
    rules: Sequence[PatternPlan], counts: Sequence[int], programs: Ints, alone: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """The sets of the rules on no ladder, added to `alone`; ladders, by step where theirs begin, rungs."""
    rows: list[int] = []
    rungs: list[int] = []
    firsts = [0]
    for step, of_step in enumerate(alone):
        codes = [
            (_codes_of(rule.tables, step), rule.tables.constants) if step < count else ((), ())
            for rule, count in zip(rules, counts, strict=True)
        ]
        left = {place for place, (code, _) in enumerate(codes) if code}
        for ladder in ladders(codes, strict_layout.FEW):
            rows += [len(rungs), len(ladder.rungs)]
            standing = np.zeros(len(of_step), np.int64)
            for places in ladder.rungs:
                _add(standing, places)
                left -= set(places)
                where = (places[0] * programs.shape[1] + step) * strict_layout.COMPARISON
                rungs += [*programs[places[0], step].tolist(), where, *standing.tolist()]
        _add(of_step, sorted(left))
        firsts.append(len(rows))
    return alone, np.array(rows, np.int64), np.array(firsts, np.int64), np.array(rungs, np.int64)


def _add(to: Ints, places: Sequence[int]) -> None:
    """Add rules to a set."""
    for place in places:
        to[place // BITS] |= 1 << place % BITS


def _codes_of(of: Tables, step: int) -> list[list[int]]:
    """The condition over earlier events of a step."""
    state = int(of.array[tables.H_STATES]) + step * tables.STATE
    transition = int(of.array[state + tables.S_TRANSITION])
    at, length = (int(of.array[transition + n]) for n in (tables.F_PROGRAM, tables.F_LENGTH))
    return _codes(of.array, at, length)


def _with_constants(codes: list[list[int]], first: int) -> list[list[int]]:
    """A condition whose rule's constants begin at a place."""
    return [[code[0], code[1] + first * (code[0] == bytecode.CONSTANT), *code[2:]] for code in codes]


class _Writer:
    """Writes the tables of a group: registers as its rules have them, updates, and programs."""

    def __init__(self, of: Tables, edges: int) -> None:
        nulls, values, size, *initial = _registers(of)
        self.content = [0] * tables.HEAD + initial
        for at, value in (
            (tables.H_NULLS, nulls), (tables.H_VALUES, values), (tables.H_ALT, size),
            (tables.H_INITIAL, tables.HEAD),
        ):  # fmt: skip
            self.content[at] = value
        # What a last event changes nobody reads.
        self.updates = [self.program(codes) for codes in [*_updates(of, edges)[:-1], ()]]

    def program(self, codes: Sequence[Sequence[int]]) -> tuple[int, int]:
        """Write a condition, or updates; the place and the length."""
        at = len(self.content)
        self.content += [number for code in codes for number in code]
        return at, len(codes)


def _keeps(of: Tables, count: int) -> int:
    """The states up to which runs go on when one of their key is a match (rules' `skip`)."""
    to = int(of.array[tables.H_SKIP])
    if to == tables.SKIP_PAST_LAST:
        return 0
    if to in (tables.SKIP_TO_NEXT, tables.SKIP_NONE):
        return count
    named = np.flatnonzero(of.edges[:count] == of.array[tables.H_SKIP_STEP])
    if not len(named):
        return count
    # A run that has taken s events began with the last but s - 1 of those of the match.
    return count - int(named[0] if to == tables.SKIP_TO_FIRST else named[-1])


def _masks(rules: Sequence[PatternPlan], stream: str, atoms: int, size: int, width: int) -> Masks:
    found: list[dict[int, int]] = [{} for _ in range(atoms)]
    for place, atom, step in _fitting(rules, stream):
        word = step * size + place // BITS
        found[atom][word] = found[atom].get(word, 0) | 1 << place % BITS
    rows = [row for of_atom in found for row in sorted(of_atom.items())]
    firsts = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(of) for of in found], dtype=np.int64)))
    bits = np.arange(strict_layout.HALF)
    halves = np.zeros((2 * -(-atoms // 8), strict_layout.HALF, width), np.int64)
    for atom, of_atom in enumerate(found):
        for word, mask in of_atom.items():
            halves[atom // 4, bits & (8 >> atom % 4) != 0, word] |= mask
    return Masks(firsts, np.array(rows, np.int64).ravel(), halves.ravel())


def _fitting(rules: Sequence[PatternPlan], stream: str) -> Iterator[tuple[int, int, int]]:
    """Place of a rule, atom, and the step that events of the stream may be of which the atom is true."""
    for place, rule in enumerate(rules):
        for step in range(len(rule.tables.automaton.states) - 1):
            if stream in rule.places[step]:
                yield place, rule.places[step][stream], step
