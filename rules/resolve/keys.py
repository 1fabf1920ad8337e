"""`by`: the partition key, and which fields of each stream it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared
from rules.resolve.paths import type_at
from rules.source import Span
from rules.suggest import did_you_mean, meant
from rules.types import ListOf, Record, Type, kind_of

Names = dict[str, Type | None]


def resolve_key(node: syntax.By, streams: Sequence[str], declared: Declared) -> tuple[typed.By | None, Names]:
    """The key, or None with findings; and for every name of it the type, None where unknown."""
    findings = declared.findings
    names: Names = {}
    if (pair := _one_of_two(node, streams, declared)) is not None:
        return None, pair
    called = tuple(_called(stream, declared) for stream in streams)
    columns: list[dict[str, typed.Path]] = []
    whole = True
    for paths in node.keys:
        name = _last(paths[0], called).text
        if name in names:
            findings.error(
                "CEP0206", f"key field `{name}` is given twice", paths[0].span, help_="remove one of them"
            )
            whole = False
            continue
        found, type_ = _column(paths, streams, declared)
        names[name] = type_
        columns.append(found)
        whole = whole and type_ is not None and len(found) == len(streams)
    if not whole:
        return None, names
    types = tuple(t for t in names.values() if t is not None)
    by_stream = tuple((stream, tuple(column[stream] for column in columns)) for stream in streams)
    return typed.By(tuple(names), types, by_stream, node.span), names


def _one_of_two(node: syntax.By, streams: Sequence[str], declared: Declared) -> Names | None:
    """The names of `by a, b` where one stream has but `a` and the other but `b`: one key, and one finding."""
    infos = [declared.streams[s] for s in streams if s in declared.streams and declared.streams[s].known]
    if len(infos) != 2 or [len(paths) for paths in node.keys] != [1, 1]:
        return None
    first, second = (paths[0].names[0] for paths in node.keys)
    if any(len(paths[0].names) > 1 for paths in node.keys):
        return None
    one, other = sorted(infos, key=lambda info: first.text not in info.fields)
    if not (first.text in one.fields and second.text in other.fields):
        return None
    if second.text in one.fields or first.text in other.fields:
        return None
    message = f"stream `{other.name}` has no key field `{first.text}`"
    help_ = f"did you mean `by {one.called}.{first.text} = {other.called}.{second.text}`?"
    declared.findings.error("CEP0218", message, first.span, help_=help_)
    return {first.text: one.fields[first.text], second.text: other.fields[second.text]}


def _last(path: syntax.Dotted, streams: Sequence[str]) -> syntax.Name:
    return _field(path, streams)[-1]


def _field(path: syntax.Dotted, streams: Sequence[str]) -> tuple[syntax.Name, ...]:
    """The names of the field, without the stream's name before them."""
    return path.names[1:] if _qualified(path, streams) else path.names


def _qualified(path: syntax.Dotted, streams: Sequence[str]) -> bool:
    return len(path.names) > 1 and path.names[0].text in streams


def _called(stream: str, declared: Declared) -> str:
    """The rule's name for a stream: that of hits goes by its documents."""
    info = declared.streams.get(stream)
    return stream if info is None else info.called


def _column(
    paths: tuple[syntax.Dotted, ...], streams: Sequence[str], declared: Declared
) -> tuple[dict[str, typed.Path], Type | None]:
    """The field of every stream for one name of the key, and their common type."""
    findings = declared.findings
    own: dict[str, tuple[syntax.Name, ...]] = {}
    called = tuple(_called(stream, declared) for stream in streams)
    default = _field(paths[0], called)
    for path in paths:
        if _qualified(path, called) and path.names[0].text in own:
            message = f"stream `{path.names[0].text}` gives one value to a field of the key, not two"
            findings.error("CEP0206", message, path.span, help_="write `by a, b` for a key of two fields")
            return {}, None
        if _qualified(path, called):
            own[path.names[0].text] = path.names[1:]
        elif len(paths) > 1 or not _somewhere(path, streams, declared):
            message = f"`{path.names[0].text}` is no stream of this rule"
            help_ = did_you_mean(path.names[0].text, called) or "write `by a.x = b.y` with the streams' names"
            findings.error("CEP0218", message, path.names[0].span, help_=help_)
            return {}, None
    found: dict[str, typed.Path] = {}
    common: tuple[Type, tuple[syntax.Name, ...], str] | None = None
    for stream in streams:
        field = own.get(_called(stream, declared), default)
        info = declared.streams.get(stream)
        if info is None or not info.known:
            continue
        if field[0].text not in info.fields:
            _missing(field[0], stream, info.called in own, declared)
            continue
        type_ = type_at(field, f"stream `{stream}`", info.fields, findings)
        if type_ is None:
            continue
        if isinstance(type_, ListOf | Record):
            message = f"a key is made of single values, but `{_written(field)}` is {kind_of(type_)}"
            findings.error(
                "CEP0219", message, _place(field), help_="name a field inside it, or another field"
            )
            return {}, None
        found[stream] = tuple(name.text for name in field)
        if common is not None and common[0] != type_:
            message = f"the key's types differ: {common[0]} in `{common[2]}`, {type_} in `{stream}`"
            labels: tuple[Label, ...] = (
                Label(_place(common[1]), f"`{common[2]}.{_written(common[1])}` is a {common[0]}"),
            )
            labels = labels if common[1] is not field else ()
            findings.error(
                "CEP0219",
                message,
                _place(field),
                labels=labels,
                help_="declare both fields with one type, and let the feeds deliver it",
            )
            return {}, common[0]
        common = common or (type_, field, stream)
    return found, None if common is None else common[0]


def _somewhere(path: syntax.Dotted, streams: Sequence[str], declared: Declared) -> bool:
    """True if the first name may be a field: of a record, where more names follow."""
    if len(path.names) == 1:
        return True
    infos = [declared.streams[s] for s in streams if s in declared.streams]
    return any(not info.known or path.names[0].text in info.fields for info in infos)


def _written(field: tuple[syntax.Name, ...]) -> str:
    return ".".join(name.text for name in field)


def _place(field: tuple[syntax.Name, ...]) -> Span:
    return field[0].span.to(field[-1].span)


def _missing(field: syntax.Name, stream: str, own: bool, declared: Declared) -> None:
    fields = declared.streams[stream].fields
    message = f"stream `{stream}` has no key field `{field.text}`"
    help_ = did_you_mean(field.text, fields)
    if not own and len(declared.streams) > 1:
        other = next((s for s in declared.streams if field.text in declared.streams[s].fields), None)
        guess = help_.removeprefix("did you mean `").removesuffix("`?") or "its_field"
        help_ = f"name the field it has: `by {other}.{field.text} = {stream}.{guess}`" if other else help_
    declared.findings.error(
        "CEP0218", message, field.span, help_=help_ or meant(field.text, fields, "fields")
    )
