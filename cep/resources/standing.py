"""Sets of standing queries as resources: compiled once per content, pinned by the content of their files."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from cep.errors import ConfigurationError
from cep.plan.plan import HitStream, Plan
from cep.resources.resource import CANNOT_BE_OPENED, Pin, Places
from rules.diagnostics import Diagnostic, DiagnosticsError

if TYPE_CHECKING:
    from cep.standing.answers import QuerySet

ANEW = "start the job again: it compiles them anew from the file that was deployed"


@dataclass(frozen=True, slots=True)
class StandingQueries:
    """The queries that a stream of hits comes from. A version is the SHA-256 of their file."""

    hits: HitStream
    kind: ClassVar[str] = "queries"
    most: ClassVar[int] = 8
    """The sets that run, and those of a replay around deploys."""

    @property
    def name(self) -> str:
        """The name that packs give them: equal names in a job are equal queries (CEP0920)."""
        return self.hits.queries.name

    @property
    def version(self) -> str:
        """The content that the loaded pack names."""
        return self.hits.queries.content

    def identity(self, version: str) -> Hashable:
        """The name of the compiled set: streams with equal fields share one."""
        from cep.standing.compiled import name_of

        return name_of(self._at(version))

    def open(self, version: str, places: Places) -> QuerySet:
        """The compiled set, from the job's store or the pack's file. Raises as `Resource.open` says."""
        from cep.standing.answers import QuerySet
        from cep.standing.compiled import UnreadableError, compiled
        from cep.standing.store import QueryStore

        hits = self._at(version)
        try:
            if (folder := places.queries) is None:
                return QuerySet(compiled(hits).kept, hits.documents)
            return QuerySet(QueryStore(folder, places.kept).load(hits), hits.documents)
        except UnreadableError as problem:
            raise self._error(problem, places) from problem

    def _at(self, version: str) -> HitStream:
        queries = self.hits.queries
        same = version == queries.content
        return self.hits if same else replace(self.hits, queries=replace(queries, content=version))

    def _error(self, problem: Exception, places: Places) -> Exception:
        message = f"the standing queries `{self.name}` cannot be opened: {problem}"
        if places.queries is None:
            fix = "write a new file beside it and rename it in; load the pack again"
            span = self.hits.queries.span
            return DiagnosticsError([Diagnostic(CANNOT_BE_OPENED, "error", message, span, help=fix)])
        return ConfigurationError(message, ANEW, CANNOT_BE_OPENED)


def pins(plan: Plan) -> tuple[Pin, ...]:
    """The versions of the query sets of a plan, by name, for the manifest of a batch that runs with it."""
    versions = {one.name: one.version for one in map(StandingQueries, plan.hits.values())}
    return tuple(Pin(StandingQueries.kind, name, version) for name, version in sorted(versions.items()))
