"""Very many alerts in Arrow: what they say, as `alerts.column_writer` takes it.

Fields of one Arrow type stay in Arrow from the events to the bodies; everything else passes through Python
values, as in `cep.shard.render`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from alerts.arrow_columns import (
    Array,
    Ints,
    ListedTexts,
    StringTexts,
    Texts,
    joined_rows,
    texts_of,
    timestamps,
)
from alerts.column_writer import Content
from alerts.columns import Column
from alerts.joining import Part, one_of
from alerts.raised import ApartTexts
from cep.shard.scope import AS_THEY_ARE, Alike, json_column, summary_form
from rules.typed import Emit, KeyRef, Rule
from rules.types import Scalar, Type

_ARROW = {
    Scalar.STRING: pa.string(),
    Scalar.TEXT: pa.string(),
    Scalar.LONG: pa.int64(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.TIMESTAMP: pa.int64(),
}
_PYTHON = {
    type_: {type(None), {"int64": int, "double": float, "bool": bool, "string": str}[str(arrow)]}
    for type_, arrow in _ARROW.items()
}


def content(rules: Sequence[Rule], of: Ints, alike: Alike) -> Content:
    """The content of the alerts of decisions, of rules that tell alike; `of` has the place in `rules` of each
    row's. Raises UnicodeEncodeError for a lone surrogate."""
    key = {name: _of_key(alike, name, type_) for name, type_ in alike.by}
    emit = {one.name: _emitted(one, key, alike) for one in alike.emitting}
    events = [(name, alike.scope.taken.arrow_ids(number)) for name, number in alike.steps]
    known, count = {**key, **emit}, len(alike.time)
    return Content(
        alike.kind,
        alike.time,
        key,
        _summaries(rules, of, key, known),
        emit,
        events,
        alike.orders,
        _withholding(rules[0], key, known, count),
        _apart(alike),
    )


def _apart(alike: Alike) -> ApartTexts[Array] | None:
    if alike.kind == "hit":
        return ApartTexts(ListedTexts(Column(alike.queries)).json, None)
    windows = alike.windows
    if windows is None:
        return None
    ids, at = alike.scope.taken.columns.quoted_ids(), windows.at
    named = joined_rows([",", ids.take(pa.array(at, mask=at < 0))], len(at))
    bounds = ['["', timestamps(windows.start), '","', timestamps(windows.end), '"', pc.fill_null(named, "")]
    estimates = alike.estimates
    return ApartTexts(
        joined_rows([*bounds, "]"], len(at)),
        None if estimates is None else pa.array(estimates, pa.string()),
    )


def _of_key(alike: Alike, name: str, type_: Type) -> Texts:
    values = alike.arrow_key(name)
    if values is None or not _is_of(values, type_):
        return _listed(alike.key(name), type_)
    return _written(values, type_)


def _emitted(one: Emit, key: Mapping[str, Texts], alike: Alike) -> Texts:
    if isinstance(one.value, KeyRef):
        return key[one.value.name]
    if one.secret and alike.mask is not None:
        return _listed(alike.emitted(one), one.value.type)
    values, type_ = alike.scope.arrow(one), one.value.type
    if values is None or not _is_of(values, type_):
        return _listed(alike.scope.values(one), type_)
    return _written(values, type_)


def _is_of(values: pa.Array, type_: Type) -> bool:
    """True if Arrow has values of a type as `_ARROW` says."""
    return isinstance(type_, Scalar) and values.type == _ARROW.get(type_)


def _listed(values: list[object], type_: Type) -> Texts:
    """Python values, in Arrow where that has their type."""
    if not (isinstance(type_, Scalar) and type_ in _ARROW and _PYTHON[type_].issuperset(map(type, values))):
        return ListedTexts(json_column(values, type_))
    return _written(pa.array(values, _ARROW[type_]), type_)


def _written(values: pa.Array, type_: Type) -> Texts:
    if type_ in AS_THEY_ARE:
        return texts_of(values)
    times = timestamps(values.fill_null(0).to_numpy())
    return StringTexts(pc.if_else(values.is_null(), pa.scalar(None, pa.string()), times))


def _summaries(
    rules: Sequence[Rule], of: Ints, key: Mapping[str, Texts], known: Mapping[str, Texts]
) -> Array:
    forms = [summary_form(rule, tuple(key)) for rule in rules]
    names, _ = forms[0]
    first, *others = (one_of(texts, of) for texts in zip(*(texts for _, texts in forms), strict=True))
    parts: list[Part] = [first]
    for name, after in zip(names, others, strict=True):
        parts += (known[name].plain if name in known else "null", after)
    return joined_rows(parts, len(of))


def _withholding(
    rule: Rule, key: Mapping[str, Texts], known: Mapping[str, Texts], count: int
) -> Array | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    named = [known.get(name) for name in suppress.names] if suppress.names else list(key.values())
    parts: list[Array | str] = ["["]
    for one in named:
        parts += ("null" if one is None else one.canonical, ",")
    return joined_rows([*parts[: len(parts) - bool(named)], "]"], count)
