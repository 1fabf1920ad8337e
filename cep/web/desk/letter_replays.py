"""Replays of dead letters: the job's next batches read their bytes again, or mended ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.decode.bounds import LONGEST
from cep.decode.formats import UnknownFormatError
from cep.job.state_folder import dead_letters, letter_replays
from cep.job.state_folder.letter_replays import Asking, hindrance
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MissingError, MistakenError, UnfitError
from cep.web.desk.filters import number_of, told
from cep.web.desk.packs import running

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from cep.job.state_folder.dead_letters import StoredLetter
    from cep.job.state_folder.letter_replays import LetterReplay

MOST = 100_000
"""Letters that a filter may want of one call."""
MOST_NAMED = 1_000
_STEP = 2_000
_SEEN = {
    "waits": "waits to be read again already",
    "event": "became an event when it was read again",
    "late": "became a late event when it was read again",
    "refused": "was read again, and is dead letter {} now",
}


@dataclass(frozen=True, slots=True)
class LettersReplayed:
    """Dead letters that are, or with `dry_run` would be, read again; `matched` counts those that were meant,
    `replayed` those of them that can be; `left` has how many cannot, by reason."""

    matched: int
    replayed: int
    left: Mapping[str, int]
    dry_run: bool


def replay_letters(
    desk: JobDesk, given: Sequence[str], actor: Actor, *, dry_run: bool = False, data: bytes | None = None
) -> LettersReplayed:
    """Have the dead letters of some numbers read again: all, or none. `data` takes the place of one's bytes.

    Raises MistakenError, MissingError, UnfitError and OutboxError.
    """
    if not 1 <= len(given) <= MOST_NAMED:
        raise MistakenError(
            f"{len(given):,} dead letters are named", f"name from one to {MOST_NAMED:,} at a time"
        )
    if data is not None:
        _check_mended(given, data)
    wanted = list(dict.fromkeys(number_of("number", text) for text in given))
    with desk.outbox.reading() if dry_run else desk.outbox.writing() as connection:
        found = [_there(connection, number) for number in wanted]
        for letter, reason in _judged(desk, connection, found, mended=data is not None):
            if reason:
                raise UnfitError(f"dead letter {letter.number} {reason}", _fix(reason))
        if not dry_run:
            pairs = [(one.number, one.letter.feed) for one in found]
            letter_replays.ask(connection, pairs, Asking(actor.who, actor.at, data))
            details = {"letters": wanted, "mended": data is not None}
            actor.did(connection, "dead letters replay", details)
    return LettersReplayed(len(wanted), len(wanted), {}, dry_run)


def replay_feed(desk: JobDesk, feed: str | None, actor: Actor, *, dry_run: bool) -> LettersReplayed:
    """Have all dead letters of a feed, or of all feeds, read again that can be, some at a time.

    Raises MistakenError and OutboxError.
    """
    if feed is not None and feed not in {one.name for one in desk.job.feeds}:
        names = ", ".join(f"`{one.name}`" for one in desk.job.feeds)
        raise MistakenError(f"the job has no feed `{told(feed)}`", f"it has {names}")
    matched, replayed, left = 0, 0, dict[str, int]()
    for some in _of_feed(desk, feed):
        with desk.outbox.reading() if dry_run else desk.outbox.writing() as connection:
            fit = []
            for letter, reason in _judged(desk, connection, some, mended=False):
                if reason:
                    known = reason.partition(",")[0]
                    left[known] = left.get(known, 0) + 1
                else:
                    fit.append((letter.number, letter.letter.feed))
            if fit and not dry_run:
                letter_replays.ask(connection, fit, Asking(actor.who, actor.at))
                details = {"feed": feed, "letters": len(fit), "first": fit[0][0], "last": fit[-1][0]}
                actor.did(connection, "dead letters replay", details)
        matched, replayed = matched + len(some), replayed + len(fit)
        if matched > MOST:
            break
    return LettersReplayed(matched, replayed, dict(sorted(left.items())), dry_run)


def _of_feed(desk: JobDesk, feed: str | None) -> Iterator[list[StoredLetter]]:
    """The letters that are there now, in steps."""
    after = 0
    while True:
        with desk.outbox.reading() as connection:
            some = dead_letters.read(connection, feed=feed, after=after, limit=_STEP)
        if not some:
            return
        yield some
        after = some[-1].number


def _there(connection: Connection, number: int) -> StoredLetter:
    found = dead_letters.letter(connection, number)
    if found is None:
        raise MissingError(f"there is no dead letter {number}", "`cep deadletters list` has their numbers")
    return found


def _judged(
    desk: JobDesk, connection: Connection, letters: Sequence[StoredLetter], *, mended: bool
) -> Iterator[tuple[StoredLetter, str | None]]:
    """Letters, each with the reason why it cannot be read again, a predicate; None if it can."""
    before = letter_replays.of_letters(connection, [one.number for one in letters])
    secret = {one.name for pack in running(desk).values() for one in pack.fed if one.secrets}
    for one in letters:
        reason = _seen(before.get(one.number))
        if one.letter.feed in secret:
            reason = reason or "is of a stream with secret fields, of which no bytes are kept"
        yield one, reason or _unfit(desk, one, mended=mended)


def _seen(replay: LetterReplay | None) -> str | None:
    return None if replay is None else _SEEN[replay.state].format(replay.successor)


def _unfit(desk: JobDesk, one: StoredLetter, *, mended: bool) -> str | None:
    letter = one.letter
    feed = next((feed for feed in desk.job.feeds if feed.name == letter.feed), None)
    if feed is None:
        return "is of a feed that the job has no more"
    if letter.stage not in ("decode", "poison") or not letter.file:
        return hindrance(letter) or "has no place"
    try:
        if feed.format.of(letter.file).kind == "parquet":
            return "is a row of Parquet, of which it has no bytes"
    except UnknownFormatError:
        return "is of a file whose name does not say what it holds"
    return None if mended else hindrance(letter)


def _fix(reason: str) -> str:
    if "dead letter" in reason:
        return "replay that one"
    if "already" in reason or "became" in reason:
        return "`cep deadletters show` tells how it stands"
    return "write what it should be into a file that is new, and rename it into the feed"


def _check_mended(given: Sequence[str], data: bytes) -> None:
    if len(given) != 1:
        raise MistakenError("mended bytes are those of one dead letter", "name one")
    if not 0 < len(data) <= LONGEST:
        raise MistakenError(f"mended bytes are 1 to {LONGEST:,}", "send the whole record, and it alone")
