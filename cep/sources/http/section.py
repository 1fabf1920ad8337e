"""[feeds.STREAM] with source = "http"."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from cep.decode.formats import FeedFormat
from cep.sources.http.http import BACKLOG, Http
from cep.sources.section import FeedSection
from cep.sources.values import UnfitError


def _format(text: str) -> str:
    if text != "json":
        raise UnfitError("what comes by POST is JSON", 'remove it, or write format = "json"')
    return text


class HttpFeedSection(FeedSection):
    """The options of what comes by POST."""

    source: Annotated[Literal["http"], Field(examples=["http"])]
    format: Annotated[str, AfterValidator(_format), Field(examples=["json"])] = "json"
    backlog: Annotated[int, Field(ge=1 << 20, le=1 << 40, examples=[BACKLOG])] = BACKLOG

    def made(self, folder: Path) -> Http:  # noqa: ARG002  the log lies in the state folder
        """The source."""
        return Http(self.backlog)

    def written(self, folder: Path) -> FeedFormat:
        """The format of its events."""
        return replace(super().written(folder), format="json")
