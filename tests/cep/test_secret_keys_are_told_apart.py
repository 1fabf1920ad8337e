"""Inhibition, order and groups by a secret key part and join alerts as the clear values would."""

from __future__ import annotations

import json
from pathlib import Path

from recording import SECOND, Recording, at
from secretive import MASK_KEY, PACK

from alerts.due import Due
from alerts.grouping import Manner
from alerts.inhibiting import Inhibition
from alerts.masking import Mask
from alerts.matchers import Matchers
from alerts.stages.candidate import Candidate
from alerts.stages.group import Group
from alerts.stages.inhibit import Inhibit, Inhibitors, Source
from alerts.stages.throttle import Throttle, key_of
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions

MASK = Mask(MASK_KEY.encode())
LIKE = ("4000001234567899", "4000001234567890", "4000001234567890 ", "A", "a", "A\u0308", "\u00c4")
CARDS = (*LIKE, MASK(LIKE[0]))
"""Texts that are alike, and the hash of one, as somebody may bring it: each is a card of its own."""
LOGGED_IN = CARDS[1::2]
WORSE = Inhibition(
    Matchers.of(["rule = followed"]), Matchers.of(["rule = large"]), ("card",), 3_600 * SECOND, "inhibition 1"
)


def coming(folder: Path, mask: Mask | None) -> list[Candidate]:
    """The alerts of payments, logins with some of the cards, and payments with all of them, as deliveries."""
    recording = Recording(folder, PACK)
    session = Session(compile_plan([recording.pack]), options=MatchOptions(mask=mask))
    found = []
    for start in (0, 200):
        pays = [
            {"pid": f"p{start}-{n}", "ts": at(start + n), "card": card, "shop": f"s{n}", "amount": 9}
            for n, card in enumerate(CARDS)
        ]
        found += session.feed(recording.events("pay", pays))
        if start == 0:
            logins = [{"lid": f"l{n}", "ts": at(100 + n), "holder": one} for n, one in enumerate(LOGGED_IN)]
            found += session.feed(recording.events("login", logins))
    found += session.drain()
    told = sorted((one for one in found if one.rule in ("large", "followed")), key=lambda one: one.time)
    return [Candidate(Due(number, one.id, one.body, 0, 0, one.time)) for number, one in enumerate(told)]


def held_back(some: list[Candidate]) -> list[int]:
    """The numbers of those that a worse one on their card holds back."""
    inhibitors = Inhibitors((WORSE,), lambda _since, _until: ())
    inhibitors.add(Source(one.due.time, one.due.body) for one in some if _rule(one) == "followed")
    stage = Inhibit(inhibitors)
    return [one.due.number for one in some if stage(one, 0) is not None]


def waiting(some: list[Candidate], failed: Candidate) -> list[int]:
    """The numbers of those that wait for one that failed."""
    throttle = Throttle(Manner(by_key=True), Group(None, {}, apart=False, by_key=True))
    throttle.note_failing(key_of(failed), failed.due.number, SECOND)
    return [one.due.number for one in some if throttle(one, 0) is not None]


def together(some: list[Candidate]) -> list[list[int]]:
    """The numbers of those that may go out together."""
    group = Group(None, {}, apart=False, by_key=True)
    named: dict[str, list[int]] = {}
    for one in some:
        named.setdefault(group.together(one), []).append(one.due.number)
    return list(named.values())


def _rule(one: Candidate) -> str:
    return str(json.loads(one.due.body)["rule"])


def test_stages_decide_as_by_the_clear_values(tmp_path: Path) -> None:
    clear, masked = coming(tmp_path / "clear", None), coming(tmp_path / "masked", MASK)
    assert [_rule(one) for one in clear] == [_rule(one) for one in masked]
    assert len(clear) == 2 * len(CARDS) + len(LOGGED_IN)
    assert not any(card in one.due.body for one in masked for card in LIKE[:3])
    assert held_back(masked) == held_back(clear)
    assert len(held_back(clear)) == len(LOGGED_IN), "the later payments with the cards that logged in"
    assert together(masked) == together(clear)
    assert len(together(clear)) == len(CARDS)
    for of_clear, of_masked in zip(clear, masked, strict=True):
        assert waiting(masked, of_masked) == waiting(clear, of_clear)
    assert any(waiting(clear, one) for one in clear)
