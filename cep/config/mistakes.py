"""Pydantic's errors about a job file, in our words and with a place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from pydantic import ValidationError

from cep.config import sections
from cep.config.places import KeyPath, Places
from cep.sources import kinds
from cep.sources.values import UnfitError
from rules.diagnostics import Diagnostic
from rules.source import Span
from rules.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "bool_type": "true or false, without quotes",
    "list_type": "a list in brackets",
    "dict_type": "a table",
    "model_type": "a table",
}
"""The kind of value that is expected, by pydantic's type of the error."""


def diagnose(error: ValidationError, places: Places) -> Iterator[Diagnostic]:
    """A diagnostic for every mistake that pydantic found, each mistake once."""
    details = [(detail, *_place(detail)) for detail in error.errors(include_url=False)]
    unknown = [(path, source) for detail, path, source in details if detail["type"] == "extra_forbidden"]
    misspelt = {
        (*path[:-1], closest(str(path[-1]), sections.known(path[:-1], source))) for path, source in unknown
    }
    seen: set[KeyPath] = set()
    for detail, path, source in details:
        if path in seen or (detail["type"] == "missing" and path in misspelt):
            continue
        seen.add(path)
        if detail["type"] == "model_type" and _nameless(path):
            seen.update(other for _, other, _ in details if other[:1] == path[:1])
        yield _diagnostic(detail, path, source, places)


def _diagnostic(detail: ErrorDetails, path: KeyPath, source: str, places: Places) -> Diagnostic:
    """The diagnostic of a mistake at a path; `source` is that of the feed which it lies in, if any."""
    name = sections.shown(path)
    span = places.value(path)
    match detail["type"]:
        case "missing":
            return _missing(path, source, places)
        case "extra_forbidden":
            return _unknown(path, source, places)
        case "model_type" if _nameless(path):
            return Diagnostic(
                "CEP0705",
                "error",
                f"[{name.partition('.')[0]}] holds only tables with names of their own",
                places.key(path),
                help=f"write [{sections.heading(str(path[0]))}] above `{path[1]}`",
            )
        case "literal_error":
            return _choice(detail, path, source, places)
        case "value_error":
            problem = detail["ctx"]["error"]
            assert isinstance(problem, UnfitError)
            code, said, help_ = "CEP0706", f"cannot be used: {problem}", problem.help
        case kind if kind in _KINDS:
            code, said, help_ = "CEP0705", f"must be {_kind(kind, path)}", f"write {_written(path, source)}"
        case "too_short" if path == ("feeds",):
            return Diagnostic("CEP0704", "error", "there is no feed", span, help="write [feeds.STREAM]")
        case "too_short":
            code, said, help_ = "CEP0706", "is empty", f"write {_written(path, source)}, or remove the line"
        case "too_long" | "string_too_long":
            most = detail["ctx"]["max_length"]
            code, said, help_ = "CEP0706", f"has more than {most} characters", "shorten it"
        case "greater_than_equal":
            code, said, help_ = (
                "CEP0706",
                f"must be at least {detail['ctx']['ge']:,}",
                f"write {_written(path, source)}",
            )
        case "less_than_equal":
            code, said, help_ = (
                "CEP0706",
                f"must be at most {detail['ctx']['le']:,}",
                f"write {_written(path, source)}",
            )
        case _:
            code, said, help_ = (
                "CEP0706",
                f"cannot be used: {detail['msg']}",
                f"write {_written(path, source)}",
            )
    return Diagnostic(code, "error", f"`{name}` {said}", span, help=help_)


def _missing(path: KeyPath, source: str, places: Places) -> Diagnostic:
    last, table = str(path[-1]), ".".join(str(part) for part in path[:-1])
    if path[0] in sections.LISTED:
        table = sections.heading(str(path[0]))
    if not table:
        *keys, final = (f"`{key}`" for key in sections.required(last))
        return Diagnostic(
            "CEP0704",
            "error",
            f"the table [{last}] is missing",
            places.key(()),
            help=f"write [{sections.heading(last)}] with {', '.join(keys)} and {final}",
        )
    said = f"`{last}` is missing in [{table}]"
    return Diagnostic(
        "CEP0704", "error", said, places.key(path[:-1]), help=f"write {_written(path, source)} there"
    )


