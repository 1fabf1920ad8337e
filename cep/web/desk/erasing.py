"""Erasure of what a person may ask for: alerts on a key, and all that is kept of it beside them.

In small steps that no batch waits for. Each kind is gone through once: what comes meanwhile, or is being
sent, is not reached; asked for again, what is left goes. The act is written down with names and numbers, no
value.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from alerts.outbox import blanking, erasing
from alerts.outbox.small_steps import FIRST, REST, next_number, timed
from alerts.sought import Fields, Sought
from cep.errors import JobError
from cep.files import by_name
from cep.job.shipping import packs
from cep.job.state_folder import erased_letters
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.lock import owner
from cep.record import erasing as record
from cep.record.named import fields_of
from cep.web.desk.acting import Actor
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import key_of, told
from cep.web.desk.secrets import secret_names, variants

if TYPE_CHECKING:
    from rules.typed import Pack

LONGEST_LEFT = 20
"""Sentences that an answer has about what could not be erased."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """Counts of rows that were, or with `dry_run` would be, erased, by kind.

    `ended` deliveries waited; `delivered` says by receiver how many of the alerts went out: their copies are
    the receiver's. `notes` counts notes, reasons and words about deliveries from which the values were taken.
    `suppression` counts keys that stay as digests. `elsewhere` counts alerts that hold the values under other
    names, which stay. `left` says what could not be erased, and why.
    """

    dry_run: bool
    alerts: int
    episodes: int
    ended: int
    delivered: Mapping[str, int]
    events: int
    dead_letters: int
    late_events: int
    silences: int
    notes: int
    audit: int
    suppression: int
    elsewhere: Mapping[str, int]
    left: tuple[str, ...]


def values_of(key: str) -> Mapping[str, object]:
    """The values that a key asks for. Raises MistakenError."""
    values = key_of(key)
    for name, value in values.items():
        if value == "" or not isinstance(value, str | int | float | bool):
            raise MistakenError(f"`{told(name)}` is no value to erase", "give a text, a number or a boolean")
        if isinstance(value, str) and "\0" in value:
            raise MistakenError(f"`{told(name)}` holds NUL", "no key does")
    if not values:
        raise MistakenError("a key to erase is needed", "write `card_id=c1`")
    return values


def erase(
    desk: JobDesk, key: str, actor: Actor, *, dry_run: bool, rest: Callable[[float], None] = time.sleep
) -> Erasure:
    """Erase what is kept of a key, or count it. Raises MistakenError, OutboxError and SecretError.

    Of a secret field the clear value is given, or its hash.
    """
    values, folder = values_of(key), StateFolder.of(desk.job, desk.environ)
    every = tuple(_packs(folder))
    fields = fields_of(every)
    work = _Work(desk, actor.at, dry_run, rest)
    for one in variants(values, secret_names(every), desk.job.mask(desk.environ)):
        work.erase(Sought(cast("Mapping[str, str | int | float | bool]", one)), folder, fields)
    found = work.found()
    if not dry_run:
        with desk.outbox.writing() as connection:
            said = {
                name: value for name, value in asdict(found).items() if name not in ("dry_run", "elsewhere")
            }
            actor.did(connection, "erase", {"names": list(values), **said})
        if not desk.outbox.scrub(anew=_stands_still(desk, folder)):
            more = "what was written ahead of the outbox's file is still read: erase once more"
            found = replace(found, left=(*found.left, more))
        desk.wake()
    return found


def _stands_still(desk: JobDesk, folder: StateFolder) -> bool:
    """True if no job writes to the outbox."""
    return desk.live is None and owner(folder) is None


def _packs(folder: StateFolder) -> Iterator[Pack]:
    """The packs that the job ever ran with, as far as this program reads them."""
    for path in by_name(folder.packs, ".json"):
        try:
            yield packs.load(folder.packs, path.stem)
        except JobError:
            continue


@dataclass(slots=True)
class _Work:
    """The work on one key, and what it came to."""

    desk: JobDesk
    at: int
    dry_run: bool
    rest: Callable[[float], None]
    counts: Counter[str] = field(default_factory=Counter)
    delivered: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)

    def erase(self, sought: Sought, folder: StateFolder, fields: Mapping[str, Fields]) -> None:
        """Go through everything that may hold the values."""
        self.alerts(sought)
        letters, late = erased_letters.in_dead_letters, erased_letters.in_late_events(fields)
        for one in (*blanking.PASSES, letters, late):
            self.go_through(one, sought)
        self.read_again(sought, folder)
        self.record(folder, record.Events(sought, fields))

    def alerts(self, sought: Sought) -> None:
        """Erase alerts, with what was said of their deliveries."""
        with self.desk.outbox.reading() as connection:
            stretches = list(erasing.stretches(connection))
        for stretch in stretches:
            with self.desk.outbox.reading() as connection:
                look = erasing.look(connection, sought, stretch)
                sent = erasing.sent(connection, look.numbers)
            self.counts += Counter(alerts=len(look.numbers), ended=sent.waiting, notes=len(look.said))
            self.delivered.update(sent.delivered)
            self.elsewhere.update(look.elsewhere)
            if not self.dry_run:
                self._in_steps(look.numbers, partial(erasing.erase_alerts, now=self.at))
                self._in_steps(look.said, partial(erasing.blank_said, sought=sought))

    def _in_steps(self, rows: tuple[object, ...], write: Callable[..., object]) -> None:
        most = FIRST
        while rows:
            some, rows = rows[:most], rows[most:]
            seconds = timed(self.desk.outbox, partial(write, rows=some))
            self.rest(REST * seconds)
            most = next_number(len(some), seconds)

    def go_through(self, look: blanking.Pass, sought: Sought) -> None:
        """Go through the rows of a kind."""
        after: object = None
        while True:
            with self.desk.outbox.reading() as connection:
                found = look(connection, sought, after)
            self.counts += found.counts
            if found.changes and not self.dry_run:
                self.rest(REST * timed(self.desk.outbox, found.write))
            after = found.last
            if after is None:
                break

    def read_again(self, sought: Sought, folder: StateFolder) -> None:
        """Say what stays of letters that batches read again: a batch that is run again needs it."""
        for batch in erased_letters.batches_with(folder.manifests, sought):
            self.left.append(
                f"manifests/{batch}.letters holds it, for 100 batches more: batch {batch} read it again"
            )

    def record(self, folder: StateFolder, events: record.Events) -> None:
        """Erase the events of the record."""
        try:
            if not self.dry_run:
                record.remove_unfinished(folder.record)
            for one in record.files(folder.record):
                try:
                    self.counts["events"] += record.erase(one, events, dry_run=self.dry_run)
                except record.UNREADABLE as error:
                    said = str(error).splitlines() or [type(error).__name__]
                    name = str(one.path).removeprefix(f"{folder.durable}/")
                    self.left.append(f"{name} cannot be written anew: {said[0]}")
        except OSError as error:
            self.left.append(f"the record cannot be read: {error.strerror} ({error.filename})")

    def found(self) -> Erasure:
        """The result."""
        count = self.counts
        more = len(self.left) - LONGEST_LEFT
        left = [*self.left[:LONGEST_LEFT], *([f"{more:,} more files"] if more > 0 else [])]
        return Erasure(
            self.dry_run, count["alerts"], count["episodes"], count["ended"],
            dict(sorted(self.delivered.items())), count["events"], count["dead_letters"],
            count["late_events"], count["silences"], count["notes"], count["audit"], count["suppression"],
            dict(self.elsewhere.most_common(LONGEST_LEFT)), tuple(left),
        )  # fmt: skip
