"""The decision to run a batch again that failed: a worker may have been killed by somebody, or by an event.

It is run again as it was once. If its workers die again it is run carefully: what is then found to be the
reason is poison (cep.job.poison.events), and it goes on without that; if nothing is found, the job stops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cep.errors import OutsideError
from cep.job.poison.events import Poison, found_in, place
from cep.job.spark.failures import of_worker, poison_of
from cep.job.state_folder import manifest as manifests
from cep.sources.source import Feed

if TYPE_CHECKING:
    from cep.files import AnyPath

POISON = "CEP0870"
NOT_ONE = "CEP0871"
_DEATHS = 2
"""After so many a batch is run carefully."""


@dataclass(slots=True)
class Attempts:
    """Of the batch that is open: `batch`, None before any; how often its workers died.

    `careful`: the next run looks for what they die of.
    """

    manifests: AnyPath
    tell: Callable[[str], None]
    batch: int | None = None
    deaths: int = 0
    careful: bool = False

    def begin(self, batch: int) -> None:
        """A batch is about to run; what was counted of another does not matter any more."""
        if batch != self.batch:
            self.batch, self.deaths, self.careful = batch, 0, False

    def again(self, failure: BaseException, feeds: Mapping[str, Feed]) -> bool:
        """True if the batch that failed so is to be run again. `feeds` are those of the job, by stream.

        Raises OutsideError where the same is found twice.
        """
        if self.batch is None:
            return False
        if error := poison_of(failure):
            self._go_without(self.batch, found_in(error), feeds)
            return True
        how = of_worker(failure)
        if how is None:
            return False
        if self.careful:
            self.tell(
                f"batch {self.batch}: a process that worked on it {how}, each time, and there is no event "
                f"without which it does not ({NOT_ONE})"
            )
            return False
        self.deaths += 1
        self.careful = self.deaths >= _DEATHS
        then = "once more, looking for the event that is the reason" if self.careful else "again"
        self.tell(f"batch {self.batch}: a process that worked on it {how}; it is run {then}")
        return True

    def _go_without(self, batch: int, found: tuple[Poison, ...], feeds: Mapping[str, Feed]) -> None:
        """Writes down what the batch goes without, before it is run again."""
        manifest = manifests.read(self.manifests, batch)
        assert manifest is not None, "a batch that ran has one"
        known = {*manifest.poison, *found}
        if len(known) == len(manifest.poison):
            raise OutsideError(
                f"the processes that work on batch {batch} end also without what was found to be the reason "
                f"({NOT_ONE})",
                "start the job again: it goes on where it stopped",
            )
        manifests.write(self.manifests, replace(manifest, poison=tuple(sorted(known))))
        for one in found:
            where = f"{place(one, feeds.get(one.stream))} of stream {one.stream}"
            self.tell(
                f"batch {batch} goes without {where}, which is poison "
                f"({POISON}): the process {one.reason}, each time"
            )
