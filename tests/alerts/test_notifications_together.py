"""Notifications of one round are written together: as if each had been made after the one before it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from some_alerts import SECOND, raised
from sqlalchemy import select

from alerts.due import Settled
from alerts.matchers import Matchers
from alerts.outbox import BatchRecord, Held, Outbox
from alerts.outbox.notifications import Making, groups, notifications
from alerts.outbox.schema import deliveries
from alerts.outbox.silences import add
from alerts.routing import Route
from alerts.settings import Settings
from alerts.silences import Silence
from alerts.stages.inhibit import Inhibitors
from alerts.stages.mute import Silences
from alerts.stages.notifying import Notifying

COUNT = 9
NOW = 100 * SECOND
GROUPS = ("g1", "g2", "g3")
TABLES = (deliveries, notifications, groups)


@dataclass(frozen=True)
class Round:
    """What was held back before, the notifications that are made now, and what a silence holds by now."""

    held: tuple[Held, ...]
    makings: tuple[Making, ...]
    silence: Silence


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    reason = st.sampled_from([("group", GROUPS), ("rate", GROUPS), ("mute night", (None,)), ("key", (None,))])
    held = []
    for number in draw(st.sets(st.integers(1, COUNT))):
        why, of = draw(reason)
        until = draw(st.sampled_from([50, 150])) * SECOND
        held.append(Held("desk", number, why, f"{why}: waits", until, SECOND, draw(st.sampled_from(of))))
    makings = []
    left = set(range(1, COUNT + 1))
    for _ in range(draw(st.integers(1, 5))):
        numbers = draw(st.sets(st.sampled_from(sorted(left)), max_size=3)) if left else set()
        left -= numbers
        quiet = draw(st.sampled_from([90, 100, 130])) * SECOND
        group = draw(st.sampled_from([None, *GROUPS]))
        makings.append(Making("desk", frozenset(numbers), group, quiet))
    silenced = "|".join(f"c{number}" for number in draw(st.sets(st.integers(1, COUNT), max_size=3)))
    matchers = Matchers.of([f"card_id =~ {silenced or 'nobody'}"])
    return Round(tuple(held), tuple(makings), Silence("s", "ann", "noise", 0, 200 * SECOND, matchers))


def prepared(folder: str, round_: Round) -> Outbox:
    """An outbox with alerts for two receivers, of which some wait; two groups were told before."""
    outbox = Outbox.open(f"sqlite:///{Path(folder)}/outbox.db", durable=False, clock=lambda: SECOND)
    routes = Route("desk"), Route("pager")
    outbox.record(BatchRecord(0, "d", {}), [raised(n) for n in range(1, COUNT + 1)], routes)
    outbox.settle([], held=round_.held)
    with outbox.writing() as connection:
        rows = [{"receiver": "desk", "grouped": name, "quiet_until": 95 * SECOND} for name in GROUPS[:2]]
        connection.execute(groups.insert(), rows)
        add(connection, round_.silence)
    return outbox


def everything(outbox: Outbox) -> list[list[Any]]:
    """The rows of all that a round may change."""
    with outbox.reading() as connection:
        return [sorted(map(repr, connection.execute(select(one)))) for one in TABLES]


def made(outbox: Outbox, *rounds_: Sequence[Making]) -> list[Any]:
    stages = Notifying("desk", Settings(), Inhibitors(), {})
    stages.mute.silences = Silences(outbox.silences(NOW))
    return [one for makings in rounds_ for one in outbox.make(makings, stages, NOW)]


@settings(max_examples=examples(60))
@given(rounds())
def test_what_is_made_together_is_as_if_made_one_by_one(round_: Round) -> None:
    with (
        tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other,
        closing(prepared(one, round_)) as together, closing(prepared(other, round_)) as by_one,
    ):  # fmt: skip
        assert everything(together) == everything(by_one)
        found = made(together, round_.makings)
        others = made(by_one, *([one] for one in round_.makings))
        assert [one.made for one in found] == [one.made for one in others]
        assert everything(together) == everything(by_one)
        read = [one for one in together.due("desk", NOW, 99) if one.made is not None]
        of_made = [done.made for done in found if done.made is not None]
        assert [one.made for one in read] == [one.made for one in of_made]
        settled = [
            Settled("desk", one.number, "delivered", 1, f"{200 + n}", None, NOW, one.made.number)
            for n, one in enumerate(read)
            if one.made is not None
        ]
        together.settle(settled)
        for each in settled:
            by_one.settle([each])
        assert everything(together) == everything(by_one)
        assert together.status() == by_one.status()
        going = [number for done in found for number in done.numbers]
        assert len(going) == len(set(going)), "each is part of one"
