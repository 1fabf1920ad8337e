"""Which dead letters a desk can have read again, and what it is told of the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from some_desk import NOW, made

from cep.decode.bounds import SHOWN, too_long
from cep.decode.letters import DeadLetter
from cep.job.state_folder import letter_replays, old_letters, replayed
from cep.job.state_folder.dead_letters import LateEvent, letter, read, write
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.manifest import Manifest
from cep.web.desk.acting import Actor, acts_page
from cep.web.desk.dead_letters import one_letter
from cep.web.desk.desk import JobDesk
from cep.web.desk.erasing import erase
from cep.web.desk.errors import DeskError, MissingError, MistakenError, UnfitError
from cep.web.desk.filters import Page
from cep.web.desk.letter_replays import LettersReplayed, replay_feed, replay_letters

ANN = Actor("ann", NOW)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[JobDesk]:
    made_ = made(tmp_path)
    yield made_
    made_.outbox.close()


def put(desk: JobDesk, *letters: DeadLetter, batch: int = 2) -> list[int]:
    """Dead letters of a batch; their numbers."""
    with desk.outbox.writing() as connection:
        write(connection, batch, letters)
        return [one.number for one in read(connection, limit=500)][-len(letters) :]


def bad(offset: int, file: str = "in.jsonl", **more: object) -> DeadLetter:
    values = {"feed": "payment", "stage": "decode", "reason": "not JSON", "data": b"{"} | more
    return DeadLetter(file=file, offset=offset, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "why", "mended"),
    [
        (bad(1), None, None),
        (bad(1, stage="lost", data=b""), "tells of a file, and holds no record", "tells of a file"),
        (bad(1, stage="read"), "tells of a file, and holds no record", "tells of a file"),
        (bad(1, data=b""), "has no bytes", None),
        (bad(1, reason=too_long(2**30), data=b"x" * SHOWN), "the beginning of its record only", None),
        (bad(1, "in.parquet"), "is a row of Parquet, of which it has no bytes", "is a row of Parquet"),
        (bad(1, "in.txt"), "whose name does not say what it holds", "whose name does not say"),
        (bad(1, feed="gone"), "is of a feed that the job has no more", "is of a feed"),
        (bad(1, stage="poison", reason="poison: the process that matched it ended"), "not its bytes", None),
        (bad(1, stage="poison", reason="poison: the process that decoded and classified it"), None, None),
        (
            bad(0, "", stage="poison", reason="the process that matched what"),
            "not its bytes",
            "not its bytes",
        ),
    ],
)
def test_what_can_be_read_again(desk: JobDesk, one: DeadLetter, why: str | None, mended: str | None) -> None:
    (number,) = put(desk, one)
    for data, hindrance in ((None, why), (b"{}", mended)):
        if hindrance is None:
            assert replay_letters(desk, [str(number)], ANN, dry_run=True, data=data).replayed == 1
        else:
            with pytest.raises(UnfitError, match=hindrance):
                replay_letters(desk, [str(number)], ANN, dry_run=True, data=data)
    fit = 1 + (why is None)  # the desk has one more that fits
    assert replay_feed(desk, None, ANN, dry_run=True).replayed == fit


def test_all_that_are_named_are_replayed_or_none(desk: JobDesk) -> None:
    good, gone = put(desk, bad(1), bad(2, stage="lost", data=b""))
    with pytest.raises(UnfitError):
        replay_letters(desk, [str(good), str(gone)], ANN)
    with desk.outbox.reading() as connection:
        assert letter_replays.waiting(connection, ["payment"]) == []
    assert replay_letters(desk, [str(good)], ANN) == LettersReplayed(1, 1, {}, False)
    with pytest.raises(UnfitError, match="waits to be read again already"):
        replay_letters(desk, [str(good)], ANN, data=b"{}")
    (act,) = acts_page(desk, Page()).acts
    assert (act.who, act.what, act.details["letters"]) == ("ann", "dead letters replay", [good])


def test_a_dry_run_changes_nothing_and_counts_the_same(desk: JobDesk) -> None:
    put(desk, *(bad(n) for n in range(5)))
    counted = replay_feed(desk, "payment", ANN, dry_run=True)
    assert (counted.matched, counted.replayed) == (7, 6)
    assert counted.left == {"tells of a file": 1}
    with desk.outbox.reading() as connection:
        assert letter_replays.remaining(connection) == 0
    assert replay_feed(desk, None, ANN, dry_run=False) == LettersReplayed(7, 6, counted.left, False)
    with desk.outbox.reading() as connection:
        assert letter_replays.remaining(connection) == 6
    assert replay_feed(desk, "payment", ANN, dry_run=False).left == {
        "tells of a file": 1,
        "waits to be read again already": 6,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "data", "error"),
    [
        ([], None, MistakenError), (["x"], None, MistakenError), (["1"] * 1_001, None, MistakenError),
        (["99"], None, MissingError), (["1", "2"], b"{}", MistakenError), (["1"], b"", MistakenError),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_told(
    desk: JobDesk, given: list[str], data: bytes | None, error: type[DeskError]
) -> None:
    with pytest.raises(error) as told:
        replay_letters(desk, given, ANN, data=data)
    assert told.value.help
    with pytest.raises(MistakenError, match="no feed `paymint`"):
        replay_feed(desk, "paymint", ANN, dry_run=True)


def test_a_batch_takes_them_in_order_and_notes_what_came(desk: JobDesk) -> None:
    numbers = put(desk, bad(1), bad(2), bad(3), bad(9, feed="other"))
    replay_letters(desk, [str(one) for one in numbers[2::-1]], ANN)
    with desk.outbox.writing() as connection:
        assert letter_replays.waiting(connection, []) == []
        taken = letter_replays.waiting(connection, ["payment", "other"])
        assert [one.number for one in taken] == numbers[:3]
        places = {one.number: (one.letter.feed, one.letter.file, one.letter.offset) for one in taken}
        dead = [bad(2, reason="still not JSON")]
        late = [LateEvent("payment", "in.jsonl", 3, "p", 0, "{}")]
        write(connection, 7, dead, late)
        counts = letter_replays.settle(connection, 7, places, dead, late)
        assert counts == {"event": 1, "refused": 1, "late": 1}
        assert letter_replays.waiting(connection, ["payment"]) == []
    views = [one_letter(desk, str(number)).replay for number in numbers[:3]]
    assert [(one.state, one.batch, one.who) for one in views if one] == [
        ("event", 7, "ann"),
        ("refused", 7, "ann"),
        ("late", 7, "ann"),
    ]
    assert views[1] is not None
    again = one_letter(desk, str(views[1].successor))
    assert (again.forebear, again.reason, again.replay) == (numbers[1], "still not JSON", None)
    with pytest.raises(UnfitError, match=f"is dead letter {again.number} now"):
        replay_letters(desk, [str(numbers[1])], ANN)
    assert replay_letters(desk, [str(again.number)], ANN).replayed == 1


def test_a_batch_takes_no_more_than_it_may(desk: JobDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letter_replays, "MOST", 3)
    monkeypatch.setattr(letter_replays, "MOST_BYTES", 25)
    numbers = put(desk, *(bad(n, data=b"x" * 10) for n in range(5)), bad(9, data=b"x" * 100))
    replay_feed(desk, None, ANN, dry_run=False)
    taken: list[list[int]] = []
    with desk.outbox.writing() as connection:
        while some := letter_replays.waiting(connection, ["payment"]):
            taken.append([one.number for one in some])
            places = {one.number: (one.letter.feed, one.letter.file, one.letter.offset) for one in some}
            letter_replays.settle(connection, 9, places, [], [])
    assert [one for some in taken for one in some] == [1, *numbers]
    assert max(map(len, taken)) <= 3
    assert taken[-1] == numbers[-1:], "one that is larger than all that a batch takes goes alone"


def test_a_letter_that_waits_is_not_removed_with_age_and_its_replay_goes_with_it(desk: JobDesk) -> None:
    numbers = put(desk, bad(1), bad(2), bad(3))
    replay_letters(desk, [str(numbers[0])], ANN)
    with desk.outbox.writing() as connection:
        old_letters.mark(connection, NOW)
        old = old_letters.old(connection, old_letters.LETTERS, NOW)
        assert numbers[0] not in old
        assert numbers[1] in old
        letter_replays.settle(connection, 5, {numbers[0]: ("payment", "in.jsonl", 1)}, [], [])
        old = old_letters.old(connection, old_letters.LETTERS, NOW)
        assert numbers[0] in old
        old_letters.remove(connection, old_letters.LETTERS, old)
        assert letter_replays.of_letters(connection, numbers) == {}
        assert letter(connection, numbers[0]) is None


def test_what_is_erased_is_not_read_again(desk: JobDesk) -> None:
    own, mended, done = put(desk, bad(1, data=b'{"card_id": "c9"'), bad(2), bad(3))
    replay_letters(desk, [str(own)], ANN)
    for number in (mended, done):
        replay_letters(desk, [str(number)], ANN, data=b'{"card_id": "c9"}')
    manifests = StateFolder(desk.job.state).manifests
    manifests.mkdir()
    with desk.outbox.writing() as connection:
        read_again = [one for one in letter_replays.waiting(connection, ["payment"]) if one.number == done]
        feeds = {feed.name: feed for feed in desk.job.feeds}
        replayed.fixed(manifests, Manifest(7, {}, 1, 0), read_again, feeds)
        letter_replays.settle(connection, 7, {done: ("payment", "in.jsonl", 3)}, [], [])
    found = erase(desk, "card_id=c9", ANN, dry_run=False, rest=lambda _: None)
    assert found.dead_letters == 3
    assert [one for one in found.left if "letters" in one] == [
        "manifests/7.letters holds it, for 100 batches more: batch 7 read it again"
    ]
    with desk.outbox.reading() as connection:
        assert letter_replays.waiting(connection, ["payment"]) == []
        assert letter_replays.mended(connection, [own, mended, done]) == {done: b""}
    for number in (own, mended):
        with pytest.raises(UnfitError, match="has no bytes"):
            replay_letters(desk, [str(number)], ANN)
