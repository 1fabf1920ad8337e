"""The sources that a job file can name, and the union of their sections, told apart by `source`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from pydantic_core import core_schema

from cep.sources.files.section import FilesSection
from cep.sources.http.section import HttpFeedSection
from cep.sources.kafka.section import KafkaSection
from cep.sources.section import FeedSection

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

SECTIONS: tuple[type[FeedSection], ...] = (FilesSection, KafkaSection, HttpFeedSection)
"""The sections of all sources. One that is new is added here, and needs no other place."""


def kind(section: type[FeedSection]) -> str:
    """The word by which `source` chooses a section."""
    (name,) = get_args(section.model_fields["source"].annotation)
    return str(name)


def named(name: str) -> type[FeedSection]:
    """The section of a source. Raises KeyError."""
    return {kind(section): section for section in SECTIONS}[name]


def meant(table: object) -> str:
    """The source of a feed's table; if it names none that there is, the one that has most of its keys."""
    if not isinstance(table, dict):
        return kind(SECTIONS[0])
    kinds = {kind(section): section for section in SECTIONS}
    if isinstance(given := table.get("source"), str) and given in kinds:
        return given
    return max(kinds, key=lambda name: len(table.keys() & kinds[name].model_fields.keys()))


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a FeedSection that is one of `SECTIONS`, or with `given` of what a command line has for them.

    The place of an error in it has the name of the source behind that of the feed.
    """

    given: bool = False

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """A union that `meant` chooses from, so that all mistakes of a feed are told at once."""
        sections = {kind(one): one.as_option() if self.given else one for one in SECTIONS}
        choices = {name: handler.generate_schema(one) for name, one in sections.items()}
        return core_schema.tagged_union_schema(choices, discriminator=meant)
