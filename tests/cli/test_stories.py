"""The trace of a failing test draws the values that decided."""

from __future__ import annotations

from effort import examples
from hypothesis import HealthCheck, given, settings
from random_tests import Trial, trials

from alerts.notation import json_value
from cep.inprocess.timelines import engine_of, observer_of
from rules.packs import load_texts
from rules.testing import Coverage, Happening, coverage_text, result_text, run_test
from rules.typed import Compare, Expected, Logical, Step


def story_of(trial: Trial) -> list[Happening]:
    result = run_test(trial.pack, trial.test, engine_of(trial.pack), json_value)
    return observer_of(trial.pack)(result.timeline.moments, trial.test.rules)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(trials())
def test_conditions_are_worked_out_as_the_kernel_decided_them(trial: Trial) -> None:
    for seen in story_of(trial):
        if seen.node is None or seen.value is None or seen.kind in ("broken", "passed"):
            continue
        if seen.failed in ("absence", "until"):  # the condition of the step may well hold
            continue
        condition = seen.node.condition
        truth = condition is None or seen.value(condition) is True
        assert truth == (seen.kind != "tried"), f"{seen.kind} {seen.node.span.text}\n{trial}"


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(trials())
def test_every_story_can_be_told(trial: Trial) -> None:
    """Whatever is expected in vain, and whatever was covered."""
    pack, test = trial.pack, trial.test
    vain = tuple(Expected(item.at, (), item.span) for item in test.timeline[-2:])
    wanting = type(test)(test.rules, test.title, (*test.timeline, *vain), False, False, test.span)
    result = run_test(pack, wanting, engine_of(pack), json_value)
    story = observer_of(pack)(result.timeline.moments, test.rules)
    assert result_text(result, json_value, story).startswith(("passed", "FAILED"))
    coverage = Coverage(pack)
    coverage.add(result, story)
    assert coverage_text(pack, coverage.rules()).startswith("coverage of p: ")


def test_a_loop_is_seen_without_the_event_that_it_takes() -> None:
    text = """pack p version "1"
    stream e { id_: string  at: timestamp  v: long  id id_  time at }
    rule r { match s: e[count(s) == 0 or v > first(s.v)]{2} within 1 hour }
    test r "rising" { at 0s e { v: 3 } at 1s e { v: 4 } expect { } }"""
    pack = load_texts([("p.rules", text)]).need()
    (test,) = pack.tests
    result = run_test(pack, test, engine_of(pack), json_value)
    took = [h for h in observer_of(pack)(result.timeline.moments, ("r",)) if h.kind in ("began", "took")]
    for seen, (counted, rises) in zip(took, [(0, None), (1, True)], strict=True):
        assert isinstance(seen.node, Step)
        assert isinstance(seen.node.condition, Logical)
        assert seen.value is not None
        none_yet, rising = seen.node.condition.operands
        assert isinstance(none_yet, Compare)
        assert (seen.value(none_yet.left), seen.value(rising)) == (counted, rises)
