"""Packs as a command line names them: every path is a pack, a folder may hold several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import UsageError
from cep.cli.named_paths import check_rule_paths
from cep.collector import young_only
from cep.packs.read import Checked, checked_in
from rules.diagnostics import DiagnosticsError

if TYPE_CHECKING:
    from cep.config import Job
    from cep.packs.read import Earlier


def load_all(paths: Sequence[Path], *, to_run: bool = True, earlier: Earlier | None = None) -> list[Checked]:
    """The packs of the paths, in order, checked as `cep.packs.read.checked_in` does.

    Raises UsageError for a path that does not exist, or is a file of something else.
    """
    check_rule_paths(paths)
    with young_only():  # what is made here lives as long as the command
        return [one for path in paths for one in checked_in(path, to_run=to_run, earlier=earlier)]


def load_of(job: Job, *, to_run: bool = True) -> list[Checked]:
    """The packs that a job file names, as `load_all`. Raises DiagnosticsError where they cannot be read."""
    from cep.config.against_machine import check_packs

    if unreadable := check_packs(job):
        raise DiagnosticsError(unreadable)
    return load_all([job.packs], to_run=to_run)


def load_one(path: Path, earlier: Earlier | None = None) -> Checked:
    """The one pack of a path. Raises UsageError if there is no such path or it holds several packs."""
    found = load_all([path], earlier=earlier)
    if len(found) > 1:
        names = ", ".join(f"`{one.pack.name}`" for one in found if one.pack is not None)
        raise UsageError(f"`{path}` holds {len(found)} packs: {names}", "name the files of one of them")
    return found[0]
