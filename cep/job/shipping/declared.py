"""The things that are shipped to workers, each with its transport and its bound (docs/architecture.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cep.errors import ConfigurationError
from cep.resources.resource import CANNOT_BE_OPENED
from cep.resources.standing import ANEW

TOO_LARGE = "CEP0747"
MISSING = "CEP0748"
AWAY_FROM = 64 << 10
"""Payloads of so many bytes travel as blobs, smaller ones in Spark's rows."""


class Transport(StrEnum):
    """The means by which a thing comes from the driver, or from one worker, to another worker."""

    PROPERTY = "local property"
    PICKLED = "pickled with the query"
    FILE = "file"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Bound:
    """The number of bytes that a thing may have, and what helps where it has more."""

    most: int
    cure: str


@dataclass(frozen=True, slots=True)
class Shipped:
    """One of these things. `place` is the property, or the file within the state folder.

    `bound` None: it may have any size. `missing` is what helps where it is not there, said under `code`; ""
    where whoever reads it says so.
    """

    what: str
    transport: Transport
    place: str
    bound: Bound | None
    missing: str
    code: str = MISSING

    def check(self, size: int, of: str) -> None:
        """Raises ConfigurationError where one has more bytes than it may have; `of` says which it is."""
        if self.bound is not None and size > self.bound.most:
            most = self.bound.most
            message = f"{self.what} {of} has {size:,} bytes: more than {most:,} do not go to workers"
            raise ConfigurationError(message, self.bound.cure, TOO_LARGE)

    def not_there(self, why: str) -> ConfigurationError:
        """The error for one that cannot be had; `why` is a sentence that names it."""
        return ConfigurationError(why, self.missing, self.code)


_AGAIN = "start the job again: it runs the batch anew"
_RESTORE = "restore the state folder from a backup, or name a new [job] state and begin anew"
_DIVIDE = "divide the job into several, each with some of its packs and feeds"
_SPARK = "Spark runs the task again, or fails the batch"
_OF_QUERY = Bound(1 << 20, f"{_DIVIDE}, or with fewer shards")

MANIFEST = Shipped("the manifest", Transport.PROPERTY, "cep.manifest", Bound(16 << 20, _DIVIDE), _AGAIN)
CAREFUL = Shipped(
    "the order to look for poison", Transport.PROPERTY, "cep.careful", None, "the batch is not searched", ""
)
MAPPER = Shipped("the mapper", Transport.PICKLED, "", _OF_QUERY, _SPARK, "")
MATCHER = Shipped("the matcher", Transport.PICKLED, "", _OF_QUERY, _SPARK, "")
PACK = Shipped("the texts of a pack", Transport.FILE, "packs/", None, _RESTORE)
QUERIES = Shipped("a compiled set of queries", Transport.FILE, "queries/", None, ANEW, CANNOT_BE_OPENED)
FILES = Shipped("the list of a batch's files", Transport.FILE, "manifests/", None, _RESTORE, "")
LETTERS = Shipped("dead letters that a batch reads again", Transport.FILE, "manifests/", None, _RESTORE, "")
PAYLOAD = Shipped(f"a payload of less than {AWAY_FROM >> 10} KiB", Transport.ROW, "", None, _SPARK, "")
BLOB = Shipped(
    "a larger payload, as a blob", Transport.FILE, "scratch/blobs/", None,
    f"{_AGAIN}; let nothing remove files of its scratch folder while it runs",
)  # fmt: skip
ALL = (MANIFEST, CAREFUL, MAPPER, MATCHER, PACK, QUERIES, FILES, LETTERS, PAYLOAD, BLOB)
