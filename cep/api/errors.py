"""Diagnostics as plain values, and the exceptions of the interface.

Error               everything that a caller may want to catch
├── PackError         rules that cannot be run; carries every diagnostic
├── DataError         events, files or documents that cannot be read
└── QueryError        a standing query that is refused
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from rules import diagnostics as internal


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of the checker.

    `code` names a page of docs/errors. Lines and columns count from 1, columns in characters; all four are
    None, like `file`, where the finding concerns no text. `help` is what to do, `text` the finding as
    `cep check` draws it, with its source under it.
    """

    code: str
    level: Literal["error", "warning", "hint"]
    message: str
    file: str | None
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    help: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text


class Error(Exception):
    """Something wrong with what this package was given; `diagnostics` say what, in order of place."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)


class PackError(Error):
    """Rules with an error, or a path that holds none; `diagnostics` has warnings and hints, too."""


class DataError(Error):
    """Events, documents or a file of them that cannot be taken at all."""


class QueryError(Error):
    """A standing query that is refused; nothing has changed.

    `code` names a page of docs/errors, `position` counts the characters of the query before the place, None
    where the whole is meant.
    """

    def __init__(self, code: str, message: str, position: int | None) -> None:
        super().__init__(message)
        self.code = code
        self.position = position

    def __str__(self) -> str:
        place = "" if self.position is None else f" (at {self.position})"
        return f"{self.code}: {self.args[0]}{place}"


def public(found: Sequence[internal.Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings in order of place, drawn without colours."""
    return tuple(map(_public, internal.in_order(found)))


def refusal(kind: type[PackError | DataError], found: Sequence[internal.Diagnostic]) -> Error:
    """The exception that carries the findings; its text is that of the errors among them."""
    told = public(found)
    errors = [one for one in told if one.level == "error"]
    return kind("\n\n".join(one.text for one in errors or told), told)


def _public(one: internal.Diagnostic) -> Diagnostic:
    from rules.render import render

    place = one.as_dict()
    line, column, end_line, end_column = (
        cast("int | None", place[name]) for name in ("line", "column", "end_line", "end_column")
    )
    return Diagnostic(
        one.code,
        one.level,
        one.message,
        cast("str | None", place["file"]),
        line,
        column,
        end_line,
        end_column,
        one.help,
        render(one).rstrip("\n"),
    )
