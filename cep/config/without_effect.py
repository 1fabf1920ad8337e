"""Settings of a job file's feeds that have no effect on files of their format."""

from __future__ import annotations

from collections.abc import Iterator

from cep.config.job import Job
from cep.decode.formats import EPOCHS, UnknownFormatError
from cep.sources.files.files import paths
from cep.sources.source import Feed
from rules.diagnostics import Diagnostic, in_order


def without_effect(job: Job) -> list[Diagnostic]:
    """Warnings about settings of feeds that change nothing, in order of place."""
    return in_order([found for feed in job.feeds for found in _feed(job, feed)])


def _feed(job: Job, feed: Feed) -> Iterator[Diagnostic]:
    written, kind = feed.format, _kind(feed)
    found = {}
    if kind not in ("csv", ""):
        for key in ("header", "delimiter"):
            found[key] = f"`{key}` is for CSV, and feed `{feed.name}` reads .{kind} files", "remove it"
    if kind == "csv" and not written.header:
        found["fields"] = (
            "without a header the columns are the stream's fields in their order, whatever `fields` says",
            "remove it, or write header = true",
        )
    if written.timestamps in EPOCHS and kind in ("json", "csv"):
        found["zone"] = f"`{written.timestamps}` counts from 1970 in UTC, whatever the zone", "remove it"
    for key, (said, help_) in found.items():
        place = ("feeds", feed.name, key)
        if place in job.places.keys:
            yield Diagnostic("CEP0719", "warning", said, job.places.key(place), help=help_)


def _kind(feed: Feed) -> str:
    """The format of a feed's files, by its setting or its path: json, csv, parquet; empty if not known."""
    path = paths([feed]).get(feed.name, "")
    try:
        return feed.format.of(path.rpartition("/")[2]).kind
    except UnknownFormatError:
        return ""
