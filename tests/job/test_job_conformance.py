"""Conformance cases through Spark jobs: each case a pack of its own over streams of its own.

What Spark needs to plan a batch grows faster than its sources: so there are PARTS jobs, each with its share.
`make test` runs every sixteenth case, `make soak` the others.

Event time of a job is one for all packs. So the cases are moved in time until their watermarks stand at one
instant, NOW, and a stream of its own, `clock`, brings the job's watermark there: the streams of the cases are
idle by then. What a case expects without a drain is raised before the job's drain, the rest by it. Of cases
with windows, which moving changes, the job raises what the engine in process does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from cases import FILES, Given, difference, events_of, read, watermark_of
from job_folder import JobFolder, events_in

from alerts.notation import timestamp
from cep.cli.packs import load_all
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from rules.instants import parse_instant
from rules.typed import Over
from rules.types import Scalar

pytestmark = pytest.mark.spark

NOW = parse_instant("2024-07-01T00:00:00Z")
BEFORE = parse_instant("2000-01-01T00:00:00Z")
PARTS = 16
CLOCK = """pack clock version "1"

stream clock { n: long  at: timestamp  id n  time at  idle 1 day }

rule never { on clock[n < 0] }
"""

_STREAM = re.compile(r"\bstream\s+(\w+)\s*\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event of a case; `stream` by the case's own name, `time` in nanoseconds."""

    stream: str
    time: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Moved:
    """A case as one of many: its pack and its streams begin with `prefix`, its times are moved to NOW."""

    given: Given
    prefix: str

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """By their own names."""
        return tuple(name for name, _ in _STREAM.findall(self.given.case.rules))

    @property
    def fed(self) -> list[str]:
        """The streams that need a feed: those with events, and those that a rule reads."""
        read_by_rules = compile_plan([self.given.pack()]).read
        used = {*read_by_rules, *(stream for _, stream, _ in self.given.case.events)}
        return [name for name in self.streams if name in used]

    @cached_property
    def text(self) -> str:
        """The rules. A stream's name goes for a step without one, too: every word is changed that is one."""
        soon_idle = _STREAM.sub(r"stream \1 {\2  idle 1ms\n}", self.given.case.rules)
        pack = re.sub(r"\bpack \w+", f"pack {self.prefix}pack", soon_idle, count=1)
        words = re.compile(rf'"(?:[^"\\\n]|\\[^\n])*"|(?<![\w.])({"|".join(self.streams)})\b')
        return words.sub(lambda found: self.prefix + found[0] if found[1] else found[0], pack)

    @property
    def has_windows(self) -> bool:
        """True if rules are over windows: these lie by the calendar, and are not moved with the events."""
        return any(isinstance(rule.body, Over) for rule in self.given.pack().rules)

    @cached_property
    def shift(self) -> int:
        """Nanoseconds from the case's time to the job's."""
        events = events_of(self.given.pack(), self.given.case)
        until = watermark_of(events, replace(self.given.case, drain=False))
        return NOW - until

    @cached_property
    def events(self) -> list[Arrival]:
        """Moved, in the order given."""
        pack, found = self.given.pack(), []
        for _, name, text in self.given.case.events:
            stream, values = pack.stream(name), json.loads(text)
            for field in stream.fields:
                if field.type is Scalar.TIMESTAMP and values.get(field.name) is not None:
                    values[field.name] = timestamp(parse_instant(values[field.name]) + self.shift)
            found.append(Arrival(name, parse_instant(values[stream.time[0]]), values))
        return found

    def parts(self) -> tuple[list[Arrival], list[Arrival]]:
        """The events in two parts, cut so that each instant keeps its order.

        Within a batch it goes by the streams as they are declared. The files of the second part may come in
        several batches, so of each instant it may hold but one stream.
        """

        def fits(cut: int) -> bool:
            by_stream = sorted(self.events[:cut], key=lambda one: (one.time, self.streams.index(one.stream)))
            streams = {(one.time, one.stream) for one in self.events[cut:]}
            in_order = by_stream == sorted(self.events[:cut], key=lambda one: one.time)
            return in_order and len(streams) == len({time for time, _ in streams})

        half, number = len(self.events) // 2, len(self.events)
        cut = next(cut for cut in (*range(half, number + 1), *range(half)) if fits(cut))
        return self.events[:cut], self.events[cut:]

    def answer(self, raised: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The case's own alerts among these, with its own names and times."""
        return [
            {
                **alert,
                "time": parse_instant(alert["time"]) - self.shift,
                "events": {self._own(step): ids for step, ids in alert["events"].items()},
                "emit": {self._own(name): value for name, value in alert["emit"].items()},
            }
            for alert in raised
            if alert["pack"] == self.prefix + "pack"
        ]

    def _own(self, name: str) -> str:
        return name.removeprefix(self.prefix)


CASES = [
    Moved(given, f"c{number:03d}_") for number, given in enumerate(g for file in FILES for g in read(file))
]


def put(
    folder: JobFolder, cases: Iterable[Moved], part: Callable[[Moved], list[Arrival]]
) -> list[tuple[str, Path]]:
    """Puts a part of every case into the inbox: the files by stream."""
    files = []
    for case in cases:
        arrivals = part(case)
        for name in case.streams:
            if mine := [one.values for one in arrivals if one.stream == name]:
                files.append((case.prefix + name, folder.put(case.prefix + name, mine)))
    return files


def put_clock(folder: JobFolder, time: int) -> tuple[str, Path]:
    """Puts an event of the stream `clock` into the inbox."""
    return "clock", folder.put("clock", [{"n": time, "at": timestamp(time)}])


def raised(folder: JobFolder) -> list[dict[str, Any]]:
    """The alerts in the outbox, in the order raised."""
    return [{name: alert[name] for name in alert if name != "batch"} for alert in folder.alerts()]


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.soak) for part in range(1, PARTS))]
)
def test_the_job_answers_all_cases(spark: Callable[..., Any], tmp_path: Path, part: int) -> None:
    cases = CASES[part::PARTS]
    streams = tuple(case.prefix + name for case in cases for name in case.fed)
    folder = JobFolder(tmp_path / "job", CLOCK, ("clock", *streams))
    for case in cases:
        (folder.root / "packs" / f"{case.prefix}.rules").write_text(case.text, "utf-8")

    first = [*put(folder, cases, lambda case: case.parts()[0]), put_clock(folder, BEFORE)]
    with folder.running() as job:
        job.wait_for_batch(0)
        second = put(folder, cases, lambda case: case.parts()[1])
        job.wait_until_read()
        last = [put_clock(folder, NOW)]
        job.wait_until_read()
        assert job.stop() == 143, folder.told
    assert folder.watermark() == NOW
    before_drain = raised(folder)
    folder.once(spark, drain=True)
    at_all = raised(folder)

    packs = [one.pack for one in load_all([folder.root / "packs"]) if one.pack is not None]
    assert len(packs) == len(cases) + 1
    plan = compile_plan(packs)
    session = Session(plan)
    expected = []
    for files, watermark in ((first, BEFORE), (second, BEFORE), (last, NOW)):
        events = [e for name, path in files for e in events_in(path, plan.streams[name])]
        expected += session.feed(events, watermark)
    expected += session.drain()
    assert at_all == [one.alert.as_dict() for one in expected]

    wrong = {}
    for case in cases:
        if case.has_windows:  # test_conformance asks the engine in process, which is asked above, about these
            continue
        alerts = at_all if case.given.case.drain else before_drain
        if found := difference(case.given.alerts, case.answer(alerts)):
            wrong[case.given.name] = found
    assert not wrong, "\n".join(f"{name}\n{found}" for name, found in wrong.items())
