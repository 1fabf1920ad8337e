"""The folders through which a job's driver and its workers give files to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.masking import Mask
from cep.job.shipping.program import Program, installed
from cep.job.state_folder.folder import StateFolder

if TYPE_CHECKING:
    from upath import UPath

    from cep.files import AnyPath

_OF_EXECUTOR = Path("queries-of-job")
"""In the folder that Spark gives an executor, and takes away when it has ended."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Folders of one job that all its processes see, as absolute paths: the mapper and the matcher hold them.

    `manifests` also has the lists of batches' files, `queries` the compiled query sets: those of this machine
    where all are `kept_queries` of a bucket. `blobs` None:
    payloads go through Spark however large they are; `record` None: no events are recorded. `mask` hashes
    secret values; None where no key is given. `program` is what has to be on each machine of a cluster.
    """

    manifests: AnyPath
    packs: AnyPath
    queries: Path
    blobs: Path | None
    record: AnyPath | None = None
    mask: Mask | None = None
    program: Program | None = None
    kept_queries: UPath | None = None

    @classmethod
    def of(
        cls, folder: StateFolder, *, record: bool = False, mask: Mask | None = None, cluster: bool = False
    ) -> Shared:
        """Those of a state folder, for workers here or of a `cluster`; that of blobs is made."""
        folder.blobs.mkdir(parents=True, exist_ok=True)
        return cls(
            folder.manifests.absolute(),
            folder.packs.absolute(),
            _OF_EXECUTOR if cluster and folder.bucket is not None else folder.queries.absolute(),
            None if cluster else folder.blobs.absolute(),
            folder.record.absolute() if record else None,
            mask,
            installed() if cluster else None,
            folder.kept_queries,
        )
