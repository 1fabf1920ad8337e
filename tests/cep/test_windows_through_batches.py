"""Windows of random rules over events in batches, some late, with deploys between them, by the reference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from duel import Program, by_reference, pack_of, programs, taken_in_time
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_windows import AT_THE_END, through_deploys, window_packs

from cep.reference import Decided


def ordered(alerts: Sequence[Decided]) -> list[tuple[object, ...]]:
    return sorted((a.time, repr(a.key), repr(a.window), a.events, repr(a.emit)) for a in alerts)


@settings(max_examples=examples(100), deadline=None)
@given(programs(texts=window_packs()))
def test_random_windows_are_answered_and_every_alert_has_an_id_of_its_own(program: Program) -> None:
    answer = by_reference(program)
    ids = [alert["id"] for alert in answer.alerts]
    assert len(set(ids)) == len(ids)
    assert all(alert["kind"] == "window" and alert["events"]["e"] for alert in answer.alerts)
    assert [alert["time"] for alert in answer.alerts] == sorted(alert["time"] for alert in answer.alerts)
    same = through_deploys(program, [program.text])
    assert [a["time"] for a in answer.alerts] == sorted(a.time for a in same)


@settings(max_examples=examples(60), deadline=None)
@given(programs(texts=window_packs()), st.integers(1, 6))
def test_a_deploy_of_the_same_changes_nothing(program: Program, deploys: int) -> None:
    assert ordered(through_deploys(program, [program.text] * deploys)) == ordered(
        through_deploys(program, [program.text])
    )


@settings(max_examples=examples(60), deadline=None)
@given(programs(texts=window_packs(AT_THE_END)), st.integers(1, 4))
def test_new_constants_hold_from_the_watermark_of_their_deploy(program: Program, when: int) -> None:
    other = program.text.replace("having ", "having 1 < 2 and ")
    changed = program.text.replace("having ", "having 2 < 1 and ")
    assert pack_of(other).rules[0].structure == pack_of(changed).rules[0].structure
    when = min(when, len(program.batches) - 1)
    mark = taken_in_time(pack_of(program.text), program).marks[when]
    whole = through_deploys(program, [other])
    found = through_deploys(program, [*[other] * when, changed])
    assert ordered(found) == ordered([a for a in whole if a.time <= mark])


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(programs(texts=window_packs(("tumbling 2s", "hopping 4s every 2s", "tumbling 5s"))), st.integers(1, 4))
def test_windows_are_of_the_rule_under_which_they_began(program: Program, when: int) -> None:
    """Old and new differ in what they emit alone, and so in structure; what waited for the watermark at the
    deploy is the old rule's."""
    other = program.text.replace("emit ", "emit new = max(h), ")
    when = min(when, len(program.batches) - 1)
    mark = taken_in_time(pack_of(program.text), program).marks[when]
    found = through_deploys(program, [*[program.text] * when, other])
    old = [a for a in found if "new" not in dict(a.emit)]
    assert all(a.window is not None and a.window[0] < mark for a in old)
    assert all(a.window is not None and a.window[0] >= mark for a in found if a not in old)
    whole = through_deploys(program, [program.text])
    assert ordered(old) == ordered([a for a in whole if a.window is not None and a.window[0] < mark])
