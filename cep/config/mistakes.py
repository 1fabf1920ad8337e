"""What pydantic says of a job file, in our words and with a place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel, ValidationError

from cep.config.places import KeyPath, Places
from cep.config.shape import JobFile
from rules.diagnostics import Diagnostic
from rules.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS = {
    "string_type": ("text in quotes", '`{} = "..."`'),
    "int_type": ("a whole number", "`{} = 4`"),
    "int_from_float": ("a whole number", "`{} = 4`"),
    "bool_type": ("true or false", "`{} = true`"),
    "list_type": ("a list in brackets", '`{} = ["..."]`'),
    "dict_type": ("a table", "its keys under a line of its own, `[{}]`"),
    "model_type": ("a table", "its keys under a line of its own, `[{}]`"),
    "model_attributes_type": ("a table", "its keys under a line of its own, `[{}]`"),
}
"""What a value must be, and how it is written."""

_ALLOWED = "docs/job.md says what it can be"


def diagnose(
    error: ValidationError, places: Places, shape: type[BaseModel] = JobFile
) -> Iterator[Diagnostic]:
    """A diagnostic for every mistake that pydantic found in a text of that shape, each mistake once."""
    details = [(detail, _path(detail)) for detail in error.errors(include_url=False)]
    unknown = [path for detail, path in details if detail["type"] == "extra_forbidden"]
    misspelt = {(*path[:-1], closest(str(path[-1]), _known(shape, path[:-1]))) for path in unknown}
    seen: set[KeyPath] = set()
    for detail, path in details:
        if path not in seen and not (detail["type"] == "missing" and path in misspelt):
            seen.add(path)
            yield _diagnostic(detail, path, places, shape)


def _diagnostic(detail: ErrorDetails, path: KeyPath, places: Places, shape: type[BaseModel]) -> Diagnostic:
    name = ".".join(str(part) for part in path)
    last = str(path[-1]) if path else ""
    match detail["type"]:
        case "missing":
            span, table = places.key(path[:-1]), ".".join(str(part) for part in path[:-1])
            where = f"`{last}` is missing in [{table}]" if table else f"the table [{last}] is missing"
            help_ = f"write `{last} = ...` there" if table else f"write [{last}]"
            return Diagnostic("CEP0704", "error", where, span, help=help_)
        case "extra_forbidden":
            known = _known(shape, path[:-1])
            help_ = did_you_mean(last, known) or f"known here: {', '.join(known)}"
            return Diagnostic("CEP0703", "error", f"unknown key `{last}`", places.key(path), help=help_)
        case "value_error":
            span = places.value(path) if path in places.values else places.key(path)
            said = str(detail["ctx"]["error"])
            return Diagnostic("CEP0706", "error", f"`{name}` cannot be used: {said}", span, help=_ALLOWED)
        case "literal_error":
            given = str(detail["input"])
            choices = [str(choice) for choice in _choices(shape, path)]
            help_ = did_you_mean(given, choices) or f"write {_or(choices)}"
            said = f"`{name}` is {_or(choices)}, not `{given}`"
            return Diagnostic("CEP0706", "error", said, places.value(path), help=help_)
        case kind if kind in _KINDS:
            what, written = _KINDS[kind]
            inline = what == "a table" and len(path) > 2
            help_ = f"write `{last} = {{ ... }}`" if inline else f"write {written.format(last)}"
            return Diagnostic("CEP0705", "error", f"`{name}` must be {what}", places.value(path), help=help_)
        case "too_short" if last == "feeds":
            return Diagnostic(
                "CEP0704", "error", "there is no feed", places.key(path), help="write [feeds.STREAM]"
            )
        case _:
            said = detail["msg"].removeprefix("Input ").removeprefix("Value ")
            return Diagnostic("CEP0706", "error", f"`{name}` {said}", places.value(path), help=_ALLOWED)


def _path(detail: ErrorDetails) -> KeyPath:
    """The path in the file: pydantic adds the branches of a union, and marks keys of tables."""
    path: list[str | int] = []
    for part in detail["loc"]:
        if part == "[key]" or (len(path) > 3 and path[2] == "constants"):
            break
        path.append(part)
    return tuple(path)


def _model(shape: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    """The section that a table of the file is shaped by."""
    model = shape
    for part in path:
        field = model.model_fields.get(str(part))
        if field is not None:
            found = [
                inner
                for inner in (field.annotation, *get_args(field.annotation))
                if isinstance(inner, type) and issubclass(inner, BaseModel)
            ]
            model = found[0] if found else model
    return model


def _known(shape: type[BaseModel], table: KeyPath) -> list[str]:
    return list(_model(shape, table).model_fields)


def _choices(shape: type[BaseModel], path: KeyPath) -> tuple[object, ...]:
    return get_args(_model(shape, path[:-1]).model_fields[str(path[-1])].annotation)


def _or(choices: list[str]) -> str:
    shown = [f"`{choice}`" for choice in choices]
    return " or ".join(shown)
