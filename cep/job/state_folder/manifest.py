"""The manifest of batch N, fixed before it runs: so that a replay, whenever it comes, is the same batch.

The driver writes N.json before the batch's one action and reads it back when Spark replays the batch.
Everything in it follows from the result of batch N-1, which the outbox keeps, from the clock, and from what
was asked of the job since. Its digest goes to the outbox with the batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cep.batch.clock import BatchStart, Partition, Seen
from cep.errors import RESTORE, ConfigurationError, OutsideError
from cep.events import MIN_TIME
from cep.files import (
    DamagedFileError,
    checksum_of,
    read_json,
    remove_old,
    sealed,
    to_json,
    unsealed,
    write_json,
)
from cep.job.clocks.idle import AllIdle, all_idle_since, delivering, excused, idle_partitions, paced
from cep.job.clocks.running_time import Stretch
from cep.job.poison.events import Poison, from_json, listed
from cep.packs.succession import Standing, over
from cep.plan.generations import NO_GENERATIONS, Generations
from cep.plan.plan import Plan, RuleId, RuleName
from cep.resources.resource import Pin

if TYPE_CHECKING:
    from cep.files import AnyPath

VERSION = 3
BEGUN_ELSEWHERE = "CEP0874"
_READ = (2, VERSION)
"""Of version 2 there is no checksum, and nothing of the batch's files."""
_KEPT = 1_000  # manifests of so many batches: Spark can go back 100


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deploy that this batch is the first to run with; `previous` is the revision before, "" for none."""

    request: str
    pack: str
    revision: str
    previous: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A place that the batch goes without, as its user accepted (`cep run --accept-loss`), and why.

    `left`: it is the part of a place, whose rest is read.
    """

    stream: str
    path: str
    reason: str
    left: bool = False

    def row(self) -> list[object]:
        """The fields in their order, as far as they say something."""
        return [self.stream, self.path, self.reason, *([True] if self.left else [])]


