"""The schema registry of a feed as it is when a job is to start."""

from __future__ import annotations

from collections.abc import Iterator

from cep.errors import JobError
from cep.sources.source import Feed, Options
from rules.diagnostics import Diagnostic


def check_registry(feed: Feed, options: Options) -> Iterator[Diagnostic]:
    """A registry that does not answer, or not to this job."""
    schemas = feed.format.schemas
    if schemas is None or schemas.registry is None:
        return
    from cep.decode.by_schema.registry import client_of

    try:
        client_of(schemas.registry).check()
    except JobError as error:
        place = options.span("registry")
        yield Diagnostic(error.code, "error", error.message, place, help=error.help)
