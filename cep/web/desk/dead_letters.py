"""Dead letters: bytes that became no event, with their place and what is wrong with them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.job.state_folder import dead_letters, letter_replays
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import Page, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from cep.job.state_folder.dead_letters import StoredLetter
    from cep.job.state_folder.letter_replays import LetterReplay

BEGINNING = 500
"""Bytes of a letter that a list shows."""


@dataclass(frozen=True, slots=True)
class ReplayView:
    """A dead letter that is read again. `state` is waits, event, late or refused: then it is `successor` now.

    `mended`: with other bytes than its own; `batch` is that which read it.
    """

    state: str
    at: str
    who: str
    mended: bool
    batch: int | None
    successor: int | None


@dataclass(frozen=True, slots=True)
class LetterView:
    """A dead letter. `text` has its bytes as UTF-8, what is none of it replaced, in a list no more than the
    beginning; `base64` has them exactly, only where one is asked for. `replay` is there once somebody asked
    for it to be read again; `forebear` is the letter that it was before, if it is one that was."""

    number: int
    batch: int
    feed: str
    file: str
    offset: int
    stage: str
    reason: str
    size: int
    text: str
    base64: str | None
    replay: ReplayView | None
    forebear: int | None


@dataclass(frozen=True, slots=True)
class LetterPage:
    """Dead letters, the newest first; `next` is the cursor of those before them."""

    dead_letters: tuple[LetterView, ...]
    next: str | None


def letters_page(desk: JobDesk, feed: str | None, page: Page) -> LetterPage:
    """The dead letters of a feed, or of all. Raises MistakenError and OutboxError."""
    before = None if page.cursor is None else number_of("cursor", page.cursor)
    with desk.outbox.reading() as connection:
        found = dead_letters.newest(connection, feed=feed, before=before, limit=page.limit + 1)
        some = _views(connection, found[: page.limit], whole=False)
    return LetterPage(some, str(some[-1].number) if len(found) > page.limit else None)


def one_letter(desk: JobDesk, given: str) -> LetterView:
    """The dead letter of a number, whole. Raises MissingError, MistakenError and OutboxError."""
    number = number_of("number", given)
    with desk.outbox.reading() as connection:
        found = dead_letters.letter(connection, number)
        if found is None:
            raise MissingError(
                f"there is no dead letter {number}", "`cep deadletters list` has their numbers"
            )
        return _views(connection, [found], whole=True)[0]


def _views(connection: Connection, letters: Sequence[StoredLetter], *, whole: bool) -> tuple[LetterView, ...]:
    numbers = [one.number for one in letters]
    replays = letter_replays.of_letters(connection, numbers)
    before = letter_replays.forebears(connection, numbers)
    return tuple(
        _view(one, _replay(replays.get(one.number)), before.get(one.number), whole=whole) for one in letters
    )


def _replay(one: LetterReplay | None) -> ReplayView | None:
    if one is None:
        return None
    return ReplayView(one.state, moment(one.at), one.who, one.mended, one.batch, one.successor)


def _view(one: StoredLetter, replay: ReplayView | None, forebear: int | None, *, whole: bool) -> LetterView:
    letter = one.letter
    data = letter.data if whole else letter.data[:BEGINNING]
    return LetterView(
        one.number,
        one.batch,
        letter.feed,
        letter.file,
        letter.offset,
        letter.stage,
        letter.reason,
        len(letter.data),
        data.decode("utf-8", "replace"),
        base64.b64encode(data).decode() if whole else None,
        replay,
        forebear,
    )
