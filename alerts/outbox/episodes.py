"""Episodes in their table: alerts of batches that are recorded are assigned to them, some at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    and_,
    bindparam,
    func,
    insert,
    select,
    tuple_,
    update,
)

from alerts.alert import SEVERITIES
from alerts.episodes.assigning import Coming, Growing, Lengths, Slot
from alerts.episodes.assigning import assigned as assigned_to
from alerts.episodes.episode import BY_JOB, STATES, Episode, Precision, Standing, State, slot
from alerts.outbox import incidents
from alerts.outbox.among import among
from alerts.outbox.schema import ERASED, alerts, assigned, episodes, rules
from alerts.outbox.write_rows import write_rows

STEP = 10_000
"""Alerts that a transaction assigns, so that a batch does not wait for longer than that takes."""
_CHUNK = 500
_COLUMNS = tuple(column for column in episodes.columns if column.name != "slot")
_NAMES = tuple(column.name for column in episodes.columns)
_OF_STANDING = ("state", "verdict", "note", "changed_by", "changed_at")
_SELECT = select(*_COLUMNS)
_OF_GROWING = _COLUMNS[: -len(_OF_STANDING)]
_AT_ONCE = 50
"""Episodes of one rule and key that are read together."""
_GROWING = ("last", "alerts", "ended", "length")


def assign_some(connection: Connection, lengths: Lengths, most: int = STEP) -> bool:
    """Assign the next alerts to episodes; whether there may be more of them."""
    a = alerts.c
    before = connection.scalar(select(assigned.c.number)) or 0
    query = (
        select(a.number, a.rule_number, a.key, a.time)
        .where(a.number > before, a.key != ERASED)
        .order_by(a.number)
        .limit(most)
    )
    rows = connection.execute(query).all()
    if not rows:
        return False
    rank = {severity: place for place, severity in enumerate(SEVERITIES)}
    of = {one.number: (one.pack, one.rule, rank[one.severity]) for one in connection.execute(select(rules))}
    coming: list[Coming] = []
    for number, rule_number, key, time in rows:
        pack, rule, severity = of[rule_number]
        coming.append((number, (pack, rule, key), time, severity))
    numbers = {one: slot(*one) for one in {one for _, one, _, _ in coming}}
    begun, longer = assigned_to(coming, _latest(connection, numbers.values()), lengths)
    write_rows(connection, insert(episodes), _NAMES, _begun(begun, numbers))
    _write_grown(connection, _GROWING, longer, worse=False)
    _write_grown(connection, (*_GROWING, "severity"), longer, worse=True)
    connection.execute(update(assigned).values(number=rows[-1].number))
    return len(rows) == most


def _latest(connection: Connection, slots: Collection[int]) -> Mapping[Slot, Growing]:
    """The last episode of each slot, by its number; they stay as they are until the transaction ends."""
    e, newest = episodes.c, episodes.alias("newest")
    found: dict[Slot, Growing] = {}
    firsts = select(func.max(newest.c.first)).where(among(connection, newest.c.slot, slots))
    mine = e.first.in_(firsts.group_by(newest.c.slot))
    query = select(*_OF_GROWING, e.state == "closed").where(mine).with_for_update()
    for row in connection.execute(query).all():
        first, pack, rule, key, last, count, began, ended, length, worst, closed = row
        one = pack, rule, key
        found[one] = Growing(first, one, last, count, began, ended, length, worst, worst, bool(closed))
    return found


def _begun(some: Sequence[Growing], numbers: Mapping[Slot, int]) -> list[tuple[object, ...]]:
    """The rows of episodes that begin; `numbers` are those of their slots."""
    new = Standing()
    said = new.state, new.verdict, new.note, new.by, new.at
    return [
        (
            one.first, numbers[one.slot], *one.slot, one.last, one.alerts, one.began, one.ended, one.length,
            one.worst, *said,
        )
        for one in some
    ]  # fmt: skip


def _write_grown(
    connection: Connection, names: Sequence[str], longer: Sequence[Growing], worse: bool
) -> None:
    """Write what has become of episodes whose worst severity is worse than before, or is not: an index has
    that, and is not written where it stays."""
    growing: dict[str, BindParameter[Any]] = {name: bindparam(name) for name in names}
    this = update(episodes).where(episodes.c.first == bindparam("of")).values(growing)
    changed = [
        (one.last, one.alerts, one.ended, one.length, *((one.worst,) if worse else ()), one.first)
        for one in longer
        if (one.worst < one.worst_before) == worse
    ]
    write_rows(connection, this, (*names, "of"), changed)


def _chunks(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK))


def _episode(row: Row[Any]) -> Episode:
    values: tuple[Any, ...] = tuple(row)
    return Episode(*(*values[:-5], Standing(*values[-5:])))


def close_quiet(connection: Connection, now: int, at: int) -> int:
    """Close the episodes to which nothing from event time `now` on can belong; how many there were.

    `at` is the moment on the wall clock.
    """
    e = episodes.c
    of_all = e.state.in_(["open", "acknowledged"]), e.ended + e.length <= now
    closed = {"state": "closed", "changed_by": BY_JOB, "changed_at": at}
    incidents.changed(connection, and_(*of_all), at)
    return connection.execute(update(episodes).where(*of_all).values(closed)).rowcount


def change(connection: Connection, first: int, standing: Standing) -> None:
    """Write what people say of the episode that begins with the alert of that number."""
    values = dict(
        zip(
            _OF_STANDING,
            (standing.state, standing.verdict, standing.note, standing.by, standing.at),
            strict=True,
        )
    )
    connection.execute(update(episodes).where(episodes.c.first == first).values(values))
    incidents.changed(connection, episodes.c.first == first, standing.at or 0)


def episode_of(connection: Connection, number: int) -> Episode | None:
    """The episode that the alert of that number belongs to; None if it belongs to none, or not yet.

    Of an erased one it is known only where the episode begins with it and stays.
    """
    a, r, e = alerts.c, rules.c, episodes.c
    query = select(r.pack, r.rule, a.key).join_from(alerts, rules, a.rule_number == r.number)
    found = connection.execute(query.where(a.number == number)).one_or_none()
    if found is None:
        return None
    if found.key == ERASED:
        row = connection.execute(_SELECT.where(e.first == number).with_for_update()).one_or_none()
        return None if row is None else _episode(row)
    mine = e.slot == slot(*found), e.pack == found.pack, e.rule == found.rule, e.key == found.key
    last = _SELECT.where(*mine, e.first <= number).order_by(e.first.desc()).limit(1)
    row = connection.execute(last.with_for_update()).one_or_none()
    return None if row is None or row.last < number else _episode(row)


@dataclass(frozen=True, slots=True)
class After:
    """A place in a list of episodes: behind the one of this state that begins with the alert of a number."""

    state: State
    worst: int
    first: int


def read_episodes(
    connection: Connection,
    states: Sequence[State],
    *,
    pack: str | None = None,
    rule: str | None = None,
    limit: int | None = None,
    after: After | None = None,
) -> list[Episode]:
    """Episodes by state in the order given, then the worst first, then the oldest; those `after` a place."""
    e = episodes.c
    of_rule = [column == value for column, value in ((e.pack, pack), (e.rule, rule)) if value is not None]
    found: list[Episode] = []
    if after is not None and after.state in states:
        states = states[states.index(after.state) :]
    for state in states:
        query = _SELECT.where(e.state == state, *of_rule).order_by(e.severity, e.first)
        if after is not None and state == after.state:
            query = query.where(tuple_(e.severity, e.first) > tuple_(after.worst, after.first))
        left = None if limit is None else limit - len(found)
        found += [_episode(row) for row in connection.execute(query.limit(left))]
    return found


def episodes_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Episode]:
    """The episodes of alerts, by the numbers of these; what belongs to none, or not yet, is left out."""
    a, r, e = alerts.c, rules.c, episodes.c
    query = select(a.number, r.pack, r.rule, a.key).join_from(alerts, rules, a.rule_number == r.number)
    named = [
        (number, (pack, rule, key))
        for some in _chunks(numbers)
        for number, pack, rule, key in connection.execute(query.where(a.number.in_(some)))
    ]
    found: dict[int, Episode] = {}
    met = _newest(connection, {one for _, one in named}, max(numbers, default=0))
    for number, one in sorted(named, reverse=True):
        if one not in met:
            continue
        while met[one] and met[one][0].first > number:
            met[one].popleft()
        if not met[one]:
            mine = e.slot == slot(*one), e.pack == one[0], e.rule == one[1], e.key == one[2]
            last = _SELECT.where(*mine, e.first <= number).order_by(e.first.desc()).limit(_AT_ONCE)
            met[one].extend(map(_episode, connection.execute(last)))
            if not met[one]:
                del met[one]
                continue
        if number <= met[one][0].last:
            found[number] = met[one][0]
    return found


def _newest(connection: Connection, some: Collection[Slot], until: int) -> dict[Slot, deque[Episode]]:
    """The episode that began last, by a number, of each that may have one; empty: another has its slot."""
    e, of_slot = episodes.c, {one: slot(*one) for one in some}
    newest: dict[int, Episode] = {}
    for chunk in _chunks(sorted(set(of_slot.values()))):
        last = select(func.max(e.first)).where(e.slot.in_(chunk), e.first <= until).group_by(e.slot)
        for row in connection.execute(_SELECT.where(e.first.in_(list(connection.scalars(last))))):
            episode = _episode(row)
            newest[slot(episode.pack, episode.rule, episode.key)] = episode
    return {
        one: deque([found] if (found.pack, found.rule, found.key) == one else [])
        for one, at in of_slot.items()
        if (found := newest.get(at)) is not None
    }


def ids_of(connection: Connection, some: Iterable[Episode]) -> dict[int, str]:
    """The ids of episodes, which are those of their first alerts, by the number of these."""
    numbers = [one.first for one in some]
    a = alerts.c
    return {
        number: id_
        for chunk in _chunks(numbers)
        for number, id_ in connection.execute(select(a.number, a.id).where(a.number.in_(chunk)))
    }


def counted(connection: Connection, most: int | None = None) -> dict[State, int]:
    """The number of episodes in each state; with `most`, of more no more than one more is counted."""
    e = episodes.c
    if most is not None:
        some = {state: select(e.first).where(e.state == state).limit(most + 1).subquery() for state in STATES}
        return {
            state: connection.scalar(select(func.count()).select_from(q)) or 0 for state, q in some.items()
        }
    rows = connection.execute(select(e.state, func.count()).group_by(e.state))
    found = {cast(State, state): count for state, count in rows}
    return {state: found.get(state, 0) for state in ("open", "acknowledged", "closed")}


def precisions(connection: Connection) -> list[Precision]:
    """The verdicts of each rule that has one, by pack and rule."""
    e = episodes.c
    rows = connection.execute(
        select(e.pack, e.rule, e.verdict, func.count())
        .where(e.state == "closed", e.verdict.is_not(None))
        .group_by(e.pack, e.rule, e.verdict)
    )
    found: dict[tuple[str, str], dict[str, int]] = {}
    for pack, rule, verdict, count in rows:
        found.setdefault((pack, rule), {})[str(verdict)] = count
    return [Precision(pack, rule, **counts) for (pack, rule), counts in sorted(found.items())]


def judged(connection: Connection) -> Iterator[Episode]:
    """The closed episodes that have a verdict, in no order."""
    e = episodes.c
    query = _SELECT.where(e.state == "closed", e.verdict.is_not(None))
    yield from map(_episode, connection.execute(query))
