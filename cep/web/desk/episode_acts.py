"""Acts on episodes: acknowledge them, close them with a verdict, open them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from alerts.episodes.episode import LONGEST_NOTE, VERDICTS, EpisodeError, Standing, Verdict
from alerts.outbox.episodes import change
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.episodes import EpisodeView, meant, views_of
from cep.web.desk.errors import MistakenError, UnfitError
from cep.web.desk.filters import told

Does = Literal["acknowledge", "close", "reopen"]
MOST = 1_000
"""Episodes that are changed at once."""


@dataclass(frozen=True, slots=True)
class EpisodeAct:
    """What is done with an episode; `verdict` where it is closed, `note` for others to read."""

    does: Does
    verdict: Verdict | None = None
    note: str = ""


def change_episodes(
    desk: JobDesk, given: Sequence[str], act: EpisodeAct, actor: Actor
) -> tuple[EpisodeView, ...]:
    """Change the episodes of these ids: all of them, or none; returns them as they are then.

    Raises MistakenError, MissingError, UnfitError and OutboxError.
    """
    _check(given, act)
    with desk.outbox.writing() as connection:
        changed = []
        for id_ in dict.fromkeys(given):
            one = meant(connection, id_)
            try:
                standing = _standing(one.standing, act, actor)
            except EpisodeError as error:
                raise UnfitError(f"episode {told(id_)} was not changed: {error}", error.help) from error
            change(connection, one.first, standing)
            changed.append(meant(connection, id_))
        views = views_of(connection, changed)
        details = {"episodes": [one.id for one in views], "verdict": act.verdict, "note": act.note}
        actor.did(connection, f"episode {act.does}", details)
    desk.wake()
    return views


def _check(given: Sequence[str], act: EpisodeAct) -> None:
    if not 1 <= len(given) <= MOST:
        raise MistakenError(f"{len(given):,} episodes are named", f"name from one to {MOST:,} at a time")
    if len(act.note) > LONGEST_NOTE:
        raise MistakenError(f"a note has {LONGEST_NOTE:,} characters at most", "shorten it")
    if act.does == "close" and act.verdict not in VERDICTS:
        raise MistakenError("an episode is closed with a verdict", f"give one of {', '.join(VERDICTS)}")


def _standing(before: Standing, act: EpisodeAct, actor: Actor) -> Standing:
    match act.does:
        case "acknowledge":
            return before.acknowledged(actor.who, actor.at, act.note)
        case "close":
            assert act.verdict is not None
            return before.closed(act.verdict, actor.who, actor.at, act.note)
        case "reopen":
            return before.reopened(actor.who, actor.at, act.note)
