"""[feeds.STREAM] of a job file as every source has it, for pydantic. Every key has an example.

A source adds a section of its own, with `source` and its options.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cep.decode.formats import FeedFormat
from cep.sources import values

if TYPE_CHECKING:
    from cep.decode.formats import Kind
    from cep.sources.source import AnySource, Options
    from rules.diagnostics import Diagnostic

Constant = str | bool | int | float | datetime | date | time
Text = Annotated[str, AfterValidator(values.filled)]


class Section(BaseModel):
    """A table of a job file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FeedSection(Section):
    """[feeds.STREAM]: how a record becomes an event. `source` says which section it is."""

    format: Annotated[str | None, AfterValidator(values.held), Field(examples=["csv"])] = None
    fields: Annotated[dict[str, Text], Field(examples=[{"amount": "TX_AMOUNT"}])] = {}
    constants: Annotated[dict[str, Constant], Field(examples=[{"currency": "EUR"}])] = {}
    timestamps: Annotated[str, AfterValidator(values.timestamps), Field(examples=["epoch_ms"])] = "iso"
    zone: Annotated[str, AfterValidator(values.zone), Field(examples=["Europe/Berlin"])] = "UTC"
    header: Annotated[bool, Field(examples=[False])] = True
    delimiter: Annotated[str, AfterValidator(values.delimiter), Field(examples=[";"])] = ","

    @abstractmethod
    def made(self, folder: Path) -> AnySource | None:
        """The source; relative paths begin at the folder. None: its events are named elsewhere."""

    def mistakes(self, options: Options) -> Iterator[Diagnostic]:  # noqa: ARG002  most have none
        """Mistakes that a single value does not show."""
        yield from ()

    @classmethod
    def as_option(cls) -> type[FeedSection]:
        """The section as a command line may give it, where some options are not needed."""
        return cls

    def written(self, folder: Path) -> FeedFormat:  # noqa: ARG002  most name no file
        """The format of its events; relative paths begin at the folder."""
        constants = ((field, _plain(value)) for field, value in self.constants.items())
        return FeedFormat(
            fields=tuple(self.fields.items()),
            constants=tuple(constants),
            timestamps=self.timestamps,
            zone=self.zone,
            header=self.header,
            delimiter=self.delimiter,
            format=cast("Kind | None", self.format),
        )


def _plain(value: object) -> object:
    """A constant as a JSON value: TOML's dates and times as text."""
    return value if isinstance(value, str | bool | int | float) else str(value)
