"""The end of a run that takes what is there: all that was there when it began has been read.

Spark itself knows such runs (`availableNow`), in which ticks come with the first batch only. That is enough
where sources give rows, as files do; topics give none, so that with them a run goes on as any other, and ends
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cep.job.batches.driver import Driver
from cep.job.state_folder import extents
from cep.sources.checkpoint import Checkpoint
from cep.sources.source import Feed


@dataclass(slots=True)
class Taken:
    """Events of a run: of feeds that are counted all up to `ends`, of others until a batch finds nothing."""

    feeds: Sequence[Feed]
    checkpoint: Checkpoint
    ends: dict[str, dict[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.ends = {
            feed.name: dict(feed.source.ends(self.checkpoint, feed.name))
            for feed in self.feeds
            if feed.source.counted
        }

    def by(self, driver: Driver) -> bool:
        """True if the last batch of a driver was the last that is needed. Raises ConfigurationError."""
        last, folder = driver.last, driver.around.folder
        if last is None or driver.preparation.drain:  # time ends with the next batch, and so does the run
            return False
        for feed in self.feeds:
            if feed.name in self.ends:
                reached = feed.source.reached(self.checkpoint, feed.name, last.number)
                if any(reached.get(place, 0) < end for place, end in self.ends[feed.name].items()):
                    return False
        read = extents.load(folder.manifests, driver.deploys.sources(), last.number, last.manifest.files)
        return all(one.stream in self.ends for one in read)
