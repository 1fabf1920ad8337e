"""Dead letters: bytes that became no event, with their place and what is wrong with them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.job.state_folder import dead_letters
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MissingError
from cep.web.desk.filters import Page, number_of

if TYPE_CHECKING:
    from cep.job.state_folder.dead_letters import StoredLetter

BEGINNING = 500
"""Bytes of a letter that a list shows."""


@dataclass(frozen=True, slots=True)
class LetterView:
    """A dead letter. `text` has its bytes as UTF-8, what is none of it replaced, in a list no more than the
    beginning; `base64` has them exactly, only where one is asked for."""

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
    some = tuple(_view(one, whole=False) for one in found[: page.limit])
    return LetterPage(some, str(some[-1].number) if len(found) > page.limit else None)


def one_letter(desk: JobDesk, given: str) -> LetterView:
    """The dead letter of a number, whole. Raises MissingError, MistakenError and OutboxError."""
    number = number_of("number", given)
    with desk.outbox.reading() as connection:
        found = dead_letters.letter(connection, number)
    if found is None:
        raise MissingError(f"there is no dead letter {number}", "`cep deadletters list` has their numbers")
    return _view(found, whole=True)


def _view(one: StoredLetter, *, whole: bool) -> LetterView:
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
    )
