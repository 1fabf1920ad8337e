"""From decisions to alerts: the emitted values, the summary, the id, and what suppression goes by.

By column, for all decisions of a rule in a shard and batch, and of rules that tell alike: what expressions
name is looked up together, and only what they compute from it is computed one by one. Many are written in
Arrow, few in lists, rule by rule. `RuleWriter.raised` is the same for one alert.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat

import numpy as np
import numpy.typing as npt

from alerts.alert import Kind
from alerts.column_writer import Writing, written
from alerts.columns import Column
from alerts.forms import filled
from alerts.identity import canonical
from alerts.masking import Mask
from alerts.notation import plain, timestamps
from alerts.raised import NOTHING_APART, Apart, ApartTexts, Raised, Withholding, Writer
from alerts.raised_columns import RaisedColumns, Raising
from cep.batch.decisions import ByStep, Decisions, KeyValues, chosen, lengths
from cep.batch.shared_columns import Chosen
from cep.expressions.conditions import identity
from cep.hashing.rows import order_of
from cep.plan.plan import RulePlan
from cep.shard.render_columns import content
from cep.shard.scope import Alike, Scope, json_column, summary_form
from rules.typed import Rule

Ints = npt.NDArray[np.int64]


Part = list[Raised] | RaisedColumns
"""Alerts of one rule: few one by one; many by column, also of several rules."""
MANY = 100
"""So many decisions of one form are cheaper by column, whose calls take a millisecond together; listing those
of one more rule costs as much as LISTED more."""
LISTED = 20
MOST = 1 << 17
"""Decisions that are written together at most: what it takes of memory is of so many (decision 97)."""


def rendered(decided: Iterable[Decisions], mask: Mask | None = None, many: int = MANY) -> list[Part]:
    """The alerts of decisions, before suppression; by column where so `many` have one form. Without a `mask`
    secret values are shown."""
    return [part for alike in _telling_alike(decided) for part in _parts(alike, mask, many)]


def _telling_alike(decided: Iterable[Decisions]) -> Iterator[Decisions]:
    """The decisions, those together whose alerts differ in values and in what a rule always says."""
    groups: dict[Hashable, list[Decisions]] = {}
    for decisions in decided:
        for of_form in decisions.split([renderer(rule).form for rule in decisions.rules]):
            form = renderer(of_form.rules[0]).form, *_kept_as(of_form)
            group = groups.setdefault(form, [])
            if group and sum(map(len, group)) + len(of_form) > MOST:
                yield Decisions.together(group)
                group.clear()
            group.append(of_form)
    yield from map(Decisions.together, groups.values())


def _kept_as(decisions: Decisions) -> tuple[Hashable, ...]:
    """The events of decisions, and the types of what is known of each."""
    keys = tuple(map(_type_of, decisions.key))
    values = tuple((name, values.type) for name, values in decisions.values.items())
    return id(decisions.columns), keys, values


def _type_of(values: KeyValues) -> Hashable:
    if isinstance(values, Chosen):
        return id(values.column)
    return None if isinstance(values, np.ndarray) else values.type


def _parts(decisions: Decisions, mask: Mask | None, many: int) -> Iterator[Part]:
    """The alerts of decisions of rules that tell alike; by column where so `many` have one form."""
    least = many - LISTED * (len(decisions.rules) - 1)
    if len(decisions.rules) > 1 and len(decisions) < least:
        for alone in decisions.split(range(len(decisions.rules))):
            yield from _parts(alone, mask, many)
        return
    renderers = list(map(renderer, decisions.rules))
    taken = decisions.by_step(len(renderers[0].plan.alerts.steps))
    for which in _forms(decisions, taken):
        of, row = decisions.of_rows(which)
        if len(of) >= least:
            rules = [one.writer.writing for one in renderers]
            alike = renderers[0].alike(decisions, taken, which, mask)
            try:
                yield written(rules, of, row, content(renderers[0].plan.rule, alike))
                continue
            except UnicodeEncodeError:  # a lone surrogate, which Arrow has no string for
                pass
        for one, mine in _by_rule(renderers, of, row, which):
            yield one.listed(one.alike(decisions, taken, mine, mask))


def _by_rule(
    renderers: Sequence[Renderer], of: Ints, row: Ints | None, which: Ints | slice
) -> Iterator[tuple[Renderer, Ints | slice]]:
    """Of some rows those of each rule."""
    if len(renderers) == 1:
        yield renderers[0], which
        return
    rows = which if isinstance(which, np.ndarray) else np.arange(which.start, which.stop)
    rows = rows if row is None else rows[row]
    for number in np.unique(of).tolist():
        yield renderers[number], rows[of == number]


@dataclass(slots=True)
class Renderer:
    """Writes the alerts of one rule. Those of rules with one `form` have keys, values, steps and a summary of
    the same names, and say the same of the same events."""

    plan: RulePlan
    writer: RuleWriter = field(init=False)
    form: int = field(init=False)

    def __post_init__(self) -> None:
        rule, told, by = self.plan.rule, self.plan.alerts, self.plan.rule.by
        self.writer = RuleWriter(self.plan.pack, self.plan.revision, rule)
        form = (
            None if by is None else (by.names, by.types, by.secrets),
            told.kind,
            told.steps,
            tuple(map(identity, rule.emit)),
            tuple(map(identity, told.on_timeout)),
            tuple(summary_form(rule, () if by is None else by.names)[0]),
            None if rule.suppress is None else rule.suppress.names,
        )
        self.form = _named_forms.setdefault(form, next(_NUMBERS))

    def alike(self, decisions: Decisions, taken: ByStep, which: Ints | slice, mask: Mask | None) -> Alike:
        """Some decisions, which are of one form; `taken` is what all took."""
        rule, form, taken = self.plan.rule, self.plan.alerts, taken.chosen(which)
        by = () if rule.by is None else tuple(zip(rule.by.names, rule.by.types, strict=True))
        keys = {name: chosen(values, which) for (name, _), values in zip(by, decisions.key, strict=True)}
        known = {name: chosen(values, which) for name, values in decisions.values.items()}
        scope = Scope({name: number for number, name in enumerate(form.steps)}, taken, keys, known)
        kind, emitting = form.kind, rule.emit
        if decisions.timeout[which][0]:
            kind, emitting = "timeout", form.on_timeout
        steps = tuple((name, number) for number, name in enumerate(form.steps) if taken.count[0, number])
        return Alike(
            kind,
            decisions.time[which],
            by,
            tuple(emitting),
            steps,
            scope,
            chosen(decisions.orders, which),
            None if decisions.windows is None else decisions.windows.chosen(which),
            frozenset() if rule.by is None else rule.by.secrets,
            mask,
        )

    def listed(self, alike: Alike) -> list[Raised]:
        """The alerts of decisions of one form, one by one."""
        scope = alike.scope
        emit = {one.name: json_column(alike.emitted(one), one.value.type) for one in alike.emitting}
        key = {name: json_column(alike.key(name), type_) for name, type_ in alike.by}
        events = [(name, scope.taken.ids(number)) for name, number in alike.steps]
        orders = alike.orders.to_pylist()
        times = alike.time.tolist()
        return self.writer.by_column(alike.kind, times, key, emit, events, orders, _apart(alike))


def _apart(alike: Alike) -> ApartTexts[Sequence[str]] | None:
    if alike.kind == "hit":
        return ApartTexts(Column(alike.queries).json, None)
    windows = alike.windows
    if windows is None:
        return None
    ids = alike.scope.taken.columns.ids()
    bounds = zip(timestamps(windows.start.tolist()), timestamps(windows.end.tolist()), strict=True)
    ends = ["]" if row < 0 else f",{ids[row]}]" for row in windows.at.tolist()]
    by = [f'["{start}","{end}"{at}' for (start, end), at in zip(bounds, ends, strict=True)]
    return ApartTexts(by, alike.estimates)


_renderers: dict[tuple[str, str, str], Renderer] = {}
_KEPT = 4096
_NUMBERS = count()
_named_forms: dict[Hashable, int] = {}
"""Numbers of forms, which are long: none is given twice."""


def renderer(plan: RulePlan) -> Renderer:
    """The renderer of a rule in a revision of its pack, made once: its templates cost more than an alert."""
    name = plan.pack, plan.revision, plan.rule.name
    found = _renderers.get(name)
    if found is None:
        if len(_renderers) >= _KEPT:
            _renderers.clear()
            _named_forms.clear()
        found = _renderers[name] = Renderer(plan)
    return found


def _forms(decisions: Decisions, taken: ByStep) -> Iterator[Ints | slice]:
    """Rows of decisions by form: whether time ended them, and which steps took something; no more than MOST
    decisions together.

    Those of a form are in order of time: who puts alerts in order then finds each near the one before it.
    """
    time, timeout, took = decisions.time, decisions.timeout, taken.count > 0
    counts = lengths(decisions.decided)
    rising = bool((time[1:] >= time[:-1]).all())
    if (timeout == timeout[0]).all() and (took == took[0]).all():
        whole = None if rising else order_of(time)
        for some in _pieces(counts if whole is None else counts[whole]):
            yield some if whole is None else whole[some]
        return
    order = np.arange(len(time)) if rising else order_of(time)
    _, of_form = np.unique(np.column_stack((timeout, took))[order], axis=0, return_inverse=True)
    by_form = np.argsort(of_form, kind="stable")
    for rows in np.split(order[by_form], np.flatnonzero(np.diff(of_form[by_form])) + 1):
        for some in _pieces(counts[rows]):
            yield rows[some]


def _pieces(counts: Ints) -> Iterator[slice]:
    """Rows one behind the other, which have so many decisions each: a row, or rows with MOST at most."""
    ends, begin, before = np.cumsum(counts), 0, 0
    while begin < len(ends):
        end = max(begin + 1, int(np.searchsorted(ends, before + MOST, side="right")))
        yield slice(begin, end)
        begin, before = end, int(ends[end - 1])


class RuleWriter:
    """Writes a rule's alerts, its summary and what suppression goes by; `key` and `emit` are JSON values."""

    def __init__(self, pack: str, revision: str, rule: Rule) -> None:
        self._rule = rule
        self._writer = Writer(
            pack, revision, rule.name, rule.structure, rule.severity, rule.tags, rule.runbook
        )
        duration = None if rule.suppress is None else rule.suppress.duration
        _, summary = summary_form(rule, () if rule.by is None else rule.by.names)
        self.writing = Writing(self._writer, Raising(pack, rule.name, rule.severity, duration), summary)

    def raised(
        self,
        kind: Kind,
        time: int,
        key: dict[str, object],
        emit: dict[str, object],
        events: Sequence[tuple[str, list[str]]],
        order: tuple[int, ...],
        apart: Apart = NOTHING_APART,
    ) -> Raised:
        """The alert of a decision, before suppression."""
        summary = _summary(self._rule, key, emit)
        withholding = _withholding(self._rule, key, emit)
        return self._writer.raised(kind, time, key, summary, emit, events, order, withholding, apart)

    def by_column(
        self,
        kind: Kind,
        times: Sequence[int],
        key: Mapping[str, Column],
        emit: Mapping[str, Column],
        events: Sequence[tuple[str, Sequence[str]]],
        orders: Sequence[bytes],
        apart: ApartTexts[Sequence[str]] | None = None,
    ) -> list[Raised]:
        """The result of `raised`, for many decisions: see `alerts.raised.Writer.by_column`."""
        known = {**key, **emit}
        summary = Column(_summaries(self._rule, key, known, len(times)))
        withholding = _withheld(self._rule, key, known, len(times))
        return self._writer.by_column(kind, times, key, summary, emit, events, orders, withholding, apart)


