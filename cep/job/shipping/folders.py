"""The folders through which a job's driver and its workers give files to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from alerts.masking import Mask
from cep.job.state_folder.folder import StateFolder


@dataclass(frozen=True, slots=True)
class Shared:
    """Folders of one job that all its processes see, as absolute paths: the mapper and the matcher hold them.

    `manifests` also has the lists of batches' files, `queries` the compiled query sets; `record` is that of
    events, None where none is kept. `mask` hashes secret values; None where no key is given.
    """

    manifests: Path
    packs: Path
    queries: Path
    blobs: Path
    record: Path | None = None
    mask: Mask | None = None

    @classmethod
    def of(cls, folder: StateFolder, *, record: bool = False, mask: Mask | None = None) -> Shared:
        """Those of a state folder; that of blobs, which starts out empty, is made."""
        folder.blobs.mkdir(parents=True, exist_ok=True)
        manifests, packs, queries, blobs, recorded = (
            path.absolute()
            for path in (folder.manifests, folder.packs, folder.queries, folder.blobs, folder.record)
        )
        return cls(manifests, packs, queries, blobs, recorded if record else None, mask)
