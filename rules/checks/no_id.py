"""CEP0302: without `id` an event's place is its id, and places differ between engines and feeds."""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every stream without `id` that a rule reads."""
    read = subject.streams_read()
    for stream in subject.pack.fed:
        if stream.id is None and stream.name in read:
            yield warning(
                "CEP0302",
                f"stream `{stream.name}` has no `id`: redelivered events count again, "
                "and alert ids differ between engines",
                subject.name_of(syntax.Stream, stream.name),
                help_="add `id` with the field that identifies an event",
            )
