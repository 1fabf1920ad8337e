"""`idle` is counted while the program runs: no pause, restart or step of a clock makes a stream idle."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_of_tests import BEGIN, SECOND, pack

from cep.batch.clock import Partition, Seen, watermark_after
from cep.events import MIN_TIME
from cep.job.clocks.running_time import RESTART, STALL, Pause, RunningTime, SetBack, Stretch
from cep.job.state_folder.manifest import Manifest, Result, following, parse, result, result_of
from cep.packs.compile import compile_plan
from cep.plan.plan import Plan
from rules.packs import load_texts

TICK = SECOND // 5
HOUR = 3600 * SECOND
FAST: Partition = ("payment", "payment")
SLOW: Partition = ("other", "other")
IDLE = {"payment": 10 * SECOND, "other": 60 * SECOND}


def _plan() -> Plan:
    other = "\nstream other { a: string  t: timestamp  id a  time t }\nrule o { on other emit a }\n"
    return compile_plan([load_texts([("p.rules", pack(idle="idle 10 seconds", more=other))]).need()])


@dataclass
class Machine:
    """A running job and its clocks; the program reads them every TICK, and batches come when told."""

    steady: int = 0
    wall: int = BEGIN
    plan: Plan = field(default_factory=_plan)
    last: Result | None = None
    batch: int = 0
    ran: RunningTime = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.ran = RunningTime(lambda: self.steady, lambda: self.wall)

    def work(self, time: int) -> None:
        """The program runs for so long."""
        while time > 0:
            step = min(TICK, time)
            self.pause(step, step)
            time -= step

    def pause(self, steady: int, wall: int) -> None:
        """The clocks go on before the program looks again."""
        self.steady += steady
        self.wall += wall
        self.ran.tick()

    def deliver(self, *seen: Partition) -> Manifest:
        """A batch to which partitions deliver; what it ran with."""
        first = Manifest(self.batch, {"desk": "r"}, 4, self.wall)
        made = following(first, self.last, self.plan, self.ran.lap())
        found = dict.fromkeys(seen, BEGIN + self.batch * SECOND)
        after = watermark_after(made.start(self.plan), self.plan, Seen(found))
        self.last = result_of(result(made, self.plan, Seen(found), after, {}).as_dict())
        self.batch += 1
        return parse(made.text())


def _restarted(machine: Machine) -> None:
    machine.steady, machine.wall = 0, machine.wall + HOUR
    machine.start()


STEPS = {
    "stopped": lambda machine: machine.pause(HOUR, HOUR),
    "suspended": lambda machine: machine.pause(0, HOUR),
    "set forward": lambda machine: machine.pause(0, HOUR),
    "set back": lambda machine: machine.pause(0, -HOUR),
    "restarted": _restarted,
}


@pytest.mark.parametrize("step", STEPS)
def test_after_a_step_the_first_to_deliver_makes_the_others_not_late(step: str) -> None:
    machine = Machine()
    machine.deliver(FAST, SLOW)
    machine.work(9 * SECOND)
    machine.deliver(FAST, SLOW)
    machine.work(9 * SECOND)
    STEPS[step](machine)
    assert machine.deliver(FAST).idle == ()
    assert machine.last is not None
    assert machine.last.watermark <= BEGIN + SECOND, "the other stream stands there still"
    machine.work(59 * SECOND)
    assert machine.deliver().idle == (FAST,)
    machine.work(SECOND)
    assert machine.deliver().idle == (SLOW, FAST), "time without events counts after it"


@pytest.mark.parametrize("step", STEPS)
def test_a_stream_of_which_nothing_came_yet_has_its_idle_anew(step: str) -> None:
    machine = Machine()
    machine.deliver(FAST)
    machine.work(59 * SECOND)
    assert machine.deliver(FAST).idle == (FAST,)
    STEPS[step](machine)
    assert machine.deliver(FAST).idle == ()
    machine.work(59 * SECOND)
    assert machine.deliver(FAST).idle == (FAST,)
    machine.work(SECOND)
    assert machine.deliver(SLOW).idle == (("other", ""),)
    assert machine.deliver().idle == ()
    assert machine.deliver().last_active.keys() == {FAST, SLOW}, "and then it is a stream as any other"


@pytest.mark.parametrize("step", STEPS)
def test_the_clock_moves_no_event_time_across_a_step(step: str) -> None:
    machine = Machine()
    machine.deliver(FAST, SLOW)
    machine.work(70 * SECOND)
    assert len(machine.deliver().idle) == 2
    machine.work(5 * SECOND)
    machine.deliver()
    assert machine.last is not None
    before = machine.last.watermark
    assert before == BEGIN - 2 * SECOND + 5 * SECOND
    STEPS[step](machine)
    machine.deliver()
    assert machine.last.watermark == before


def test_a_pause_shorter_than_idle_does_not_count_and_begins_nothing_anew() -> None:
    machine = Machine()
    machine.deliver(FAST, SLOW)
    machine.work(40 * SECOND)
    machine.pause(50 * SECOND, 50 * SECOND)
    machine.work(9 * SECOND)
    assert machine.deliver(FAST).idle == (), "of the other stream it is not a pause as long as its idle"
    machine.work(10 * SECOND)
    assert machine.deliver().idle == (FAST,)
    machine.work(SECOND)
    assert machine.deliver().idle == (SLOW, FAST)


def test_a_state_of_before_has_its_idle_anew_at_the_start() -> None:
    before = Result(
        {}, BEGIN, {FAST: BEGIN, SLOW: BEGIN}, {FAST: 0, SLOW: 5 * SECOND}, BEGIN, HOUR, None, {}, {}, False
    )
    machine = Machine(last=before, batch=1)
    assert machine.deliver(FAST).idle == ()
    machine.work(60 * SECOND)
    assert machine.deliver().idle == (SLOW, FAST)


def test_a_batch_that_is_run_again_keeps_what_was_decided() -> None:
    """The time of the batch is the one in its manifest; the next one begins anew."""
    machine = Machine()
    machine.deliver(FAST, SLOW)
    machine.work(60 * SECOND)
    made = machine.deliver(FAST)
    assert made.idle == (SLOW, FAST)
    _restarted(machine)
    machine.last = result_of(result(made, machine.plan, Seen({FAST: BEGIN}), BEGIN, {}).as_dict())
    assert machine.deliver(FAST).idle == ()


_STEPS = st.one_of(
    st.tuples(st.just("work"), st.integers(0, 30 * SECOND)),
    st.tuples(st.just("stopped"), st.integers(STALL + 1, 2 * HOUR)),
    st.tuples(st.just("suspended"), st.integers(STALL + 1, 2 * HOUR)),
    st.tuples(st.just("set back"), st.integers(STALL + 1, 2 * HOUR)),
    st.tuples(st.just("restarted"), st.just(0)),
    st.tuples(st.just("deliver"), st.sets(st.sampled_from((FAST, SLOW)))),
)


@pytest.mark.slow
@given(st.lists(_STEPS, max_size=25))
def test_idle_is_the_sum_of_the_time_in_which_the_program_ran(
    steps: list[tuple[str, int | set[Partition]]],
) -> None:
    """The oracle adds up what ran since a partition delivered, or since a pause as long as its idle."""
    machine = Machine()
    machine.deliver(FAST, SLOW)
    inactive = {FAST: 0, SLOW: 0}
    for kind, much in [*steps, ("deliver", set[Partition]())]:
        match kind, much:
            case "work", int():
                machine.work(much)
                inactive = {one: ran + much for one, ran in inactive.items()}
            case "deliver", set():
                expected = {one for one, ran in inactive.items() if ran >= IDLE[one[0]]}
                assert set(machine.deliver(*much).idle) == expected
                inactive |= dict.fromkeys(much, 0)
            case "restarted", _:
                machine.start()
                # its first batch is the one from which on it counts
                expected = set()
                assert set(machine.deliver().idle) == expected
                inactive = dict.fromkeys(inactive, 0)
            case _, int():
                machine.pause(much if kind == "stopped" else 0, -much if kind == "set back" else much)
                inactive = {one: 0 if much >= IDLE[one[0]] else ran for one, ran in inactive.items()}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, STALL), st.integers(-STALL // 2, STALL // 2)), max_size=20))
def test_small_steps_of_the_wall_clock_are_no_pauses(steps: list[tuple[int, int]]) -> None:
    machine = Machine()
    machine.ran.lap()
    for steady, aside in steps:
        machine.pause(steady, steady + aside)
    assert machine.ran.lap() == Stretch(sum(steady for steady, _ in steps))


def test_of_several_pauses_those_stay_that_no_later_one_outweighs() -> None:
    machine = Machine()
    assert machine.ran.lap() == RESTART
    for length in (20, 50, 30, 5):
        machine.pause(length * SECOND, length * SECOND)
        machine.work(SECOND)
    lengths = {50: 3, 30: 2, 5: 1}
    assert machine.ran.lap() == Stretch(
        4 * SECOND, tuple(Pause(length * SECOND, since * SECOND) for length, since in lengths.items())
    )
    assert machine.ran.lap() == Stretch(0)


@pytest.mark.slow
@given(st.lists(st.integers(-3 * SECOND, 3 * SECOND), max_size=12))
def test_a_clock_that_is_set_back_is_noticed_from_where_it_was_at_most(steps: list[int]) -> None:
    machine = Machine()
    set_back = SetBack(lambda: machine.steady, lambda: machine.wall)
    set_back.start()
    ahead, most, expected = 0, 0, False
    for step in steps:
        machine.pause(TICK, TICK + step)
        ahead += step
        most = max(most, ahead)
        expected = expected or most - ahead > STALL
        assert set_back.look() == expected
    set_back.start()
    assert set_back.look() is False
    machine.pause(HOUR, HOUR)
    assert set_back.look() is False, "a pause sets nothing back"


def test_before_the_first_event_there_is_nothing_to_excuse() -> None:
    machine = Machine()
    made = machine.deliver()
    assert (made.idle, made.last_active, made.watermark) == ((), {}, MIN_TIME)
