"""Random rules over windows, and what the reference makes of them through deploys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import soak
from duel import Program, accepted, pack_of, taken_in_time
from hypothesis import strategies as st
from random_packs import LATENESS, header, match_rules
from random_streams import SECOND, Arrival

from cep.events import MAX_TIME, MIN_TIME
from cep.reference import Decided
from cep.reference.alternatives import Event
from cep.reference.text_conditions import text_predicate
from cep.reference.windows.aggregates import Surroundings
from cep.reference.windows.judged import Revision
from cep.reference.windows.judged import windows as judged_windows
from rules.typed import Over, Rule

AT_THE_END = (
    *("tumbling 2s", "tumbling 5s", "hopping 4s every 2s", "session gap 2s", "session gap 3s max 5s"),
    *("hopping 3s every 1s", "session gap 1s max 2s"),
)
AT_EVENTS = (
    *("sliding 3s", "sliding 3s", "last 2 events", "last 3 events within 4s", "tumbling 3s early"),
    *("hopping 4s every 2s early", "session gap 3s early", "last 1 events", "session gap 3s max 4s early"),
)
CALENDAR = (
    *('tumbling 1d zone "{}"', 'tumbling 2d zone "{}" early', 'tumbling 1w zone "{}"', "tumbling 1w"),
    *('hopping 2d every 1d zone "{}"', 'hopping 3d every 1d zone "{}" early', "hopping 14d every 7d"),
    *("sliding 3d", "session gap 30h", "session gap 20h max 3d", "last 3 events within 2d"),
)
ZONES = ("Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia")
"""Where clocks change by night, at midnight, by half an hour; that skipped a day; of minutes and seconds."""
AROUND = (0, -500_000_000, 1_325_100_000, 1_540_500_000, 1_711_600_000)
"""Seconds since 1970, some days before clocks change in one of them."""
_AGGREGATES = (
    *("count()", "sum(v)", "sum(w)", "avg(v)", "avg(w)", "min(w)", "max(k)", "first(v)", "last(k)", "rate()"),
    *("stddev(w)", "distinct(k)", "percentile(w, 0.5)", "count(v > 1)", 'sum(k == "a" ? v : null)'),
    *("sum(m)", "avg(m)", "min(m)", "max(m)", "stddev(m)", "distinct(m)", "percentile(m, 0.25)", "last(m)"),
    *("last(l)", "first(y)", "last(r)", "last(y.s)", "max(r.at)", "first(r.o)", "distinct(r.o)", "min(r.o)"),
    *('count(t matches "red")', 'count("a" in l)', "max(length(l))", "last(v > 1)", "last(at - r.at)"),
    *("percentile(v, 0)", "percentile(w, 1)", "sum(v * 4)", "sum(w * 1e308)", "max(at)", "min(upper(k))"),
    *('last(coalesce(t, "-"))', "sum(length(k))", "min(v)", "first(substr(k, 0, 1))"),
    *("stddev(v)", "percentile(v, 0.9)", "avg(v * w)", "min(m * 2)", "sum(w / v)", "distinct(v > 1)"),
)
_MORE = (
    *("start()", "end()", "end() - start()", "2 * count() + 1", "sum(w) / count()", 'coalesce(max(k), "z")'),
    *("avg(m) - previous(avg(m))", "length(last(l))", "last(r.n) + sum(v)", "previous(last(l)) == last(l)"),
)
_TESTS = (
    "count() > 1",
    "count() > 0",
    "sum(v) > 2",
    "avg(w) < 1.0",
    "last(v) == 1",
    "(max(v) > 1 or count() > 2)",
    '(last(l) == ("a", "b") or count() > 1)',
    '("a" in last(y.s) or last(v) > 0)',
    "(last(r) is null or end() - start() >= 2s)",
    "(avg(m) > previous(avg(m)) or count() in (1, 3))",
    'count(t matches "red") > 0',
    "not (sum(v) > 1)",
    "(previous(count()) > 0 or max(v) > 1)",
    "(distinct(k) > 1 ? sum(v) > 1 : count() > 1)",
)
_OF_KEY = ('(g == "x" or count() > 1)', 'upper(g) == "X"')


_CHOSEN = ("", "", "[v > 0]", "[v is not null]", '[t matches "red"]')


@dataclass(frozen=True, slots=True)
class Parts:
    """What a rule over windows of a stream with the fields of random_packs is put together of."""

    by: str
    chosen: str
    window: str
    having: str
    shown: tuple[str, ...]
    limit: str
    stream: str = "e"

    def rule(self, name: str) -> str:
        """Its text."""
        emits = ", ".join(f"x{n} = {call}" for n, call in enumerate(self.shown))
        having = f"having {self.having} emit {emits}{self.limit}"
        return f"rule {name} {{ {self.by} over {self.stream}{self.chosen} {self.window} {having} }}"


def window_rules(
    windows: Sequence[str] = (*AT_THE_END, *AT_EVENTS), name: str = "r"
) -> st.SearchStrategy[str]:
    """One such rule."""
    return window_parts(windows).map(lambda parts: parts.rule(name))


@st.composite
def window_parts(draw: st.DrawFn, windows: Sequence[str] = (*AT_THE_END, *AT_EVENTS)) -> Parts:
    """The parts of one."""
    window = draw(st.sampled_from(windows))
    earlier = ["previous({})", "previous({}, 2)", "previous({}, 5)"]
    length = {"tumbling 2s": "4s", "tumbling 5s": "10s", "sliding 3s": "1s", "hopping 4s every 2s": "2s"}.get(
        window
    )
    length = "14 days" if window.startswith(("tumbling 1", "hopping 14d")) else length
    length = "2 days" if "d zone" in window else length
    earlier += [f"ago({{}}, {length})"] if length else []
    aggregates = st.sampled_from(_AGGREGATES)
    named = aggregates | st.tuples(st.sampled_from(earlier), aggregates).map(
        lambda pair: pair[0].format(pair[1])
    )
    by = draw(st.sampled_from(("by g ", "by g ", "by g, n ", "by m ", "by r.n ", "")))
    named |= st.sampled_from((*_MORE, "g") if "g" in by else _MORE)
    shown = draw(st.lists(named, min_size=1, max_size=4, unique=True))
    tests = (*_TESTS, *_OF_KEY) if "g" in by else _TESTS
    having = draw(st.sampled_from(tests) | st.just("count() > previous(count())"))
    chosen = draw(st.sampled_from(_CHOSEN))
    limit = (
        draw(st.sampled_from(("", "", " limit 9 events"))) if window.startswith(("sliding", "last")) else ""
    )
    return Parts(by, chosen, window, having, tuple(shown), limit)


@st.composite
def alike_packs(draw: st.DrawFn, windows: Sequence[str] = (*AT_THE_END, *AT_EVENTS)) -> str:
    """Packs of rules that keep and read the same windows, of other events, and ask and tell differently."""
    parts = draw(window_parts(windows))
    rules = []
    for name in draw(st.sampled_from(("rs", "rst", "srtu"))):
        asked = draw(st.sampled_from(("{}", "{}", "not ({})", "{} or 1 < 2", "({}) and g is not null")))
        having = asked.format(parts.having) if "g" in parts.by else parts.having
        shown = draw(st.just(parts.shown) | st.permutations(parts.shown).map(tuple))
        chosen, stream = draw(st.sampled_from(_CHOSEN)), draw(st.sampled_from("eef"))
        one = replace(parts, chosen=chosen, having=having, shown=shown, stream=stream)
        rules.append(one.rule(name))
    return header(draw(st.sampled_from((0, LATENESS)))) + "\n" + "\n".join(rules)


def window_packs(windows: Sequence[str] = (*AT_THE_END, *AT_EVENTS)) -> st.SearchStrategy[str]:
    """Packs of one such rule."""
    return st.tuples(st.sampled_from((0, LATENESS)), window_rules(windows)).map(
        lambda drawn: f"{header(drawn[0])}\n{drawn[1]}"
    )


@st.composite
def of_days(draw: st.DrawFn) -> tuple[str, int, int]:
    """A pack of one rule over days or weeks, and what a second of a random stream stands for in it, with the
    instant of its first: both in seconds."""
    window = draw(st.sampled_from(CALENDAR)).format(draw(st.sampled_from(ZONES)))
    unit = 3600 * draw(st.sampled_from((5, 11, 24, 60)))
    late = draw(st.sampled_from((0, LATENESS * unit)))
    rules = window_rules((window,)).map(lambda rule: f"{header(late)}\n{rule}")
    return draw(rules.filter(accepted)), unit, draw(st.sampled_from(AROUND))


def stretched(program: Program, unit: int, begin: int) -> Program:
    """The program with times that many times as far apart, from an instant on."""

    def moved(arrival: Arrival) -> Arrival:
        return replace(arrival, values={**arrival.values, "at": arrival.time * unit + begin * SECOND})

    return replace(program, batches=tuple(tuple(map(moved, batch)) for batch in program.batches))


def calendar_families() -> st.SearchStrategy[list[Program]]:
    """Packs of such rules with several feeds."""
    return of_days().flatmap(
        lambda drawn: soak.families(st.just(drawn[0])).map(
            lambda programs: [stretched(one, *drawn[1:]) for one in programs]
        )
    )


@st.composite
def mixed_packs(draw: st.DrawFn) -> str:
    """Packs of one or two such rules and one with a pattern over the same streams, often of one key."""
    rules = [draw(window_rules(name=name)) for name in draw(st.sampled_from(("r", "rs")))]
    rules.append(draw(match_rules("m")))
    return header(draw(st.sampled_from((0, LATENESS)))) + "\n" + "\n".join(draw(st.permutations(rules)))


def through_deploys(program: Program, texts: Sequence[str]) -> list[Decided]:
    """The alerts of the windows of rule `r`, with batch n under the n-th text, the last of which goes on."""
    return [one for _, one in of_revisions(program, texts)]


def of_revisions(program: Program, texts: Sequence[str]) -> list[tuple[Rule, Decided]]:
    """The same, each with the rule of the revision that raised it."""
    packs = [pack_of(text) for text in texts]
    came = taken_in_time(packs[0], program)
    stream = packs[0].stream("e")
    events = [
        Event("e", arrival.values["id_"], arrival.time, arrival.values, place)
        for place, (_, arrival) in enumerate(came.in_time)
        if arrival.stream == stream.name
    ]
    revisions = []
    for number, pack in enumerate(packs[: len(program.batches)]):
        (rule,) = pack.rules
        assert isinstance(rule.body, Over)
        batches = [batch for batch, _ in came.in_time]
        place = next((n for n, batch in enumerate(batches) if batch >= number), len(batches))
        revisions.append(Revision(rule, came.marks[number] if number else MIN_TIME, place))
    until = MAX_TIME if program.drain else came.marks[-1]
    events.sort(key=lambda event: (event.time, event.place))
    found = judged_windows(revisions, events, until, Surroundings("e", text_predicate(*packs)))
    return [(one.rule, one.seen.alert(one.rule)) for one in found if one.raised]
