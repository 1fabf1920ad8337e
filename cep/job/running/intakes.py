"""The logs that events come into by HTTP, opened for as long as the job runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from cep.job.state_folder.folder import StateFolder
from cep.sources.checkpoint import DamagedError
from cep.sources.http.bounds import read_up_to
from cep.sources.http.http import Http, received
from cep.sources.http.intake import Intake
from cep.sources.source import Feed


def opened(
    feeds: Sequence[Feed],
    folder: StateFolder,
    tell: Callable[[str], None],
    assure: Callable[[], None],
    stack: ExitStack,
) -> dict[str, Intake]:
    """The intakes of those feeds that take events by HTTP, by stream; they end with `stack`.

    `assure` raises OutboxError where another process has taken the job over.

    Raises JobError where a log is damaged, and OSError.
    """
    found = {}
    for feed in feeds:
        if isinstance(feed.source, Http):
            place = received(folder.durable.absolute(), feed.name)
            intake = Intake(place, feed.source.backlog, tell, assure)
            try:
                intake.start(read_up_to(place))
            except DamagedError as error:
                raise folder.damaged(str(error)) from error
            stack.callback(intake.stop)
            found[feed.name] = intake
    return found
