"""[deadletters] of a job file: what is wrong with it, and the topics that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cep.config.job import Letters
from cep.config.places import Places
from cep.config.shape import LettersSection
from cep.sources.kafka.checks import PRODUCER, option_mistakes
from cep.sources.kafka.options import named
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.source import Span

_TABLE = "deadletters"
_CLIENT = replace(PRODUCER, table=f"{_TABLE}.options")


def letter_mistakes(given: LettersSection | None, places: Places, folder: Path) -> Iterator[Diagnostic]:
    """A section that names no topic, and what a producer cannot be told."""
    if given is None:
        return

    def span(*names: str) -> Span:
        return places.value(places.dotted((_TABLE, *filter(None, names))))

    if given.topic is None and given.late is None:
        said, help_ = "no topic is named", 'write `topic = "dead-letters"`, `late = "late-events"` or both'
        yield Diagnostic("CEP0756", "error", said, places.key((_TABLE,)), help=help_)
    yield from option_mistakes(given.options, Options(folder, span), _CLIENT)


def letters_of(given: LettersSection | None, folder: Path) -> Letters | None:
    """The topics, of a section without mistakes."""
    if given is None:
        return None
    return Letters(given.servers, given.topic, given.late, named(given.options, folder))
