"""The operations that change something; each is written into the audit table."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from cep.web.api import bodies
from cep.web.api.operation import Asked, Operation
from cep.web.desk.delivery_acts import (
    ByFilter,
    Redelivered,
    Redelivery,
    redeliver_alerts,
    redeliver_by_filter,
)
from cep.web.desk.episode_acts import Does, EpisodeAct, change_episodes
from cep.web.desk.episodes import EpisodeView
from cep.web.desk.erasing import Erasure, erase
from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import instant, told, wanted
from cep.web.desk.letter_replays import LettersReplayed, replay_feed, replay_letters
from cep.web.desk.receiver_acts import Resumed, Tried, resume_receiver, try_receiver
from cep.web.desk.silence_acts import NewSilence, add_silence, expire_silences
from cep.web.desk.silences import SilenceView

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Expired:
    """The ids of silences that are taken back."""

    expired: tuple[str, ...]


def _episode(does: Does) -> Callable[[Asked], EpisodeView]:
    """Does it with the episode of the path."""

    def do(asked: Asked) -> EpisodeView:
        act = EpisodeAct(does, getattr(asked.body, "verdict", None), asked.body.note)
        return change_episodes(asked.desk, [asked.path["id"]], act, asked.actor)[0]

    return do


def _episodes(does: Does) -> Callable[[Asked], tuple[EpisodeView, ...]]:
    """Does it with the episodes of the body: all of them, or none."""

    def do(asked: Asked) -> tuple[EpisodeView, ...]:
        act = EpisodeAct(does, getattr(asked.body, "verdict", None), asked.body.note)
        return change_episodes(asked.desk, asked.body.episodes, act, asked.actor)

    return do


def _of_episodes(does: Does, says: str, one: Any, several: Any) -> tuple[Operation, Operation]:
    return (
        Operation(
            f"{does}_episode", "POST", f"/episodes/{{id}}/{does}", "operate", says, EpisodeView,
            _episode(does), body=one,
        ),
        Operation(
            f"{does}_episodes", "POST", f"/episodes/{does}", "operate", f"{says}: of several, all or none",
            tuple[EpisodeView, ...], _episodes(does), body=several, in_list="episodes",
        ),
    )  # fmt: skip


def _silence(asked: Asked) -> SilenceView:
    given = asked.body
    new = NewSilence(
        given.matchers,
        given.why,
        None if given.begins is None else instant("begins", given.begins),
        None if given.until is None else instant("until", given.until),
        None if given.length is None else _length(given.length),
    )
    return add_silence(asked.desk, new, asked.actor)


def _length(text: str) -> int:
    from rules.instants import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise MistakenError(
            f"`length` is no duration: `{told(text)}`", "write a number and a unit: `30m`, `2 hours`"
        ) from error


def _redeliver(asked: Asked) -> Redelivery:
    given = asked.body
    written = {name: text for name, text in asdict(given.filter).items() if text is not None}
    by = ByFilter(wanted(written), given.receiver, given.states, written)
    return redeliver_by_filter(asked.desk, by, asked.actor, dry_run=given.dry_run)


def _replay(asked: Asked) -> LettersReplayed:
    given = asked.body
    if [given.numbers is not None, given.feed is not None, given.all].count(True) != 1:
        raise MistakenError("which dead letters are meant?", "give `numbers`, or a `feed`, or `all`")
    if given.numbers is None:
        if given.data is not None:
            raise MistakenError("mended bytes are those of one dead letter", "give its number in `numbers`")
        return replay_feed(asked.desk, given.feed, asked.actor, dry_run=given.dry_run)
    numbers = [str(one) for one in given.numbers]
    data = None if given.data is None else _decoded(given.data)
    return replay_letters(asked.desk, numbers, asked.actor, dry_run=given.dry_run, data=data)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise MistakenError("`data` is no base64", "encode the mended bytes") from error


ACTING = (
    *_of_episodes(
        "acknowledge", "Say that somebody works on an episode", bodies.Noted, bodies.NotedEpisodes
    ),
    *_of_episodes("close", "Close an episode with a verdict", bodies.Verdicted, bodies.VerdictedEpisodes),
    *_of_episodes("reopen", "Open an episode again", bodies.Noted, bodies.NotedEpisodes),
    Operation(
        "add_silence", "POST", "/silences", "operate", "Begin a silence", SilenceView, _silence,
        body=bodies.Silencing,
    ),
    Operation(
        "expire_silence", "DELETE", "/silences/{id}", "operate", "Take a silence back", Expired,
        lambda asked: Expired(expire_silences(asked.desk, [asked.path["id"]], asked.actor)),
    ),
    Operation(
        "expire_silences", "POST", "/silences/expire", "operate", "Take silences back, all or none", Expired,
        lambda asked: Expired(expire_silences(asked.desk, asked.body.silences, asked.actor)),
        body=bodies.Silences,
    ),
    Operation(
        "redeliver_alert", "POST", "/alerts/{id}/redeliver", "operate", "Send an alert again", Redelivered,
        lambda asked: redeliver_alerts(
            asked.desk, [asked.path["id"]], asked.body.receiver, asked.actor
        )[0],
        body=bodies.ToReceiver,
    ),
    Operation(
        "redeliver_alerts", "POST", "/alerts/redeliver", "operate", "Send alerts again, all or none",
        tuple[Redelivered, ...],
        lambda asked: redeliver_alerts(asked.desk, asked.body.alerts, asked.body.receiver, asked.actor),
        body=bodies.AlertsToReceiver, in_list="redelivered",
    ),
    Operation(
        "redeliver", "POST", "/redeliver", "operate", "Send the alerts of a filter to a receiver again",
        Redelivery, _redeliver, body=bodies.FilteredToReceiver,
    ),
    Operation(
        "erase", "POST", "/alerts/erase", "operate",
        "Erase what is kept of a key: alerts, episodes, events, dead letters", Erasure,
        lambda asked: erase(asked.desk, asked.body.key, asked.actor, dry_run=asked.body.dry_run),
        body=bodies.Key, lasts=True,
    ),
    Operation(
        "replay_deadletters", "POST", "/deadletters/replay", "operate",
        "Have dead letters read again by the next batches", LettersReplayed, _replay,
        body=bodies.LettersToReplay,
    ),
    Operation(
        "resume_receiver", "POST", "/receivers/{name}/resume", "operate",
        "Attempt deliveries to a receiver again, now", Resumed,
        lambda asked: resume_receiver(asked.desk, asked.path["name"], asked.actor), body=bodies.Nothing,
    ),
    Operation(
        "test_receiver", "POST", "/receivers/{name}/test", "operate",
        "Send one notification that is marked as a test", Tried,
        lambda asked: try_receiver(asked.desk, asked.path["name"], asked.actor), body=bodies.Nothing,
    ),
)  # fmt: skip
