"""The outbox as the rest of the project sees it: one object, one transaction per call."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import MappingProxyType
from uuid import uuid4

from sqlalchemy import Connection, Engine, inspect, select

from alerts.codes import WRONG_VERSION
from alerts.due import Due, Settled
from alerts.outbox import deliveries, incidents, leases, migration, notifications, positions, stored
from alerts.outbox.connect import LARGE, WRITES, checkpoint, engine_for, look_through, place_of, scrub
from alerts.outbox.deliveries import Status
from alerts.outbox.episodes import episodes_of, ids_of
from alerts.outbox.errors import OutboxError, translated
from alerts.outbox.notifications import Making, MakingDone
from alerts.outbox.pages import Wanted
from alerts.outbox.positions import Confirmed, Kept
from alerts.outbox.record import MANY, BatchRecord, Recorded, record
from alerts.outbox.schema import VERSION, assigned, indexed, metadata, versions
from alerts.outbox.silences import Held, read_silences
from alerts.outbox.silences import hold as hold_back
from alerts.outbox.sources import read_sources, read_sources_between
from alerts.outbox.standings import read_standings, write_standings
from alerts.outbox.stored import Delivery, StoredAlert
from alerts.outbox.trailing import index_some
from alerts.outbox.ways import ways_told
from alerts.position import Position
from alerts.raised import Raised
from alerts.routing import Branches, Routes
from alerts.silences import Silence
from alerts.stages.candidate import Candidate
from alerts.stages.inhibit import Inhibitors, Source
from alerts.stages.notifying import Notifying
from alerts.standing import Standing

_NONE: Mapping[str, Standing] = MappingProxyType({})
_NO_FENCE: Mapping[str, int] = MappingProxyType({})


class Outbox:
    """Alerts and their deliveries in a database. Every method raises OutboxError, and only that.

    May be used by several threads and processes at once; one job writes batches to it. `clock` gives
    the wall clock in nanoseconds; it dates records and deliveries, and decides nothing about alerts.
    """

    def __init__(self, engine: Engine, place: str, clock: Callable[[], int]) -> None:
        self._engine = engine
        self._clock = clock
        self._afterwards = ThreadPoolExecutor(1, "outbox checkpoint")
        self._checkpoint: Future[None] | None = None
        self._opened = False
        self._fence: Mapping[str, int] = _NO_FENCE
        self.place = place

    @classmethod
    def open(
        cls,
        url: str,
        *,
        create: bool = True,
        upgrade: bool | None = None,
        wait: float = 10.0,
        durable: bool = True,
        clock: Callable[[], int] = time.time_ns,
    ) -> Outbox:
        """The outbox at `sqlite:///FILE` or `postgresql://...`; a new one is made unless `create` is false.

        One of a version before is brought up to date with `upgrade`, by itself where a new one would be made.
        `wait` is how many seconds to wait for a lock that another process holds. Without `durable`, SQLite
        does not wait for the disk: what was committed survives the end of the process, though not a loss of
        power. Raises OutboxError if it cannot be opened, or is of another version.
        """
        place = place_of(url)
        outbox = cls(engine_for(url, wait=wait, create=create, durable=durable), place, clock)
        try:
            outbox._prepare(create, create if upgrade is None else upgrade)
            outbox._opened = True
        except OutboxError:
            outbox.close()
            raise
        return outbox

    def _prepare(self, create: bool, upgrade: bool) -> None:
        with self.writing() if create or upgrade else self.reading() as connection:
            tables = set(inspect(connection).get_table_names())
            found = connection.scalar(select(versions.c.version)) if versions.name in tables else None
            if found is None and create and not tables & set(metadata.tables):
                metadata.create_all(connection)
                connection.execute(versions.insert(), {"version": VERSION})
                for place in (indexed, assigned):
                    connection.execute(place.insert(), {"number": 0})
            elif found is not None and found in migration.BEFORE and upgrade:
                migration.begin(connection, found)
            elif found != VERSION:
                raise self._wrong_version(found)
            moving = found is not None and migration.unfinished(connection)
        if moving and not upgrade:
            raise self._wrong_version(migration.MOVED)
        while moving:
            with self.writing() as connection:
                moving = migration.unfinished(connection) and migration.move_some(connection)

    def _wrong_version(self, found: int | None) -> OutboxError:
        if found is None:
            message, help_ = f"the database {self.place} holds no outbox", "check [outbox] url in job.toml"
        elif found in migration.BEFORE:
            message = f"the outbox {self.place} is of version {found} or half way from it to {VERSION}"
            help_ = "start its job with this program, which brings it up to date"
        else:
            message = f"the outbox {self.place} has version {found}, this program writes version {VERSION}"
            help_ = "use the program version that made it, or let it deliver everything and start a new one"
        return OutboxError(WRONG_VERSION, message, help_)

    def check(self) -> None:
        """Looks through the database for damage, as far as it can see. Raises OutboxError."""
        with self.reading() as connection:
            look_through(connection, self.place)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the database."""
        options = {} if self._engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
        with (
            translated(self.place, self._opened),
            self._engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def writing(self, *, large: bool = False) -> Iterator[Connection]:
        """A transaction that may write; it is committed at the end, or not at all.

        After a `large` one of SQLite's somebody has to call `checkpoint`.
        """
        with (
            translated(self.place, self._opened),
            self._engine.connect().execution_options(**{WRITES: True, LARGE: large}) as connection,
            connection.begin(),
        ):
            leases.fence(connection, self._fence)
            yield connection

    def record(
        self,
        batch: BatchRecord,
        raised: Sequence[Raised],
        routes: Routes,
        write: Callable[[Connection], None] | None = None,
    ) -> Recorded:
        """Takes in what a batch raised, in any order and before suppression, in one transaction.

        A batch that is there already is not written again, and `write` (what else belongs to the
        transaction, such as dead letters) is not called. Raises OutboxError also when the outbox has
        another batch of that number or could not tidy up after the last, and passes on what `write` raises;
        then nothing was written.
        """
        if self._checkpoint is not None and self._checkpoint.done():
            self.finish()
        large = len(raised) >= MANY
        with self.writing(large=large) as connection:
            recorded = record(connection, batch, raised, routes, write, self._clock())
        if large and self._checkpoint is None:  # one that still runs leaves the rest to the next
            self._checkpoint = self._afterwards.submit(self._bring_in)
        return recorded

    def _bring_in(self) -> None:
        """Bring what a large transaction raised into the indexes, and what it wrote ahead into the database:
        nobody waits for it."""
        more = True
        while more:
            with self.writing() as connection:
                more = index_some(connection)
        with translated(self.place):
            checkpoint(self._engine)

    def finish(self) -> None:
        """Wait for what follows a large batch: its indexes, and what it wrote ahead."""
        if self._checkpoint is not None:
            ended, self._checkpoint = self._checkpoint, None
            ended.result()

    def scrub(self, *, anew: bool = False) -> bool:
        """Leave no bytes of what was erased in the database's files; False where readers hinder it. With
        `anew` they are written anew, which no job should run beside."""
        with translated(self.place):
            return scrub(self._engine, anew=anew)

    def batch(self, number: int) -> BatchRecord | None:
        """The batch of that number, if it is there and not long ago."""
        with self.reading() as connection:
            return stored.read_batch(connection, number)

    def last_batch(self) -> BatchRecord | None:
        """The batch with the greatest number."""
        with self.reading() as connection:
            return stored.read_batch(connection, None)

    def alerts(
        self, wanted: Wanted | None = None, *, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredAlert]:
        """The alerts that are wanted (all), in the order raised or the reverse."""
        with self.reading() as connection:
            return stored.read_alerts(connection, wanted or Wanted(), limit, newest_first)

    def alert(self, id_: str) -> StoredAlert | None:
        """The alert of that id."""
        with self.reading() as connection:
            return stored.read_alert(connection, id_)

    def deliveries(self, id_: str) -> list[Delivery]:
        """The status of an alert's deliveries, by receiver."""
        with self.reading() as connection:
            return stored.read_deliveries(connection, id_)

    def due(
        self, receiver: str, now: int, limit: int, *, of_episodes: bool = False, follows: bool = False,
        but: str | None = None,
    ) -> list[Due]:  # fmt: skip
        """Notifications that are made, then deliveries that are not part of one, that may be attempted at
        `now`: earliest due first, then in the order raised. With `of_episodes`, of alerts that are assigned
        to their episodes; with `follows` also what the receiver is to be told of these, behind them. But for
        those held back for the reason `but`."""
        with self.reading() as connection:
            made = notifications.due_made(connection, receiver, now, limit)
            found = deliveries.due(connection, receiver, now, limit, of_episodes=of_episodes, but=but)
            if follows:
                found += incidents.due(connection, receiver, now, limit)
        lost = [one for one in made if isinstance(one, int)]
        if lost:
            with self.writing() as connection:
                for number in lost:
                    notifications.dissolve(connection, number, now)
        return [*(one for one in made if isinstance(one, Due)), *found]

    def next_due(self, receiver: str, after: int, *, follows: bool = False) -> int | None:
        """When the receiver's first delivery that is due after `after` will be; wall clock in nanoseconds."""
        with self.reading() as connection:
            found = [deliveries.next_due(connection, receiver, after)]
            if follows:
                found.append(incidents.next_due(connection, receiver, after))
        return min((one for one in found if one is not None), default=None)

    def follow(self) -> None:
        """Make ready to note what receivers were told of episodes."""
        with self.writing() as connection:
            incidents.create(connection)

    def episode_id(self, number: int) -> str | None:
        """The id of the episode that the alert of that number is assigned to; None: to none."""
        with self.reading() as connection:
            found = episodes_of(connection, [number])
            return ids_of(connection, found.values()).get(found[number].first) if found else None

    def hasten(self, receiver: str, now: int) -> None:
        """Makes everything that is pending for a receiver due now."""
        with self.writing() as connection:
            deliveries.hasten(connection, receiver, now)

    def settle(
        self,
        settled: Collection[Settled],
        standings: Mapping[str, Standing] = _NONE,
        held: Sequence[Held] = (),
        following: Collection[str] = (),
        fence: Mapping[str, int] = _NO_FENCE,
        numbers: Mapping[str, int] = _NO_FENCE,
    ) -> None:
        """Writes what came of attempts, how receivers stand since, and what stages hold back, in one
        transaction, if the leases of the `fence` are held. `following` are receivers that are told what
        becomes of episodes. `numbers` are those of the last transactions, by receiver."""
        with self.writing() as connection:
            leases.fence(connection, fence)
            deliveries.settle(connection, settled)
            if following:
                self._note_told(connection, [one for one in settled if one.receiver in following])
            write_standings(connection, standings)
            hold_back(connection, held)
            positions.move(connection, numbers)

    def _note_told(self, connection: Connection, settled: Sequence[Settled]) -> None:
        """Note what receivers were told of episodes."""
        triggers = [one for one in settled if one.follow is None and one.state == "delivered"]
        found = episodes_of(connection, sorted({one.number for one in triggers}))
        incidents.triggered(connection, triggers, found, ids_of(connection, found.values()))
        incidents.settle(connection, [one for one in settled if one.follow is not None])

    def make(
        self, makings: Sequence[Making], stages: Notifying, now: int, fence: Mapping[str, int] = _NO_FENCE
    ) -> list[MakingDone]:
        """Settle notifications of one receiver, if the leases of the `fence` are held: what came of each."""
        with self.writing() as connection:
            leases.fence(connection, fence)
            return _made(connection, makings, stages, now)

    def position(self, receiver: str, fence: Mapping[str, int] = _NO_FENCE) -> Kept:
        """The position that is written down of a receiver that takes transactions; if the leases are held."""
        with self.writing() as connection:
            leases.fence(connection, fence)
            return positions.begin(connection, receiver, uuid4().hex[:16])

    def confirm(
        self, receiver: str, last: Position, now: int, fence: Mapping[str, int] = _NO_FENCE
    ) -> Confirmed:
        """Writes down what a receiver has by its own word and the outbox does not know yet; if the leases are
        held."""
        with self.writing() as connection:
            leases.fence(connection, fence)
            return positions.confirm(connection, receiver, last, now)

    @property
    def shared(self) -> bool:
        """True if processes on several machines may have it open."""
        return self._engine.dialect.name != "sqlite"

    def take_leases(
        self, names: Collection[str], holder: str, known: Mapping[str, int], seconds: float
    ) -> dict[str, leases.Taken]:
        """Those of the leases that the holder has for so many seconds from now; `known` are those that it
        had, by epoch."""
        with self.writing() as connection:
            now = leases.database_clock(connection, self._clock())
            return leases.take(connection, names, holder, known, now, int(seconds * 1e9))

    def give_leases_back(self, held: Mapping[str, int]) -> None:
        """Ends leases that are held at these epochs."""
        with self.writing() as connection:
            leases.give_back(connection, held)

    def job_lease(self) -> leases.Held | None:
        """The lease of the job that writes batches here; None: nobody ever had it."""
        with self.reading() as connection:
            return leases.job_lease(connection, self._clock())

    def take_job(self, holder: str, seen: leases.Held | None, seconds: float) -> int | None:
        """The epoch of the job's lease, taken as it was `seen`; None: another was quicker. From then on every
        transaction that writes by this object does so only while nobody has taken it over."""
        with self.writing() as connection:
            now = leases.database_clock(connection, self._clock())
            epoch = leases.take_job(connection, holder, seen, now, int(seconds * 1e9))
        if epoch is not None:
            self._fence = {leases.JOB: epoch}
        return epoch

    def renew_job(self, holder: str, epoch: int, seconds: float) -> None:
        """Have the job's lease last for so many seconds from now, also while a long transaction writes."""
        with translated(self.place), self._engine.connect() as connection, connection.begin():
            now = leases.database_clock(connection, self._clock())
            leases.renew_job(connection, holder, epoch, now, int(seconds * 1e9))

    def take_up(self, receiver: str, stages: Notifying, now: int) -> None:
        """Tell stages what they knew before a restart."""
        rate = stages.manner.rate
        with self.reading() as connection:
            if stages.group.any:
                stages.group.opened.update(notifications.opened(connection, receiver))
                stages.group.quiet_until.update(notifications.quiet(connection, receiver, now))
            if rate is not None:
                stages.throttle.spent.extend(
                    notifications.made_since(connection, receiver, now - rate.period)
                )
            if stages.manner.by_key:
                for number, key, due_at in notifications.failing(connection, receiver, now):
                    stages.throttle.note_failing(key, number, due_at)

    def still_pending(self, receiver: str, numbers: Iterable[int]) -> set[int]:
        """Those of some alerts whose deliveries to a receiver are pending."""
        with self.reading() as connection:
            return notifications.still_pending(connection, receiver, numbers)

    def sources(self, inhibitors: Inhibitors, after: int | None) -> tuple[int, list[Source]]:
        """The alerts raised after one that may hold back others, and the number of the last alert. After
        None: as far back as the longest inhibition reaches."""
        with self.reading() as connection:
            return read_sources(connection, inhibitors, after)

    def sources_between(self, inhibitors: Inhibitors, since: int, until: int) -> list[Source]:
        """The alerts of these event times that may hold back others."""
        with self.reading() as connection:
            return read_sources_between(connection, inhibitors, since, until)

    def ways(self, branches: Branches) -> Mapping[int, int]:
        """The number of the words for each route, by its own number from 1."""
        with self.writing() as connection:
            return ways_told(connection, branches)

    def pending_after(self, receiver: str, number: int) -> tuple[int, int]:
        """The number of a receiver's pending deliveries of alerts after one, and that of the last of them."""
        with self.reading() as connection:
            return deliveries.pending_after(connection, receiver, number)

    def silences(self, after: int) -> list[Silence]:
        """The silences that end later than `after`."""
        with self.reading() as connection:
            return read_silences(connection, after)

    def standings(self) -> dict[str, Standing]:
        """The standings of receivers, by name; one that is not there is closed."""
        with self.reading() as connection:
            return read_standings(connection)

    def resume(self, receiver: str) -> Standing:
        """Closes the breaker of a receiver, which a job that runs sees; how it stood before."""
        with self.writing() as connection:
            before = read_standings(connection).get(receiver, Standing())
            write_standings(connection, {receiver: Standing()})
        return before

    def waiting(self, receivers: Iterable[str]) -> bool:
        """True if anything is pending for one of these receivers."""
        names = list(receivers)
        with self.reading() as connection:
            return deliveries.waiting(connection, names) or incidents.waiting(connection, names)

    def status(self) -> dict[str, Status]:
        """Pending and failed deliveries of every receiver."""
        with self.reading() as connection:
            return deliveries.status(connection)

    def pending(self, receiver: str) -> int:
        """The number of a receiver's pending deliveries."""
        found = self.status().get(receiver)
        return found.pending if found else 0

    def oldest_age(self, receivers: Collection[str] | None = None) -> float:
        """Seconds since the oldest pending delivery (of these receivers) was recorded; 0 if there is none."""
        now = self._clock()
        moments = [
            s.oldest_at
            for name, s in self.status().items()
            if s.oldest_at is not None and (receivers is None or name in receivers)
        ]
        return max(0.0, (now - min(moments)) / 1e9) if moments else 0.0

    def unserved(self, receivers: Collection[str]) -> dict[str, Status]:
        """Who has pending deliveries and is none of these: a receiver that was taken out of the job."""
        return {
            name: status for name, status in self.status().items() if status.pending and name not in receivers
        }

    def redeliver(self, receiver: str) -> int:
        """Makes the failed deliveries of a receiver pending again; returns how many."""
        with self.writing() as connection:
            return deliveries.redeliver(connection, receiver, self._clock())

    def close(self) -> None:
        """Gives its connections back."""
        self._afterwards.shutdown()  # SQLite's last connection brings in what one that failed left
        self._engine.dispose()


def _made(connection: Connection, makings: Sequence[Making], stages: Notifying, now: int) -> list[MakingDone]:
    found = notifications.waiting_in(connection, makings, now)
    going: list[tuple[Making, list[Due]]] = []
    held: list[list[Held]] = []
    for making, members in zip(makings, found, strict=True):
        holds = [(one, stages.still(Candidate(one), now)) for one in members]
        going.append((making, [one for one, hold in holds if hold is None]))
        held.append([
            Held(making.receiver, one.number, hold.reason, hold.said, hold.until, now, hold.group)
            for one, hold in holds
            if hold is not None
        ])  # fmt: skip
    made = iter(notifications.make(connection, [one for one in going if one[1]], now))
    hold_back(connection, [one for of_one in held for one in of_one])
    return [
        MakingDone(
            next(made) if some else None, [one.number for one in members], [one.reason for one in holds]
        )
        for members, (_, some), holds in zip(found, going, held, strict=True)
    ]