def _unknown(path: KeyPath, source: str, places: Places) -> Diagnostic:
    last, known = str(path[-1]), sections.known(path[:-1], source)
    elsewhere = " and ".join(sections.homes(last))
    nowhere = not elsewhere and not closest(last, known)
    if source and len(path) == 3 and (nowhere or sections.sources(last)):
        return _of_another_source(last, source, places.key(path))
    help_ = (
        f"it belongs to {elsewhere}; a key counts for the table above it"
        if elsewhere
        else did_you_mean(last, known) or f"known here: {', '.join(known)}"
    )
    return Diagnostic("CEP0703", "error", f"unknown key `{last}`", places.key(path), help=help_)


def _of_another_source(option: str, source: str, span: Span) -> Diagnostic:
    """The diagnostic of an option that a source does not have, with what it has."""
    own = " and ".join(f"`{one}`" for one in sections.options(source))
    general = ", ".join(f"`{one}`" for one in sections.known_by_all())
    owners = " and ".join(f'source "{one}"' for one in sections.sources(option))
    belongs = f"`{option}` belongs to {owners}; " if owners else ""
    help_ = f'{belongs}source "{source}" has {own}, and every feed {general}'
    return Diagnostic("CEP0741", "error", f'source "{source}" has no option `{option}`', span, help=help_)


def _choice(detail: ErrorDetails, path: KeyPath, source: str, places: Places) -> Diagnostic:
    name, given = sections.shown(path), detail["input"]
    if path[0] == "feeds" and path[-1] == "source":
        choices = [kinds.kind(one) for one in kinds.SECTIONS]
    else:
        choices = _choices(sections.field(path, source).annotation)
    among = " or ".join(f"`{choice}`" for choice in choices)
    if not isinstance(given, str):
        said = f"`{name}` must be text in quotes"
        return Diagnostic(
            "CEP0705", "error", said, places.value(path), help=f"write {_written(path, source)}"
        )
    help_ = did_you_mean(given, choices) or f"write {_written(path, source)}"
    said = f"`{name}` is {among}, not {f'`{given}`' if given else 'empty'}"
    return Diagnostic("CEP0706", "error", said, places.value(path), help=help_)


def _choices(annotation: object) -> list[str]:
    """The texts of a Literal, also where it is that of a list's items."""
    inner = get_args(annotation)
    return list(inner) if all(isinstance(one, str) for one in inner) else _choices(inner[0])


def _kind(kind: str, path: KeyPath) -> str:
    if path[2:3] == ("constants",) and len(path) > 3:
        return "a text, a number, true, false or a time"
    return _KINDS[kind]


def _nameless(path: KeyPath) -> bool:
    """True if a key of [feeds.STREAM] or [receivers.NAME] stands right under [feeds] or [receivers]."""
    return len(path) == 2 and path[0] in sections.NAMED and str(path[1]) in sections.known((path[0], ""))


def _written(path: KeyPath, source: str) -> str:
    return f"`{sections.written(path, source)}`"


def _place(detail: ErrorDetails) -> tuple[KeyPath, str]:
    """The path in the file, and the source of the feed that it lies in; "" where it lies in none.

    Pydantic adds the branches of a union, and marks keys of tables.
    """
    place, source = detail["loc"], ""
    if len(place) > 2 and place[0] == "feeds":
        source, place = str(place[2]), (*place[:2], *place[3:])
    path: list[str | int] = []
    for part in place:
        if part == "[key]" or (len(path) > 3 and path[2] == "constants"):
            break
        path.append(part)
    return tuple(path), source
