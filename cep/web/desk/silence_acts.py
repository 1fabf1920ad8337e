"""Acts on silences: begin one, take one back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from alerts.matchers import MatcherError, Matchers
from alerts.outbox.silences import add, expire
from alerts.silences import Silence
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MissingError, MistakenError
from cep.web.desk.filters import told
from cep.web.desk.secrets import shown_by
from cep.web.desk.silences import SilenceView, view_of

LONGEST_WHY = 1_000
MOST_MATCHERS = 50
_END = 2**63 - 1


@dataclass(frozen=True, slots=True)
class NewSilence:
    """A silence to begin: matchers as texts, why, and from when until when, wall clock in ns.

    `begins` None: now. Either `until` or `length`, in ns, says when it ends.
    """

    matchers: Sequence[str]
    why: str
    begins: int | None = None
    until: int | None = None
    length: int | None = None


def add_silence(desk: JobDesk, new: NewSilence, actor: Actor) -> SilenceView:
    """Begin a silence. Raises MistakenError and OutboxError."""
    begins = actor.at if new.begins is None else new.begins
    if (new.until is None) == (new.length is None):
        raise MistakenError("a silence needs an end", "give either `until`, a time, or `for`, how long")
    until = new.until if new.until is not None else begins + (new.length or 0)
    if until <= max(begins, actor.at):
        raise MistakenError("the silence would end before it begins, or has ended", "name a later end")
    if not new.why.strip():
        raise MistakenError("`why` is empty", "say why: others will ask")
    if len(new.why) > LONGEST_WHY:
        raise MistakenError(f"`why` has {LONGEST_WHY:,} characters at most", "shorten it")
    matchers = shown_by(desk, _matchers(new.matchers))
    one = Silence(secrets.token_hex(4), actor.who, new.why, begins, min(until, _END), matchers)
    view = view_of(one, actor.at, 0)
    details = {"silence": one.id, "matchers": list(view.matchers), "until": view.until, "why": one.why}
    with desk.outbox.writing() as connection:
        add(connection, one)
        actor.did(connection, "silence add", details)
    desk.wake()
    return view


def _matchers(texts: Sequence[str]) -> Matchers:
    if not 1 <= len(texts) <= MOST_MATCHERS:
        fix = f"give from one to {MOST_MATCHERS}, such as `rule = card_testing`"
        raise MistakenError(f"a silence has {len(texts):,} matchers", fix)
    try:
        return Matchers.of(texts)
    except MatcherError as error:
        raise MistakenError(str(error) if len(str(error)) <= 200 else told(str(error)), error.help) from error


def expire_silences(desk: JobDesk, given: Sequence[str], actor: Actor) -> tuple[str, ...]:
    """Take silences back, and free what they hold: all of them, or none; returns their ids.

    Raises MissingError and OutboxError.
    """
    ids = tuple(dict.fromkeys(given))
    with desk.outbox.writing() as connection:
        for id_ in ids:
            if not expire(connection, id_, actor.who, actor.at):
                raise MissingError(
                    f"there is no silence {told(id_)} that goes on", "`cep silences list` has their ids"
                )
        actor.did(connection, "silence expire", {"silences": list(ids)})
    desk.wake()
    return ids
