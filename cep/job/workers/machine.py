"""A machine of a cluster is looked at, and made ready, before the first batch comes to it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cep.errors import ConfigurationError
from cep.job.shipping.folders import Shared
from cep.job.workers.worker import worker

if TYPE_CHECKING:
    import pyarrow as pa

    from cep.files import AnyPath

UNSEEN = "CEP0893"


@dataclass(frozen=True, slots=True)
class Ready:
    """Looks at the machine that it comes to. `seen` is a file in the state folder, `feeds` are folders."""

    shared: Shared
    seen: AnyPath
    feeds: tuple[Path, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows as they come. Raises ConfigurationError where the job cannot run on this machine."""
        worker(self.shared)  # the versions of its program
        self._sees_folders()
        _load_kernels()
        yield from batches

    def _sees_folders(self) -> None:
        here = f"the machine {socket.gethostname()}"
        folder = self.seen.parent
        help_ = "name a [job] state and paths of feeds on a disk that all machines mount at one path"
        try:
            token = self.seen.read_text("ascii")
        except Exception:
            raise ConfigurationError(
                f"{here} does not see the state folder {folder}", help_, UNSEEN
            ) from None
        mine = folder / f"{self.seen.name}-{socket.gethostname()}-{os.getpid()}"
        try:
            mine.write_text(token, "ascii")
            mine.unlink()
        except Exception as error:
            why = getattr(error, "strerror", None) or str(error)
            said = f"{here} cannot write into {folder}: {why.lower()}"
            raise ConfigurationError(said, "let the user of Spark's workers write there", UNSEEN) from None
        for one in self.feeds:
            if not one.is_dir():
                raise ConfigurationError(f"{here} does not see the folder {one} of a feed", help_, UNSEEN)


def _load_kernels() -> None:
    """Compiles the kernels where this machine has not done so, and loads them."""
    from alerts import compiled as of_alerts
    from cep.decode import compiled as of_decoding
    from cep.operators.patterns.runtime import compiled as of_patterns
    from cep.operators.windows.runtime import compiled as of_windows
    from percolator.matching import compiled as of_queries

    for one in (of_decoding, of_patterns, of_windows, of_queries, of_alerts):
        one.load()
