"""docs/functions.md from the tables of the language: `python -m rules.manual docs/functions.md` writes it.

What the elaborator checks is what the page says, because both read rules.functions and rules.operators.
`cep explain` prints the same from `entries`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rules.functions import (
    AGGREGATES,
    FUNCTIONS,
    NAVIGATION,
    OVER_WINDOWS,
    WINDOW_AGGREGATES,
    AggregateSignature,
    Signature,
)
from rules.operators import ARITHMETIC
from rules.types import Scalar, Type

_HEAD = """# Functions and operators

Every function, aggregate and operator of the [rule language](language.md), with the types that it takes and
gives. This page is written from the tables that `cep check` reads (`python -m rules.manual
docs/functions.md`), and its examples are run by the project's tests.
"""
_FUNCTIONS = """## Functions

A function is a name followed by `(`. Rules see no clock: there is no `now()`.
"""
_AGGREGATES = """## Aggregates

Over the events that a step took. Nulls are left out.
"""
_WINDOWS = """## Aggregates of windows

Over the events of a window, in `having` and `emit` of a rule with `over`. Nulls are left out. In place of a
field may stand any expression of one event: `sum(kind == "fee" ? amount : null)`.
"""
_EARLIER = """
`previous(aggregate)` is the same over the window before, `previous(aggregate, n)` over the `n` windows before
taken together, `ago(aggregate, 7 days)` over the window that long ago. They have the type of the aggregate;
`n` and the duration are constants.
"""
_NAVIGATION = """## Single events of a step, and before the candidate

| call | gives | null where |
| --- | --- | --- |
| `first(step.field)` | the value in the first event that the step took | it took nothing |
| `first(step.field, n)` | that of the n-th event after the first one | there are not so many |
| `last(step.field)` | the value in the last event that the step took | the step took nothing |
| `last(step.field, n)` | that of the n-th event before the last one | there are not so many |
| `prev(field)` | the value in the event before the candidate | there is none, or it is too old |
| `prev(field, n)` | that of the n-th event before the candidate | there are not so many |

They have the type of the field, which may be anything. `n` is a constant. `prev` stands only in conditions.
It counts all events of the key in the streams that the pattern names, taken or not, less than `within` old;
one of a stream without such a field has null.
"""
_OPERATORS = """## Arithmetic

Both sides are widened as the last column says, then give the result. What is not in the table is an error
([CEP0208](errors/CEP0208.md)): a double and a decimal meet only by `double(...)` or `decimal(...)`. What
does not fit its type, and a division by zero, is null.
"""


_STEPS, _PLACES, _WINDOWED, _TURNED = (
    "over the events that a step took",
    "single events of a step, and before the candidate",
    "over the events of a window",
    "over earlier windows",
)
_MEANINGS = {
    "first": "The value in the first event that the step took, or in the n-th one after it.",
    "last": "The value in the last event that the step took, or in the n-th one before it.",
    "prev": "The value in the event before the candidate, or in the n-th one before it. Only in conditions.",
    "previous": "The aggregate over the window before, or over the n windows before taken together.",
    "ago": "The aggregate over the window that long ago.",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A call of the language: its part of the page, its name and form, its meaning, facts by their labels."""

    section: str
    name: str
    shown: str
    meaning: str
    facts: tuple[tuple[str, str], ...]


def entries() -> Iterator[Entry]:
    """Every call of the language, section by section; some names have one for steps and one for windows."""
    for name, function in FUNCTIONS.items():
        examples = [("example", f"{call} is {value}") for call, value in function.examples]
        facts = (("gives", _result(function)), ("of null", function.of_null), *examples)
        yield Entry("of single values", name, function.shown, function.meaning, facts)
    yield from _aggregates(_STEPS, AGGREGATES)
    for name, shown in NAVIGATION.items():
        facts = (("gives", "the type of the field"), ("where there is none", "null"))
        yield Entry(_PLACES, name, shown, _MEANINGS[name], facts)
    yield from _aggregates(_WINDOWED, WINDOW_AGGREGATES)
    for name, shown in OVER_WINDOWS.items():
        yield Entry(_TURNED, name, shown, _MEANINGS[name], (("gives", "the type of the aggregate"),))


def _aggregates(section: str, known: Mapping[str, AggregateSignature]) -> Iterator[Entry]:
    for name, one in known.items():
        facts = (("over", _over(one)), ("gives", _given(one)), ("of no events", one.of_none))
        yield Entry(section, name, one.shown, one.meaning, facts)


def functions_page() -> str:
    """The whole page, as Markdown."""
    sections = (
        [_HEAD],
        [_FUNCTIONS, *_table("function", "gives", "meaning", "of null"), *map(_function, FUNCTIONS.values())],
        ["", *_table("example", "gives"), *_examples()],
        ["", _AGGREGATES, *_table("aggregate", "over", "gives", "meaning", "of no events")],
        [_aggregate(signature) for signature in AGGREGATES.values()],
        ["", _WINDOWS, *_table("aggregate", "over", "gives", "meaning", "of no events")],
        [_aggregate(signature) for signature in WINDOW_AGGREGATES.values()],
        [_EARLIER, _NAVIGATION],
        [_OPERATORS, *_table("left", "", "right", "gives", "after"), *_arithmetic()],
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _table(*heads: str) -> list[str]:
    return [_row(*heads), _row(*["---"] * len(heads))]


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _function(signature: Signature) -> str:
    return _row(f"`{signature.shown}`", _result(signature), signature.meaning, signature.of_null)


def _result(signature: Signature) -> str:
    return signature.result.value if signature.result else "the type of its argument"


def _examples() -> Iterator[str]:
    for signature in FUNCTIONS.values():
        for call, value in signature.examples:
            yield _row(f"`{call}`", f"`{value}`")


def _aggregate(signature: AggregateSignature) -> str:
    shown = f"`{signature.shown}`"
    return _row(shown, _over(signature), _given(signature), signature.meaning, signature.of_none)


def _over(signature: AggregateSignature) -> str:
    if "field" not in signature.shown:
        return "events"
    if len(signature.over) == len(Scalar) - 1:
        return "anything" if signature.whole else "all but lists and records"
    return ", ".join(type_.value for type_ in Scalar if type_ in signature.over)


def _given(signature: AggregateSignature) -> str:
    if signature is AGGREGATES["list"]:
        return "a list of the field's type"
    if signature.result is None:
        return "the type of the field"
    return f"{signature.result}; of decimals decimal" if signature.exact else str(signature.result)


def _arithmetic() -> Iterator[str]:
    """One row for all operators that do alike."""
    rows: dict[tuple[Type, Type, Scalar, str], list[str]] = {}
    for (left, operator, right), known in ARITHMETIC.items():
        changes = {left: known.left, right: known.right}.items()
        widened = " and ".join(f"{type_} becomes {to}" for type_, to in changes if type_ is not to)
        rows.setdefault((left, right, known.result, widened), []).append(f"`{operator}`")
    for (left, right, result, widened), operators in rows.items():
        yield _row(str(left), " ".join(operators), str(right), str(result), widened)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(functions_page(), encoding="utf-8")
