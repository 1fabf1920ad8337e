"""The protocol of a source. The job, `cep eval` and `cep test` know of a feed only what stands here.

One batch, in the order in which it asks:

    driver   frame, planned, pin      Spark says what is new; that is fixed, and its manifest names the fixed
             difference               before a batch is run again: can that still be read?
    worker   watch, parts, ahead, read    each lane takes its share of the parts, and reads them
             pieces, probe            only while the job looks for what ends its workers
    driver   afterwards               what became of what was read

A source is a value that can be pickled: it is told to the workers once, when the query starts.

GoneError    what a batch reads is not there as it was; the text is a predicate: "is missing"
"""

# ruff: noqa: ARG002  what is the default of a method needs not all that is given to it

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from cep.decode.formats import FeedFormat

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cep.decode.blocks import Decoder
    from cep.decode.letters import DeadLetter, Decoded
    from cep.files import AnyPath
    from cep.secrets import Secret
    from cep.sources.checkpoint import Checkpoint
    from rules.diagnostics import Diagnostic
    from rules.source import Span

END = 2**63 - 1
"""The end of every place."""
BLOCK = 32 << 20
"""Bytes of the largest parts, about."""
BATCH_BYTES = 64 << 20
"""Bytes that one batch of a job takes from a feed; more where the first that is there has more."""


class GoneError(Exception):
    """An extent is not there as it was. The text is a predicate such as "is missing".

    `left` is what can be read of it by a batch whose user accepts the loss of the rest; None: nothing.
    """

    def __init__(self, why: str, left: Any = None) -> None:
        super().__init__(why)
        self.left = left


class Extent(Protocol):
    """A part of a place that a batch reads: a file up to a length, a log between two offsets."""

    @property
    def stream(self) -> str:
        """The stream's name."""

    @property
    def path(self) -> str:
        """The place, as Events' @file names it: no other place of the stream has the same."""

    @property
    def length(self) -> int:
        """Bytes to be read, about."""

    @property
    def planned(self) -> tuple[object, ...]:
        """As much of it as Spark writes down: by this Spark's record and the manifest are compared."""

    def row(self) -> tuple[object, ...]:
        """Stream, place, then what the source needs to read the same again; values that JSON holds."""


class Part(Protocol):
    """A part of an extent that one reader takes."""

    @property
    def path(self) -> str:
        """The place that it is a part of."""

    @property
    def start(self) -> int:
        """Where in there it begins; parts of a place are in order of this."""


