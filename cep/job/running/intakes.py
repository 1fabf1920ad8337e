"""The logs that events come into by HTTP, opened for as long as the job runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from cep.job.state_folder.folder import StateFolder
from cep.sources.checkpoint import DamagedError
from cep.sources.http.bounds import read_up_to
from cep.sources.http.http import Http, received
from cep.sources.http.intake import Intake
from cep.sources.source import Feed


@dataclass(frozen=True, slots=True)
class Intakes:
    """The intakes of a job's feeds, `by_stream`; they end with `stack`.

    `assure` raises OutboxError where another process has taken the job over.
    """

    folder: StateFolder
    tell: Callable[[str], None]
    assure: Callable[[], None]
    stack: ExitStack
    by_stream: dict[str, Intake] = field(default_factory=dict, init=False)

    def open(self, feeds: Sequence[Feed]) -> None:
        """Those feeds that take events by HTTP do so from now on, as others do already.

        Raises JobError where a log is damaged, and OSError.
        """
        for feed in feeds:
            if not isinstance(feed.source, Http) or feed.name in self.by_stream:
                continue
            place = received(self.folder.durable.absolute(), feed.name)
            intake = Intake(place, feed.source.backlog, self.tell, self.assure)
            try:
                intake.start(read_up_to(place))
            except DamagedError as error:
                raise self.folder.damaged(str(error)) from error
            self.stack.callback(intake.stop)
            self.by_stream[feed.name] = intake

    def waiting(self) -> dict[str, int]:
        """By stream, the bytes that no batch has read yet. From any thread."""
        return {name: intake.waiting for name, intake in list(self.by_stream.items())}
