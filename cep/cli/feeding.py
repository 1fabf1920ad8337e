"""Packs, feeds and files, as PACK, `--job`, `--feed` and `--events` give them together."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cep.cli.failure import UsageError
from cep.cli.topic_events import with_topics
from cep.config import (
    Feed,
    FeedOption,
    Job,
    check_feeds,
    check_format,
    check_receivers,
    feed_option,
    load_job,
    unfed,
)
from cep.config.against_machine import check_folders
from cep.config.no_file_fits import likely_cure
from cep.config.places import Places
from cep.decode.formats import BY_NAME, FeedFormat
from cep.inprocess.sources import Input, of_files
from cep.sources.files.files import Files
from cep.sources.source import AnySource, Options
from rules.diagnostics import Diagnostic, DiagnosticsError, has_errors, in_order
from rules.suggest import meant
from rules.typed import Pack, Stream


def job_of(path: Path | None) -> tuple[Job | None, tuple[Diagnostic, ...]]:
    """The job of `--job`, with warnings; its secrets are not asked for, as nothing is delivered.

    Raises DiagnosticsError.
    """
    if path is None:
        return None, ()
    loaded = load_job(path, None)
    return loaded.need(), loaded.diagnostics


def misfits(job: Job, packs: Sequence[Pack], own: bool, fed: Sequence[str] = ()) -> list[Diagnostic]:
    """Everything that does not fit between a job and packs: its `own`, or others that are to be tried in it.

    Of others, only feeds whose streams they declare are looked at. `fed`: as check_feeds takes it.
    """
    if own:
        from cep.job.batches.deployed_packs import differing_queries, differing_streams

        found = [*differing_streams(packs), *differing_queries(packs)]
        return in_order([*found, *check_feeds(job, packs, fed=fed), *check_receivers(job, packs)])
    streams = {stream.name: stream for pack in packs for stream in pack.fed}
    of_packs = [(feed, streams[feed.name]) for feed in job.feeds if feed.name in streams]
    found = [one for feed, stream in of_packs for one in check_format(feed, job.places, stream)]
    return in_order([*unfed(job, packs, fed), *found])


@dataclass(slots=True)
class Feeding:
    """The streams of packs, each with what feeds it.

    `job` is that of `--job`, whose `own` packs these may be; `options` are the texts of `--feed`, `events`
    the words of `--events`.
    """

    packs: Sequence[Pack]
    job: Job | None
    own: bool
    options: Sequence[str]
    events: Sequence[str]
    told: list[Diagnostic] = field(default_factory=list)

    def inputs(self) -> list[Input]:
        """The streams that are read, in the order of the packs; `told` gets what is to be said of that.

        Named files stand in the order given, those of a feed's path in the order in which a job takes them.
        Raises UsageError, DiagnosticsError.
        """
        streams = {stream.name: stream for pack in self.packs for stream in pack.fed}
        named = _named(streams, self.events)
        given = self._given(streams, with_topics(self.options, named))
        feeds: dict[str, tuple[Feed | FeedOption, Places]] = {}
        if self.job is not None:
            job = replace(self.job, feeds=tuple(f for f in self.job.feeds if f.name not in given))
            self._tell(misfits(job, self.packs, self.own, [*given, *named]))
            feeds.update({feed.name: (feed, job.places) for feed in job.feeds if feed.name in streams})
            read = tuple(f for f in job.feeds if f.name in streams and f.name not in named)
            self._tell(check_folders(replace(job, feeds=read)))
        feeds.update({name: (option, option.places) for name, option in given.items()})
        found = []
        for name, stream in streams.items():
            feed, places = feeds.get(name, (None, None))
            written = BY_NAME if feed is None else feed.format
            if name in named:
                files = [file for word in named[name] for file in _matching(word, written)]
                found.append(of_files(stream, files, written))
            elif feed is not None and places is not None and (source := self._source(feed)) is not None:
                extents = source.listed(name)
                if not extents:
                    self._tell_empty(feed, places, source)
                found.append(Input(stream, source, tuple(extents), written))
        if not found:
            raise UsageError("no files are named", "name them: --events STREAM=FILE, or a path in --feed")
        return found

    def _tell(self, findings: Sequence[Diagnostic]) -> None:
        if has_errors(findings):
            raise DiagnosticsError(findings)
        self.told += findings

    def _given(self, streams: Mapping[str, Stream], options: Sequence[str]) -> dict[str, FeedOption]:
        """The feeds of --feed by stream."""
        found: dict[str, FeedOption] = {}
        mistakes: list[Diagnostic] = []
        for text in options:
            option = feed_option(text, Path())
            if isinstance(option, list):
                mistakes += option
                continue
            mistakes += _misfits(option, streams)
            if option.name in found:
                raise UsageError(f"--feed {option.name} is given twice", "put all of its keys into one")
            found[option.name] = option
        self._tell(mistakes)
        for option in found.values():
            if option.source is not None and option.source.counted:
                at = Options(Path(), partial(option.places.option, option.name))
                self._tell(list(option.source.check(at)))
        return found

    def _source(self, feed: Feed | FeedOption) -> AnySource | None:
        """The source of a feed: the option's, else the job's; None if neither has one."""
        of_job = {one.name: one.source for one in self.job.feeds} if self.job is not None else {}
        return feed.source or of_job.get(feed.name)

    def _tell_empty(self, feed: Feed | FeedOption, places: Places, source: AnySource) -> None:
        """A warning where a source of files has none; any other may be empty."""
        if not isinstance(source, Files):
            return
        said = f"feed `{feed.name}` has no file: nothing fits {source.path}"
        place = places.value(("feeds", feed.name, "path"))
        folder = Path() if self.job is None else self.job.file.parent
        fix = f"{likely_cure(source.path, folder)}; or name files: --events {feed.name}=FILE"
        self.told.append(Diagnostic("CEP0856", "warning", said, place, help=fix))


def _misfits(option: FeedOption, streams: Mapping[str, Stream]) -> list[Diagnostic]:
    """Errors of an option that the packs show: no such stream, or a format that does not fit it."""
    if option.name in streams:
        return list(check_format(option, option.places, streams[option.name]))
    said = f"no pack declares a stream `{option.name}`"
    place = option.places.key(("feeds", option.name))
    return [Diagnostic("CEP0710", "error", said, place, help=meant(option.name, streams, "streams"))]


def _named(streams: Mapping[str, Stream], given: Sequence[str]) -> dict[str, list[str]]:
    """The files that --events names for each stream, in the order given. Raises UsageError."""
    found: dict[str, list[str]] = {}
    stream: str | None = None
    for word in given:
        name, equals, path = word.partition("=")
        if equals and (name in streams or not Path(word).exists()):
            stream, word = name, path
        if stream is None:
            first = next(iter(streams), "STREAM")
            raise UsageError(f"--events {word}: whose events are these?", f"write {first}={word}")
        if stream not in streams:
            raise UsageError(f"there is no stream `{stream}`", meant(stream, streams, "streams"))
        found.setdefault(stream, []).append(word)
    return found


def _matching(pattern: str, written: FeedFormat) -> Iterator[str]:
    """The files that a name stands for. Raises DiagnosticsError if one cannot be read."""
    from cep.sources.files.reading import check_file

    files = [pattern]
    if not Path(pattern).exists():
        # pathlib's would need the folder and the pattern apart
        found = sorted(filter(os.path.isfile, glob.glob(pattern, recursive=True)))  # noqa: PTH207
        files = found or files
    problems = [problem for file in files for problem in check_file(file, written)]
    if problems:
        raise DiagnosticsError(problems)
    yield from files


def tell(findings: Sequence[Diagnostic]) -> None:
    """Draw findings that stop nothing."""
    from cep.cli.output import diagnostics_text

    print(diagnostics_text(findings, sys.stderr), end="", file=sys.stderr)