E = TypeVar("E", bound=Extent)
P = TypeVar("P", bound=Part)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece that is opened whole or not at all: events with @offset `first` up to, not including, `end`."""

    first: int
    end: int
    part: Any


@dataclass(frozen=True, slots=True)
class Options:
    """Where the options of a feed stand: `span` gives that of a value by the option's name, of "" the feed's.

    A second name is that of a value in a table. Relative paths in the file begin at `folder`.
    """

    folder: Path
    span: Callable[..., Span]


class Source(Protocol[E, P]):
    """Where one stream's events come from. Methods with a body need no other one in most sources."""

    noun: ClassVar[str]
    """One place of it in a sentence: "the file ..."."""
    cure: ClassVar[str] = "put it back as it was and start the job again"
    """What mends the loss of a place, but for accepting it."""
    connected: ClassVar[bool] = False
    """True where Spark needs jars that it does not bring (cep.job.spark.jars)."""
    counted: ClassVar[bool] = False
    """True where `ends` and `reached` tell how far it is, since Spark gives no row of it."""

    def frame(self, session: SparkSession, name: str) -> DataFrame:
        """A streaming table of one long column, read by a Spark source of that name.

        Its offsets alone matter, by which Spark plans batches. A source needs a row in each batch of it only
        where it is not `counted`, and a run that takes what is there may have several batches: the later ones
        have no tick.
        """

    def within(self, state: AnyPath) -> Source[E, P]:
        """The source of a job whose state is there: of those that keep in it what they read."""
        return self

    def planned(self, checkpoint: Checkpoint, stream: str, batch: int) -> Sequence[E]:
        """The extents that Spark has written down for a batch, sorted by place. Raises DamagedError."""

    def check_log(self, checkpoint: Checkpoint, stream: str, batch: int) -> None:
        """Raises DamagedError where Spark could not go on after a batch from what it wrote down."""
        self.planned(checkpoint, stream, batch)

    def extent(self, row: Sequence[Any]) -> E:
        """The extent of `Extent.row`. Raises TypeError and ValueError."""

    def pin(self, planned: E, known: str = "", /) -> E:
        """The extent as it is read, now and in every run of its batch. Raises GoneError.

        `known` is the identity that its place had when a batch last read it, "" where none did.
        """
        return planned

    def identity(self, pinned: E) -> str:
        """A sign that tells the place of an extent from one made anew under its name; "": there is none."""
        return ""

    def lost_as(self, path: str) -> Sequence[str]:
        """The names under which a user may accept the loss of a place, the one to be told last."""
        return (path,)

    def difference(self, extent: E) -> str | None:
        """The reason why an extent cannot be read again, a predicate like "is missing"; None if it can."""

    def watch(self) -> Callable[[E], str | None]:
        """`difference` as a task asks it, before and while it reads: it may remember, and look less far."""
        return self.difference

    def afterwards(self, extent: E) -> E | DeadLetter | None:
        """The extent after its batch: the same, to be looked at again, or a letter that tells.

        None: nothing more can become of it that matters.
        """
        return None

    def listed(self, stream: str) -> Sequence[E]:
        """Extents that are there now, in the order of a job; not fixed yet. Raises OSError."""

    def partition(self, extent: E) -> str:
        """The source partition that the extent's events come from, as their `Events.partition`."""

    @property
    def asked_at_once(self) -> int:
        """The number of places that `pin` and `difference` may ask at a time; above 1 for a store."""
        return 1

    def parts(self, extent: E, written: FeedFormat, block: int) -> Sequence[P]:
        """Parts of about `block` bytes or fewer, of equal cost, in order of place. Never empty.

        What cannot be looked into is one part: reading it tells why.
        """

    def read(
        self,
        part: P,
        decoder: Decoder,
        passed: Callable[[int], None] = lambda _: None,
        *,
        strict: bool = False,
    ) -> Iterator[Decoded]:
        """The events and dead letters of a part in order, some megabytes at a time.

        `passed` is told how many more bytes were read. What cannot be read is a dead letter of stage "read";
        but with `strict` GoneError is raised where the whole place cannot.
        """

    def ahead(self, parts: Iterable[P]) -> Iterator[P]:
        """The parts as they are read, in their order; of some the bytes come while those before are read."""
        return iter(parts)

    def pieces(self, part: P, written: FeedFormat) -> Sequence[Piece]:
        """The pieces of a part that a library opens, which may end its process; none: bytes read as they are.

        Raises GoneError.
        """
        return ()

    def probe(self, part: P, written: FeedFormat) -> None:
        """Opens and reads all of a part, and decodes nothing; what is wrong with it `read` tells."""

    def partition_of(self, stream: str, path: str) -> str:
        """The source partition of a place of which a dead letter is read again."""
        return path

    def beginning(self, path: str, written: FeedFormat) -> bytes:
        """The first bytes of a place's text, with its header. Raises GoneError."""
        raise GoneError("has none")

    def place(self, path: str, first: int, end: int, written: FeedFormat) -> str:
        """Events of a place as a person looks them up: file and line, or topic and offset."""
        last = "" if end == first + 1 else f" to {end - 1:,}"
        return f"{path}, offset {first:,}{last}"

    def ends(self, checkpoint: Checkpoint, stream: str) -> Mapping[str, int]:
        """Where each place ends now; of a source that is not `counted` nothing. Raises OutsideError."""
        return {}

    def reached(self, checkpoint: Checkpoint, stream: str, batch: int) -> Mapping[str, int]:
        """Up to where a batch reads each place, also where it reads nothing of it. Raises DamagedError."""
        return {}

    def sign(self, checkpoint: Checkpoint, stream: str) -> object:
        """A value that is another one as soon as there may be something new; None: only a batch can tell.

        Raises OutsideError, and OSError.
        """
        return self.ends(checkpoint, stream) if self.counted else None

    @property
    def at_once(self) -> int:
        """About how many records one batch takes, of a source that is `counted`."""
        return 0

    def publish(self, reached: Mapping[str, int]) -> str | None:
        """Shows others up to where each place is read, where the feed says how; nothing here reads it.

        A sentence about what keeps it from that, and will until somebody mends it; None where nothing does.
        """
        return None

    def secrets(self) -> Mapping[str, Secret]:
        """The values of `[feeds.STREAM.options]` that may stand elsewhere, by name."""
        return {}

    def check(self, options: Options) -> Iterator[Diagnostic]:
        """Reasons that keep this machine from reading the source, or may."""
        yield from ()


AnySource: TypeAlias = Source[Any, Any]


@dataclass(frozen=True, slots=True)
class Feed:
    """A stream, where its events come from, and how they are written."""

    name: str
    source: AnySource
    format: FeedFormat

    def secrets(self) -> Mapping[str, Secret]:
        """The values of `[feeds.STREAM.options]` that may stand elsewhere, by name."""
        schemas = self.format.schemas
        registry = None if schemas is None else schemas.registry
        return {**self.source.secrets(), **dict(registry.options if registry else ())}
