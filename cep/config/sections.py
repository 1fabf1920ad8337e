"""Paths of a job file in its shape: which section and key a path means, and how one is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args, get_origin

from pydantic import BaseModel

from cep.config.places import KeyPath
from cep.config.shape import JobFile

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

NAMED = {"feeds": "STREAM", "receivers": "NAME"}
"""The sections of which a file may hold several, each under a name of its own, and what the name is."""


def section(path: KeyPath) -> tuple[type[BaseModel], KeyPath]:
    """The section that a path leads into, and what is left of the path there."""
    if not path or path[0] not in JobFile.model_fields:
        return JobFile, path
    inside = 2 if path[0] in NAMED else 1
    if len(path) < inside:
        return JobFile, path
    return _model(JobFile.model_fields[str(path[0])]), path[inside:]


def field(path: KeyPath) -> FieldInfo:
    """The field of the shape for the key that a path leads to or into. Raises KeyError."""
    model, rest = section(path)
    return model.model_fields[str(rest[0])] if rest else JobFile.model_fields[str(path[0])]


def known(path: KeyPath) -> list[str]:
    """The keys of the section at a path."""
    return list(section(path)[0].model_fields)


def homes(key: str) -> list[str]:
    """The sections that have a key, as they are written."""
    return [
        f"[{name}.{NAMED[name]}]" if name in NAMED else f"[{name}]"
        for name, one in JobFile.model_fields.items()
        if key in _model(one).model_fields
    ]


def written(path: KeyPath) -> str:
    """One way of writing the key that a path leads to: `packs = "packs/"`, or the head of its table."""
    model, rest = section(path)
    if not rest:
        return f"[{'.'.join(map(str, path))}]"
    if model is JobFile:
        return f"[{heading(str(rest[0]))}]"
    example = (model.model_fields[str(rest[0])].examples or [""])[0]
    if len(rest) == 2 and isinstance(example, Mapping):
        return f"{rest[1]} = {toml(next(iter(example.values())))}"
    return f"{rest[0]} = {toml(example)}"


def heading(name: str) -> str:
    """The heading of a section, without its brackets: `job`, `feeds.STREAM`."""
    return f"{name}.{NAMED[name]}" if name in NAMED else name


def required(name: str) -> list[str]:
    """The keys that a section cannot do without."""
    return [key for key, one in _model(JobFile.model_fields[name]).model_fields.items() if one.is_required()]


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _model(one: FieldInfo) -> type[BaseModel]:
    """The section that a key of the whole file holds, once or by name."""
    inner = get_args(one.annotation) or (one.annotation,)
    if get_origin(one.annotation) is dict:
        inner = inner[1:]
    (model,) = (kind for kind in inner if isinstance(kind, type) and issubclass(kind, BaseModel))
    return model
