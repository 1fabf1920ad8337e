"""Tables, and lookups in them."""

from __future__ import annotations

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.convert import as_instant, exact, widen, widens
from rules.resolve.declared import Declared, TableInfo
from rules.resolve.fields import Fields, fields_of, no_secret_here, timestamp_at
from rules.resolve.paths import type_at
from rules.resolve.scope import Scope
from rules.suggest import meant
from rules.types import STRINGS, ListOf, Record, Scalar, Type, kind_of


def declare_table(node: syntax.Table, declared: Declared) -> None:
    """Add the table to what is declared, with its fields as far as they could be read."""
    findings = declared.findings
    name = node.name.text
    no_secret_here(node.parts, "table", findings)
    fields = fields_of(f"table `{name}`", node.parts, findings)
    key = _key(node, fields, declared)
    settings = [part for part in node.parts if isinstance(part, syntax.PathSetting)]
    for again in settings[1:]:
        labels = (Label(settings[0].span, "first given here"),)
        findings.error(
            "CEP0112", "`time` is given twice", again.span, labels=labels, help_="remove one of them"
        )
    time = timestamp_at(settings[0].path, "the time of a row", fields, findings) if settings else None
    table = typed.Table(name, node.key.text, fields.full, time, node.span)
    declared.tables[name] = TableInfo(name, fields.types, key, True, table)


def _key(node: syntax.Table, fields: Fields, declared: Declared) -> Type | None:
    """The type of the key field, None where it is not known."""
    name = node.key.text
    if name not in fields.types:
        if not node.broken:
            message = f"{fields.owner} has no field `{name}` to be its key"
            declared.findings.error(
                "CEP0254", message, node.key.span, help_=meant(name, fields.types, "fields")
            )
        return None
    field = next((f for f in fields.full if f.name == name), None)
    if field is None:
        return None
    if isinstance(field.type, ListOf | Record):
        message = f"the key of a table is a single value, but `{name}` is {kind_of(field.type)}"
        declared.findings.error("CEP0254", message, node.key.span, help_="name a field of a single value")
        return None
    if field.nullable:
        message = f"the key `{name}` of a table must not be nullable"
        declared.findings.error("CEP0254", message, node.key.span, help_="remove its `?`")
    return field.type


def lookup(node: syntax.Lookup, key: typed.Expression | None, scope: Scope) -> typed.Expression | None:
    """`table[key].field`; `key` is the typed key, None where it has its finding."""
    table = scope.declared.tables.get(node.table.text)
    if table is None:
        _unknown(node, scope)
        return None
    found = _field(node, table, scope)
    if key is None or table.key is None:
        return None
    fitted = _as_key(key, table, table.key, scope)
    if fitted is None or found is None:
        return None
    return typed.Lookup(table.name, fitted, tuple(n.text for n in node.path), found, node.span)


def _unknown(node: syntax.Lookup, scope: Scope) -> None:
    name = node.table.text
    help_ = meant(name, scope.declared.tables, "tables")
    known = {} if scope.candidate is None else scope.candidate.fields
    key = node.key.value if isinstance(node.key, syntax.String) else ""
    if name in scope.declared.streams and key in known:
        help_ = f"a field is named alone: `{key}`"
    elif isinstance(known.get(name), Record) and key:
        help_ = f"did you mean `{name}.{key}`?"
    elif known.get(name) in STRINGS:
        help_ = f"of a string, write `substr({name}, 0, 1)`"
    elif name in scope.declared.streams:
        help_ = f"`{name}` is a stream; a table is declared by `table NAME key FIELD {{ ... }}`"
    elif name in scope.all_steps:
        field = ".".join(part.text for part in node.path) or "field"
        help_ = f"`{name}` is a step: write `first({name}.{field})` or `last({name}.{field})`"
    elif scope.candidate is not None and isinstance(scope.candidate.fields.get(name), ListOf):
        help_ = f"the values of a list have no numbers: write `... in {name}`"
    scope.findings.error("CEP0250", f"unknown table `{name}`", node.table.span, help_=help_)


def _field(node: syntax.Lookup, table: TableInfo, scope: Scope) -> Type | None:
    if not node.path:
        key = None if table.table is None else table.table.key
        some = next((field for field in table.fields if field != key), "field")
        message = f"a lookup names the field of table `{table.name}` that it wants"
        scope.findings.error("CEP0252", message, node.span, help_=f"such as `{node.span.text}.{some}`")
        return None
    if not table.known and node.path[0].text not in table.fields:
        return None
    return type_at(node.path, f"table `{table.name}`", table.fields, scope.findings)


def _as_key(key: typed.Expression, table: TableInfo, wanted: Type, scope: Scope) -> typed.Expression | None:
    if wanted is Scalar.TIMESTAMP and isinstance(key, typed.Literal) and isinstance(key.value, str):
        return as_instant(key, scope.findings)
    key = exact(key) if wanted is Scalar.DECIMAL else key
    if key.type is not Scalar.NULL and widens(key.type, wanted):
        return widen(key, wanted)
    message = f"table `{table.name}` is looked up by {kind_of(wanted)}, but this is {kind_of(key.type)}"
    scope.findings.error("CEP0251", message, key.span, help_=f"look it up by {kind_of(wanted)}")
    return None
