"""Rule files and texts to packs that can be run and tested."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cep.api.errors import Diagnostic, PackError, public, refusal
from cep.packs.read import Checked, checked_in, runnable
from cep.packs.read import checked_text as checked_one
from cep.resources.resource import Resources
from rules import typed

if TYPE_CHECKING:
    from cep.api.evaluation import Evaluation
    from cep.api.rule_tests import RuleTestResult

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Pack:
    """A checked pack: `load` makes it.

    `revision` is a digest of its text. `rules` and `streams` are names in the order of the text, `streams`
    those whose events it takes. `diagnostics` are warnings and hints, in order of place.
    """

    name: str
    version: str
    revision: str
    rules: tuple[str, ...]
    streams: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = field(repr=False)
    _typed: typed.Pack = field(repr=False, compare=False)
    _resources: Resources = field(repr=False, compare=False)

    def evaluate(
        self,
        events: Iterable[tuple[str, Mapping[str, object]]],
        *,
        watermark: datetime | str | None = None,
        drain: bool = False,
        clock: datetime | str | None = None,
    ) -> Evaluation:
        """The alerts that events raise, as `cep eval --cases` gives them.

        `events` are pairs of a stream's name and the event's fields, in any order: they are taken in order of
        event time, those of one instant in the order given. Values are those of JSON, or datetime, timedelta
        and Decimal. At the end the watermark stands at the greatest event time, or at `watermark` (a datetime
        with a zone, or RFC 3339), or with `drain` at the end of time, which settles everything that is open.
        An event that cannot be one is among `rejected`; with a `clock` (written as `watermark` is) so is one
        that is further ahead of it than its stream's `future`, as in a job at that time. Raises ValueError
        for a watermark or clock that is none, TypeError for a value of another type, and PackError where a
        file of standing queries was changed or removed after the pack was loaded.
        """
        from cep.api.evaluation import of_events, times

        return of_events(self._typed, events, times(watermark, drain, clock), self._resources)

    def evaluate_files(
        self,
        files: Mapping[str, AnyPath | Sequence[AnyPath]],
        *,
        watermark: datetime | str | None = None,
        drain: bool = False,
        clock: datetime | str | None = None,
    ) -> Evaluation:
        """The alerts that files of events raise, as `cep eval` gives them; `files` are by stream.

        JSON lines, CSV with a header (both also .gz, .zst) and Parquet, told by name. Files are read in
        blocks; at the end the watermark stands where that of the job would, or as `evaluate` says; `clock` as
        there. Raises DataError for a stream that is none and for a file that cannot be read.
        """
        from cep.api.evaluation import of_files, times

        return of_files(self._typed, files, times(watermark, drain, clock), self._resources)

    def run_tests(self, wanted: str | None = None) -> tuple[RuleTestResult, ...]:
        """Run the pack's test blocks; a result for each, in order of the text.

        `wanted` is a regular expression that is searched in `label`; None: all. Raises re.error.
        """
        from cep.api.rule_tests import results

        return results(self._typed, wanted)


def load(path: AnyPath) -> Pack:
    """The pack of a rule file, or of a folder with all its `*.rules` files at any depth.

    Raises PackError where the path holds no pack, several, or one with an error or with something that the
    engine does not run yet.
    """
    packs = load_all(path)
    if len(packs) > 1:
        names = ", ".join(f"`{pack.name}`" for pack in packs)
        raise PackError(f"`{os.fspath(path)}` holds {len(packs)} packs ({names}): use load_all")
    return packs[0]


def load_all(*paths: AnyPath) -> tuple[Pack, ...]:
    """The packs of files and folders, in order; a folder may hold several, told apart by their headers.

    Raises PackError as `load` does, with the diagnostics of all packs.
    """
    found = [one for path in paths for one in checked_in(Path(path))]
    packs = [_pack(one) for one in found]
    usable = [pack for pack in packs if pack is not None]
    if len(usable) < len(packs):
        raise refusal(PackError, [d for one in found for d in one.diagnostics])
    return tuple(usable)


def load_text(text: str, *, name: str = "pack.rules", folder: AnyPath = ".") -> Pack:
    """The pack of a text; `name` stands for its file in diagnostics.

    Files that it names, such as those of standing queries, are relative to `folder`. Raises PackError.
    """
    one = checked_one(name, text, Path(folder))
    pack = _pack(one)
    if pack is None:
        raise refusal(PackError, one.diagnostics)
    return pack


def check(*paths: AnyPath) -> tuple[Diagnostic, ...]:
    """Everything that is to be said of the packs of files and folders, as `cep check` says it.

    Errors, warnings and hints in order of place, pack by pack; empty where all is well. Constructs that
    cannot be run yet are hints.
    """
    found = [one for path in paths for one in checked_in(Path(path), to_run=False)]
    return tuple(told for one in found for told in public(one.diagnostics))


def check_text(text: str, *, name: str = "pack.rules", folder: AnyPath = ".") -> tuple[Diagnostic, ...]:
    """Everything that is to be said of the pack of a text, as `check` and `load_text` say."""
    return public(checked_one(name, text, Path(folder), to_run=False).diagnostics)


def _pack(one: Checked) -> Pack | None:
    found = runnable(one)
    if found is None:
        return None
    return Pack(
        found.name,
        found.version,
        found.revision,
        tuple(rule.name for rule in found.rules),
        tuple(stream.name for stream in found.fed),
        public(one.diagnostics),
        found,
        Resources(),
    )
