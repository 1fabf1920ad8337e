"""Operations as values: routes, description, CLI and the table of who may what are made of these alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cep.config.job import Scope
from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import Page, limit_of, told

if TYPE_CHECKING:
    from cep.web.desk.acting import Actor
    from cep.web.desk.desk import JobDesk

Method = Literal["GET", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query, `many` if it may be repeated."""

    name: str
    says: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The request to an operation: texts of the path and the query, the body, who asks."""

    desk: JobDesk
    actor: Actor
    path: Mapping[str, str]
    query: Mapping[str, list[str]]
    body: Any = None

    def one(self, name: str) -> str | None:
        """The text of a parameter that stands once; None: it is not there. Raises MistakenError."""
        given = self.query.get(name, [])
        if len(given) > 1:
            raise MistakenError(f"`{name}` stands {len(given)} times", "write it once")
        return given[0] if given else None

    @property
    def page(self) -> Page:
        """The part of a list that is asked for. Raises MistakenError."""
        limit, cursor = self.one("limit"), self.one("cursor")
        return Page(cursor=cursor) if limit is None else Page(limit_of(limit), cursor)

    def flag(self, name: str) -> bool:
        """True where a parameter is `true`. Raises MistakenError."""
        text = self.one(name)
        if text not in (None, "true", "false"):
            raise MistakenError(f"`{name}` is `{told(text)}`", "write `true` or `false`")
        return text == "true"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation under /api/v1. `answer` is the dataclass, or a tuple of one, that `do` returns; `body` the
    dataclass that a request carries. `in_list` is the name under which a tuple stands in the answer; one that
    `lasts` may take more than a minute."""

    name: str
    method: Method
    path: str
    scope: Scope
    says: str
    answer: Any
    do: Callable[[Asked], object]
    query: tuple[Parameter, ...] = ()
    body: Any = None
    in_list: str = ""
    lasts: bool = False

    @property
    def inside(self) -> list[str]:
        """The names in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]
