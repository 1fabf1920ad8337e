"""The fields of documents as `cep percolate` is told them: `--field`, `--schema`, `--default`."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from cep.cli.failure import UsageError
from cep.cli.report import remedy
from percolator.schema import Kind, Schema, SchemaError
from rules.suggest import did_you_mean


def schema_of(arguments: argparse.Namespace) -> Schema:
    """The schema of --schema or --field. Raises UsageError."""
    default = None if arguments.default is None else arguments.default.split(",")
    if arguments.schema is not None:
        if arguments.field:
            raise UsageError("--schema and --field exclude one another", "write the field into the schema")
        declared, in_file = _schema_file(arguments.schema)
        default = in_file if default is None else default
    else:
        declared = dict([_field(text) for text in arguments.field])
    if not declared:
        raise UsageError(
            "which fields do the documents have?", 'name each, as in --field body="text english"'
        )
    try:
        return Schema.of(declared, default)
    except SchemaError as problem:
        raise UsageError(str(problem), _schema_meant(declared, default)) from None


def _field(text: str) -> tuple[str, str]:
    name, equals, type_ = text.partition("=")
    if not name or not equals:
        named, _, kind = re.sub(r"\s*:\s*", "=", text, count=1).partition("=")
        meant = kind if kind.partition(" ")[0] in tuple(Kind) else "text english"
        help_ = f"write --field {shlex.quote(f'{named}={meant}')}"
        raise UsageError(f"--field {text}: a name and a type are needed", help_)
    return name, type_


_ELSEWHERE = {
    **dict.fromkeys(("string", "str", "varchar"), "`text` is searched by its words, `keyword` is one value"),
    **dict.fromkeys(("long", "int", "integer", "double", "float", "decimal"), "write `number`"),
    **dict.fromkeys(("timestamp", "datetime", "time"), "write `date`: a day or an instant"),
    "bool": "write `boolean`",
}
"""Types of other schemas, and the help for each."""


def _schema_meant(declared: Mapping[str, str], default: Sequence[str] | None) -> str:
    """The help for fields, or fields that are searched by default, of which one cannot be right."""
    for written in declared.values():
        kind = written.partition(" ")[0].lower()
        if kind not in tuple(Kind):
            return _ELSEWHERE.get(kind) or did_you_mean(kind, list(Kind)) or _EXAMPLE
    for name in default or ():
        if name not in declared:
            return did_you_mean(name, list(declared)) or f"declare it: --field {shlex.quote(name)}=text"
    return _EXAMPLE


_EXAMPLE = 'as in --field body="text english" --field day=date --default body'


def _schema_file(name: str) -> tuple[dict[str, str], list[str] | None]:
    try:
        found = json.loads(Path(name).read_bytes())
    except FileNotFoundError:
        from cep.cli.named_paths import absent

        raise absent(Path(name)) from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"--schema {name} cannot be read: {reason}", remedy(problem)) from None
    except ValueError as problem:
        raise UsageError(
            f"--schema {name} is not JSON: {problem}", 'write {"schema": {"title": "text"}}'
        ) from None
    fields = found.get("schema") if isinstance(found, dict) else None
    default = found.get("default") if isinstance(found, dict) else None
    if (
        not isinstance(fields, dict)
        or not all(isinstance(type_, str) for type_ in fields.values())
        or not isinstance(default, list | None)
        or not all(isinstance(one, str) for one in default or ())
    ):
        raise UsageError(
            f"--schema {name} is no schema", 'write {"schema": {"title": "text"}, "default": ["title"]}'
        )
    return fields, default
