"""The position of a receiver of transactions: what a note holds, and what the outbox makes of one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from some_alerts import raised
from stores import outbox_url

from alerts.due import Due, Settled
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.deliveries import in_state, redeliver_some
from alerts.outbox.positions import Confirmed
from alerts.position import LONGEST, Position, fitting
from alerts.routing import Route


def dues(numbers: list[int]) -> list[Due]:
    return [Due(number, f"{number:064x}", "{}", 0, 0) for number in numbers]


class TestNotes:
    @settings(max_examples=examples(300), deadline=None)
    @given(st.sets(st.integers(-(1 << 62), 1 << 62), min_size=1), st.integers(1, 1 << 62))
    def test_a_note_is_read_as_it_was_written(self, places: set[int], number: int) -> None:
        position = Position.of(number, dues(list(places)))
        assert position.places == tuple(sorted(places))
        assert Position.read(number, position.note) == position

    @settings(max_examples=examples(30), deadline=None)
    @given(
        st.lists(st.integers(1, 1 << 20) | st.integers(1, 4), min_size=1, max_size=40),
        st.integers(1, 6_000),
    )
    def test_what_fits_has_a_note_that_brokers_take(self, steps: list[int], count: int) -> None:
        every = dues(list(accumulate((steps * count)[:count])))
        some = fitting(1, every)
        assert 1 <= len(some) <= len(every)
        assert list(some) == every[: len(some)]
        assert len(some) == 1 or len(Position.of(1, some).note) <= LONGEST

    def test_a_full_transaction_of_what_was_raised_together_fits(self) -> None:
        assert len(fitting(1, dues(list(range(10**12, 10**12 + 5_000))))) == 5_000

    @pytest.mark.parametrize("note", ["", "1", "2.aa.eJwz", "1.aa.?", "1.aa.AAAA", "1.aa.eJxLzEtKAQAEhQHx"])
    def test_what_is_no_note_is_refused(self, note: str) -> None:
        with pytest.raises(ValueError, match=r"note|invalid literal"):
            Position.read(1, note)


@pytest.mark.usefixtures("store")
class TestConfirming:
    @pytest.fixture
    def outbox(self, tmp_path: Path) -> Iterator[Outbox]:
        box = Outbox.open(outbox_url(tmp_path), wait=0.2, durable=False)
        some = [raised(n) for n in range(10)]
        box.record(BatchRecord(1, "d", {}), some, [Route("stream"), Route("desk")])
        yield box
        box.close()

    def due(self, outbox: Outbox) -> list[Due]:
        return outbox.due("stream", 1 << 62, 100)

    def test_a_receiver_has_one_id_for_ever(self, outbox: Outbox) -> None:
        first = outbox.position("stream")
        assert first.number == 0
        assert first.id
        assert outbox.position("stream") == first
        assert outbox.position("desk").id != first.id

    def test_what_is_known_is_not_confirmed_again(self, outbox: Outbox) -> None:
        outbox.position("stream")
        outbox.settle([], {}, numbers={"stream": 4})
        assert outbox.confirm("stream", Position.of(4, self.due(outbox)[:3]), 1) == Confirmed(4)
        assert outbox.confirm("stream", Position(0), 1) == Confirmed(4)
        assert len(self.due(outbox)) == 10

    def test_what_had_arrived_is_written_down(self, outbox: Outbox) -> None:
        outbox.position("stream")
        sent = self.due(outbox)[2:5]
        assert outbox.confirm("stream", Position.of(1, sent), 7) == Confirmed(1, 3)
        assert [one.number for one in self.due(outbox)] == [1, 2, 6, 7, 8, 9, 10]
        assert outbox.status()["desk"].pending == 10
        (said,) = [one for one in outbox.deliveries(sent[0].id) if one.receiver == "stream"]
        assert said.outcome == "transaction 1, found there after an interruption"
        assert outbox.confirm("stream", Position.of(1, sent), 8) == Confirmed(1)

    def test_of_transactions_in_between_nothing_is_known(self, outbox: Outbox) -> None:
        outbox.position("stream")
        sent = self.due(outbox)[6:8]
        assert outbox.confirm("stream", Position.of(4, sent), 7) == Confirmed(4, 2, missed=3)
        assert [one.number for one in self.due(outbox)] == [1, 2, 3, 4, 5, 6, 9, 10]

    def test_numbers_of_other_alerts_confirm_nothing(self, outbox: Outbox) -> None:
        outbox.position("stream")
        others = dues([one.number for one in self.due(outbox)[:2]])
        assert outbox.confirm("stream", Position.of(1, others), 7) == Confirmed(1, strange=True)
        assert len(self.due(outbox)) == 10
        assert outbox.position("stream").number == 1


@pytest.mark.usefixtures("store")
def test_equal_outcomes_are_written_to_those_deliveries_and_no_others(tmp_path: Path) -> None:
    """In runs of numbers, one by one, and in between."""
    box, random = Outbox.open(outbox_url(tmp_path), wait=0.2, durable=False), Random(7)
    box.record(BatchRecord(1, "d", {}), [raised(n) for n in range(120)], [Route("stream"), Route("desk")])
    every = range(1, 121)
    for share in (0.1, 0.5, 0.9, 0.98, 1.0):
        sent = [number for number in every if random.random() < share]
        failed = [number for number in every if number not in sent]
        outcomes = [Settled("stream", number, "delivered", 1, "there", None, 5) for number in sent]
        outcomes += [Settled("stream", number, "failed", 2, "no", None, 5) for number in failed]
        box.settle(random.sample(outcomes, len(outcomes)), {})
        with box.reading() as connection:
            assert sorted(in_state(connection, "stream", every, ["delivered"])) == sent
            assert sorted(in_state(connection, "stream", every, ["failed"])) == failed
            assert sorted(in_state(connection, "desk", every, ["pending"])) == list(every)
        with box.writing() as connection:
            redeliver_some(connection, "stream", every, 1)
    box.close()