@dataclass(frozen=True, slots=True)
class Manifest:
    """Batch `batch`: all times in nanoseconds, event times since 1970 UTC.

    `watermark` and `greatest` (event time by partition) are those before the batch. `clock` is the wall
    clock, `elapsed` batch time (cep.job.clocks.idle), `last_active` when in it each partition last delivered,
    or a pause ended after which it had its `idle` anew. `idle` are the partitions that hold the watermark
    back no more, `all_idle` since when that is all of them; on disk these three are `heard`, `silent` and
    `quiet`, as manifests of earlier versions have them.
    `since` has for rules that were deployed to a running job the watermark of that moment, by pack and name,
    `first` for every stream the time of its earliest event. `drain`: time ends with this batch.
    `files` is the checksum of what its files were before it ran (cep.job.state_folder.extents), "" where it
    has none; `lost` are files that it goes without, `poison` events. `resources` are the versions of what the
    batch may look up; it has none where packs name none, nor in manifests from before it was there.
    `generations` are since when rules are there, and those that were replaced and go on; likewise.
    `letters` is the checksum of the dead letters that it reads again (cep.job.state_folder.replayed), or "".
    `identities` tell by stream and place which log it was that batches up to this one read: one that is made
    anew under its name has another (Source.identity).
    """

    batch: int
    revisions: Mapping[str, str]
    shards: int
    clock: int
    elapsed: int = 0
    watermark: int = MIN_TIME
    greatest: Mapping[Partition, int] = field(default_factory=dict)
    last_active: Mapping[Partition, int] = field(default_factory=dict)
    idle: tuple[Partition, ...] = ()
    all_idle: AllIdle | None = None
    since: Mapping[RuleName, int] = field(default_factory=dict)
    drain: bool = False
    deployed: tuple[Deployed, ...] = ()
    first: Mapping[str, int] = field(default_factory=dict)
    files: str = ""
    lost: tuple[Lost, ...] = ()
    poison: tuple[Poison, ...] = ()
    resources: tuple[Pin, ...] = ()
    version: int = VERSION
    generations: Generations = NO_GENERATIONS
    letters: str = ""
    identities: Mapping[Partition, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The JSON object."""
        pinned = {"resources": [[one.kind, one.name, one.version] for one in self.resources]}
        return {
            **(pinned if self.resources else {}),
            **({"letters": self.letters} if self.letters else {}),
            **_identities(self.identities),
            **self.generations.as_dict(),
            "version": self.version,
            "batch": self.batch,
            "revisions": dict(self.revisions),
            "shards": self.shards,
            "clock": self.clock,
            "elapsed": self.elapsed,
            "watermark": self.watermark,
            "greatest": _rows(self.greatest),
            "heard": _rows(self.last_active),
            "silent": [list(p) for p in self.idle],
            "quiet": None if self.all_idle is None else [self.all_idle.since, self.all_idle.watermark],
            "since": _rows(self.since),
            "drain": self.drain,
            "deployed": [[d.request, d.pack, d.revision, d.previous] for d in self.deployed],
            "first": dict(sorted(self.first.items())),
            "files": self.files,
            "lost": [one.row() for one in self.lost],
            "poison": listed(self.poison),
        }

    @property
    def seen(self) -> Seen:
        """The times of events in the batches before."""
        return Seen(self.greatest, self.first)

    def start(self, plan: Plan) -> BatchStart:
        """Event time as it stands when the batch begins."""
        timeouts = {name: stream.idle for name, stream in plan.streams.items()}
        by_clock = paced(self.all_idle, plan.read, timeouts, self.elapsed, self.clock)
        return BatchStart(
            self.batch, self.watermark, self.seen, self.since, self.idle, by_clock, drain=self.drain
        )

    def text(self) -> str:
        """The JSON object as text; equal manifests have equal texts."""
        return to_json(self.as_dict()).decode()

    @property
    def digest(self) -> str:
        """Checksum by which the outbox knows the batch; the same if it is run again without some of it."""
        later = {"lost", "poison"} if self.version == VERSION else {"lost", "poison", "files"}
        return checksum_of({name: value for name, value in self.as_dict().items() if name not in later})


@dataclass(frozen=True, slots=True)
class Result:
    """The facts of a batch that the next manifest needs: a JSON object in the outbox.

    `runs` are the live runs by pack and rule after the batch, `generations` those of its rules without what
    is over. `identities` are those of its manifest.
    """

    revisions: Mapping[str, str]
    watermark: int
    greatest: Mapping[Partition, int]
    last_active: Mapping[Partition, int]
    clock: int
    elapsed: int
    all_idle: AllIdle | None
    since: Mapping[RuleName, int]
    runs: Mapping[RuleName, int]
    drained: bool
    first: Mapping[str, int] = field(default_factory=dict)
    generations: Generations = NO_GENERATIONS
    identities: Mapping[Partition, str] = field(default_factory=dict)

    @property
    def standing(self) -> Standing:
        """The rules after the batch."""
        return Standing(self.since, self.generations)

    def as_dict(self) -> dict[str, object]:
        """The JSON object, with its checksum."""
        value = {
            **self.generations.as_dict(),
            **_identities(self.identities),
            "revisions": dict(self.revisions),
            "watermark": self.watermark,
            "greatest": _rows(self.greatest),
            "heard": _rows(self.last_active),
            "clock": self.clock,
            "elapsed": self.elapsed,
            "quiet": None if self.all_idle is None else [self.all_idle.since, self.all_idle.watermark],
            "since": _rows(self.since),
            "runs": _rows(self.runs),
            "drained": self.drained,
            "first": dict(sorted(self.first.items())),
            "version": VERSION,
        }
        return sealed(value)


def result_of(value: Mapping[str, object]) -> Result:
    """The result that `as_dict` gave, or a version before it that knew no checksums. Raises ValueError."""
    value = unsealed(value, earlier=lambda value: "version" not in value)
    try:
        return Result(
            revisions=_texts(value["revisions"]),
            watermark=_int(value["watermark"]),
            greatest=_pairs(value["greatest"]),
            last_active=_pairs(value["heard"]),
            clock=_int(value["clock"]),
            elapsed=_int(value["elapsed"]),
            all_idle=_all_idle(value["quiet"]),
            since=_pairs(value["since"]),
            first=_ints(value["first"]),
            runs=_pairs(value["runs"]),
            drained=bool(value["drained"]),
            generations=Generations.of(value),
            identities=_identities_of(value),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no result of a batch: {error}") from error


def parse(text: str) -> Manifest:
    """The manifest of a text. Raises ValueError."""
    return _manifest_of(json.loads(text))


def _manifest_of(value: Mapping[str, Any]) -> Manifest:
    try:
        version = value["version"]
        if version not in _READ:
            raise DamagedFileError(f"has version {version}, this program reads version {VERSION}")
        return Manifest(
            batch=_int(value["batch"]),
            revisions=_texts(value["revisions"]),
            shards=_int(value["shards"]),
            clock=_int(value["clock"]),
            elapsed=_int(value["elapsed"]),
            watermark=_int(value["watermark"]),
            greatest=_pairs(value["greatest"]),
            last_active=_pairs(value["heard"]),
            idle=tuple((str(s), str(p)) for s, p in value["silent"]),
            all_idle=_all_idle(value["quiet"]),
            since=_pairs(value["since"]),
            first=_ints(value["first"]),
            drain=bool(value["drain"]),
            deployed=tuple(Deployed(*map(str, d)) for d in value["deployed"]),
            files=str(value.get("files", "")),
            lost=tuple(map(_lost, value.get("lost", ()))),
            poison=from_json(value.get("poison", ())),
            resources=tuple(Pin(*map(str, one)) for one in value.get("resources", ())),
            generations=Generations.of(value),
            letters=str(value.get("letters", "")),
            identities=_identities_of(value),
            version=version,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedFileError(f"is no manifest: {error}") from error


def read(manifests: AnyPath, batch: int) -> Manifest | None:
    """The manifest of a batch; None if none was written. Raises ConfigurationError for a damaged one."""
    path = manifests / f"{batch}.json"
    try:
        found = _manifest_of(read_json(path, earlier=lambda value: value.get("version") != VERSION))
        if found.batch != batch:
            raise DamagedFileError(f"is of batch {found.batch}")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = str(error) if isinstance(error, DamagedFileError) else "cannot be read"
        raise ConfigurationError(f"the manifest {path} {why}", RESTORE) from error
    return found


def write(manifests: AnyPath, manifest: Manifest, *, new: bool = False) -> None:
    """Writes the manifest of a batch, whole and on disk before anything else happens; old ones go.

    Raises OutsideError where a `new` one was written by another process since somebody looked.
    """
    try:
        write_json(manifests / f"{manifest.batch}.json", manifest.as_dict(), new=new)
    except FileExistsError as error:
        raise OutsideError(
            f"another process has begun batch {manifest.batch} since this one did",
            "start the job again: it goes on where it stopped",
            BEGUN_ELSEWHERE,
        ) from error
    remove_old(manifests, manifest.batch - _KEPT, ".json")


def oldest(manifests: AnyPath, batch: int) -> float | None:
    """When the oldest of the kept ones was written, in seconds since 1970 UTC; None while they are fewer."""
    try:
        return (manifests / f"{batch - _KEPT + 1}.json").stat().st_mtime
    except FileNotFoundError:
        return None


def following(
    first: Manifest,
    before: Result | None,
    plan: Plan,
    stretch: Stretch,
    standing: Standing | None = None,
) -> Manifest:
    """The manifest of a batch that was never begun: as it would be if it were the `first` of all, and what
    follows from the result of the batch `before` it, None for batch 0.

    `plan` is that of its revisions. `stretch` is the time since the batch before as this process saw it; only
    what it ran of it counts as batch time. `standing` are the rules after a deploy; None: as they were.
    """
    if before is None:
        return first
    elapsed = before.elapsed + stretch.ran
    timeouts = {name: stream.idle for name, stream in plan.streams.items()}
    last_active = excused(before.last_active, plan.read, timeouts, elapsed, stretch.pauses)
    idle_now = idle_partitions(last_active, plan.read, timeouts, elapsed)
    standing = before.standing if standing is None else standing
    return replace(
        first,
        elapsed=elapsed,
        watermark=before.watermark,
        greatest=before.greatest,
        last_active=last_active,
        idle=idle_now,
        all_idle=all_idle_since(before.all_idle, idle_now, last_active, plan.read, elapsed, before.watermark),
        since=standing.since,
        generations=standing.generations,
        first=before.first,
        identities=before.identities,
    )


def result(
    manifest: Manifest,
    plan: Plan,
    seen: Seen,
    after: int,
    runs: Mapping[RuleName, int],
    kept: Mapping[RuleId, int] = MappingProxyType({}),
) -> Result:
    """The result of the batch, for the next one; `after` is the watermark after it, `kept` are `runs` by
    generation."""
    so_far = manifest.seen.joined([seen])
    return Result(
        revisions=manifest.revisions,
        watermark=after,
        greatest=so_far.greatest,
        last_active=delivering(manifest.last_active, seen.greatest, manifest.elapsed),
        clock=manifest.clock,
        elapsed=manifest.elapsed,
        all_idle=None if {s for s, _ in seen.greatest} & set(plan.read) else manifest.all_idle,
        since=manifest.since,
        first=so_far.first,
        runs=runs,
        drained=manifest.drain,
        generations=manifest.generations.without(over(plan, after, kept)),
        identities=manifest.identities,
    )


def _rows(of: Mapping[tuple[str, str], int]) -> list[list[object]]:
    """Numbers by partition, or by rule."""
    return [[*name, number] for name, number in sorted(of.items())]


def _identities(of: Mapping[Partition, str]) -> dict[str, object]:
    return {"identities": [[*place, identity] for place, identity in sorted(of.items())]} if of else {}


def _identities_of(value: Mapping[str, Any]) -> dict[Partition, str]:
    rows = _list(value.get("identities", []))
    return {(str(stream), str(path)): str(identity) for stream, path, identity in rows}


def _pairs(value: object) -> dict[tuple[str, str], int]:
    return {(str(a), str(b)): _int(number) for a, b, number in _list(value)}


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list is expected")
    return value


def _all_idle(value: object) -> AllIdle | None:
    return None if value is None else AllIdle(*map(_int, _list(value)))


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number is expected")
    return value


def _lost(row: list[Any]) -> Lost:
    stream, path, reason = map(str, row[:3])
    return Lost(stream, path, reason, left=len(row) > 3)


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()}  # type: ignore[attr-defined]


def _ints(value: object) -> dict[str, int]:
    return {str(k): _int(v) for k, v in value.items()}  # type: ignore[attr-defined]
