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
    ChosenTexts,
    ListedTexts,
    StringTexts,
    Texts,
    texts_of,
    timestamps,
)
from alerts.column_writer import Content
from alerts.columns import Column
from alerts.joining import Part, joined_rows
from alerts.raised import ApartTexts
from cep.batch.shared_columns import Chosen
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


def content(rule: Rule, alike: Alike) -> Content:
    """The content of the alerts of decisions of a rule, or of more that tell as it does. Raises
    UnicodeEncodeError for a lone surrogate."""
    key = {name: _of_key(alike, name, type_) for name, type_ in alike.by}
    emit = {one.name: _emitted(one, key, alike) for one in alike.emitting}
    events = [(name, alike.scope.taken.arrow_ids(number)) for name, number in alike.steps]
    known = {**key, **emit}
    return Content(
        alike.kind,
        alike.time,
        key,
        _shown(rule, key, known),
        emit,
        events,
        alike.orders,
        _withholding(rule, key, known),
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
    found = _in_arrow(alike.arrow_key(name), type_)
    return _listed(alike.key(name), type_) if found is None else found


def _emitted(one: Emit, key: Mapping[str, Texts], alike: Alike) -> Texts:
    if isinstance(one.value, KeyRef):
        return key[one.value.name]
    if one.secret and alike.mask is not None:
        return _listed(alike.emitted(one), one.value.type)
    found = _in_arrow(alike.scope.arrow(one), one.value.type)
    return _listed(alike.scope.values(one), one.value.type) if found is None else found


def _in_arrow(values: pa.Array | Chosen | None, type_: Type) -> Texts | None:
    """The texts of values; None where Arrow has them not as those of a type."""
    if isinstance(values, Chosen):
        texts = values.column.texts(type_, _in_arrow) if values.column.often else None
        if texts is not None:
            return ChosenTexts(texts, values.rows)
        values = values.array()
    return _written(values, type_) if values is not None and _is_of(values, type_) else None


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


def _shown(rule: Rule, key: Mapping[str, Texts], known: Mapping[str, Texts]) -> Sequence[Part]:
    """The values that summaries show."""
    names, _ = summary_form(rule, tuple(key))
    return [known[name].shown if name in known else "null" for name in names]


def _withholding(rule: Rule, key: Mapping[str, Texts], known: Mapping[str, Texts]) -> Sequence[Part]:
    suppress = rule.suppress
    if suppress is None:
        return [""]
    named = [known.get(name) for name in suppress.names] if suppress.names else list(key.values())
    parts: list[Part] = ["["]
    for one in named:
        parts += ("null" if one is None else one.canonical, ",")
    return [*parts[: len(parts) - bool(named)], "]"]
