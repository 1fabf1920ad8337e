"""Findings that a start of a job would tell beforehand, for `cep check --job`; makes, asks, sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cep.cli.feeding import misfits
from cep.cli.packs import load_of
from cep.config import Job, SecretError, load_job
from cep.config.masking import check_secret_fields
from cep.job.start.beforehand import differences, of_machine
from cep.job.state_folder.folder import StateFolder
from cep.packs.read import Checked
from rules.diagnostics import Diagnostic, DiagnosticsError, has_errors, in_order


def looked_over(
    path: Path, given: Sequence[Checked], *, to_run: bool
) -> tuple[list[Diagnostic], list[Checked]]:
    """Findings about a job file, its machine and what does not fit its packs; and these packs.

    The packs are those `given`, which are to be tried in the job, or else its own. Secrets are not asked for.
    """
    loaded = load_job(path, None)
    if loaded.job is None:
        return list(loaded.diagnostics), list(given)
    job = loaded.job
    try:
        folder: StateFolder | None = StateFolder.of(job)
    except SecretError:
        folder = None
    found = [*loaded.diagnostics, *of_machine(job, folder, None)]
    if folder is not None and not has_errors(found) and (layout := folder.layout()) is not None:
        found += differences(job, layout)
    try:
        packs = list(given) or load_of(job, to_run=to_run)
    except DiagnosticsError as error:
        return in_order([*found, *error.diagnostics]), []
    return in_order([*found, *_misfits(job, packs, own=not given)]), packs


def _misfits(job: Job, packs: Sequence[Checked], *, own: bool) -> list[Diagnostic]:
    """Misfits between job and packs; of packs with errors nobody knows what they read."""
    if any(one.pack is None or has_errors(one.diagnostics) for one in packs):
        return []
    those = [one.pack for one in packs if one.pack is not None]
    return [*misfits(job, those, own), *check_secret_fields(job, those)]