def _summary(rule: Rule, key: Mapping[str, object], emit: Mapping[str, object]) -> str:
    template = rule.summary
    if template is None:
        on = ", ".join(plain(value) for value in key.values())
        return f"{rule.name} on {on}" if key else rule.name
    parts = [template.texts[0]]
    for place, name in enumerate(template.names):
        parts.append(plain(emit[name] if name in emit else key.get(name)))
        parts.append(template.texts[place + 1] if place + 1 < len(template.texts) else "")
    return "".join(parts)


def _summaries(rule: Rule, key: Mapping[str, Column], known: Mapping[str, Column], count: int) -> list[str]:
    names, texts = summary_form(rule, tuple(key))
    columns = [known[name].plain if name in known else ["null"] * count for name in names]
    return filled(texts, columns, count)


def _withholding(rule: Rule, key: Mapping[str, object], emit: Mapping[str, object]) -> Withholding | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    names = suppress.names
    values = [emit[n] if n in emit else key.get(n) for n in names] if names else list(key.values())
    return Withholding(canonical(values), suppress.duration)


def _withheld(
    rule: Rule, key: Mapping[str, Column], known: Mapping[str, Column], count: int
) -> list[Withholding] | None:
    suppress = rule.suppress
    if suppress is None:
        return None
    named = [known.get(name) for name in suppress.names] if suppress.names else list(key.values())
    columns = [["null"] * count if column is None else column.canonical for column in named]
    keys = (f"[{','.join(row)}]" for row in _rows(columns, count))
    return list(map(Withholding, keys, repeat(suppress.duration)))


def _rows(columns: Sequence[Sequence[str]], count: int) -> list[tuple[str, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * count
