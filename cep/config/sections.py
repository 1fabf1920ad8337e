"""Paths of a job file in its shape: which section and key a path means, and how one is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args, get_origin

from pydantic import BaseModel

from cep.config.places import KeyPath
from cep.config.shape import JobFile
from cep.sources import kinds
from cep.sources.section import FeedSection

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

NAMED = {"feeds": "STREAM", "receivers": "NAME", "tokens": "NAME"}
"""The sections of which a file may hold several, each under a name of its own, and what the name is."""

LISTED = ("routes", "mute_times", "inhibit")
"""The sections that are lists of tables."""


def section(path: KeyPath, source: str = "") -> tuple[type[BaseModel], KeyPath]:
    """The section that a path leads into, and what is left of the path there.

    That of a feed is told by its `source`, or is that of the first one.
    """
    if not path or path[0] not in JobFile.model_fields:
        return JobFile, path
    inside = 2 if path[0] in (*NAMED, *LISTED) else 1
    if len(path) < inside:
        return JobFile, path
    name = str(path[0])
    return (kinds.named(source) if name == "feeds" and source else models(name)[0]), path[inside:]


def models(name: str) -> tuple[type[BaseModel], ...]:
    """The sections that a table of the file, once or by name, is one of."""
    if name == "feeds":
        return kinds.SECTIONS
    one = JobFile.model_fields[name]
    inner = get_args(one.annotation) or (one.annotation,)
    if get_origin(one.annotation) is dict:
        inner = inner[1:]
    return tuple(kind for kind in inner if isinstance(kind, type) and issubclass(kind, BaseModel))


def field(path: KeyPath, source: str = "") -> FieldInfo:
    """The field of the shape for the key that a path leads to or into. Raises KeyError."""
    model, rest = section(path, source)
    return model.model_fields[str(rest[0])] if rest else JobFile.model_fields[str(path[0])]


def known(path: KeyPath, source: str = "") -> list[str]:
    """The keys of the section at a path."""
    return list(section(path, source)[0].model_fields)


def homes(key: str) -> list[str]:
    """The sections that have a key, as they are written; a feed's only if that of every source has it."""
    return [
        f"[{heading(name)}]"
        for name in JobFile.model_fields
        if all(key in one.model_fields for one in models(name))
    ]


def sources(key: str) -> list[str]:
    """The sources that have an option."""
    return [kinds.kind(one) for one in kinds.SECTIONS if key in one.model_fields]


def options(source: str) -> list[str]:
    """The options that a source has, and that not every feed has."""
    return [
        key for key in kinds.named(source).model_fields if key not in ("source", *FeedSection.model_fields)
    ]


def known_by_all() -> list[str]:
    """The options that every feed has besides its source."""
    return list(FeedSection.model_fields)


def written(path: KeyPath, source: str = "") -> str:
    """One way of writing the key that a path leads to: `packs = "packs/"`, or the head of its table."""
    model, rest = section(path, source)
    if not rest:
        return f"[{heading(str(path[0]))}]" if path[0] in LISTED else f"[{'.'.join(map(str, path))}]"
    if model is JobFile:
        return f"[{heading(str(rest[0]))}]"
    example = (model.model_fields[str(rest[0])].examples or [""])[0]
    if len(rest) == 2 and isinstance(example, Mapping):
        return f"{rest[1]} = {toml(next(iter(example.values())))}"
    return f"{rest[0]} = {toml(example)}"


def heading(name: str) -> str:
    """The heading of a section, without its outer brackets: `job`, `feeds.STREAM`, `[routes]`."""
    if name in LISTED:
        return f"[{name}]"
    return f"{name}.{NAMED[name]}" if name in NAMED else name


def shown(path: KeyPath) -> str:
    """A path as messages name it: `feeds.payment.path`, `routes.receivers`."""
    listed = len(path) > 2 and path[0] in LISTED
    return ".".join(map(str, (path[0], *path[2:]) if listed else path))


def required(name: str) -> list[str]:
    """The keys that a section, if there are several the first, cannot do without."""
    return [key for key, one in models(name)[0].model_fields.items() if one.is_required()]


def toml(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)
