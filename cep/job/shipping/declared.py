"""The things that are shipped to workers, each with its way and its bounds (docs/architecture.md)."""

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
class Shipped:
    """One of these things. `place` is the property, or the file within the state folder.

    `most` is how many bytes it may have, and `larger` what helps beyond that; None: `check` has nothing to
    say, and `larger` tells what bounds it. `missing` is what helps where it is not there, told under `code`;
    "" where it is told by whoever reads it.
    """

    what: str
    transport: Transport
    place: str
    most: int | None
    larger: str
    missing: str
    code: str = MISSING

    def check(self, size: int, of: str) -> None:
        """Raises ConfigurationError where one has more bytes than it may have; `of` says which it is."""
        if self.most is not None and size > self.most:
            message = f"{self.what} {of} has {size:,} bytes: more than {self.most:,} do not go to workers"
            raise ConfigurationError(message, self.larger, TOO_LARGE)

    def not_there(self, why: str) -> ConfigurationError:
        """The error for one that cannot be had; `why` is a sentence that names it."""
        return ConfigurationError(why, self.missing, self.code)


_AGAIN = "start the job again: it runs the batch anew"
_RESTORE = "restore the state folder from a backup, or name a new [job] state and begin anew"
_DIVIDE = "divide the job into several, each with some of its packs and feeds"
_SPARK = "Spark runs the task again, or fails the batch"
_SMALLER = f"{_DIVIDE}, or with fewer shards"

MANIFEST = Shipped("the manifest", Transport.PROPERTY, "cep.manifest", 16 << 20, _DIVIDE, _AGAIN)
CAREFUL = Shipped(
    "the order to look for poison", Transport.PROPERTY, "cep.careful", None, "one word",
    "the batch is not searched", "",
)  # fmt: skip
MAPPER = Shipped("the mapper", Transport.PICKLED, "", 1 << 20, _SMALLER, _SPARK, "")
MATCHER = Shipped("the matcher", Transport.PICKLED, "", 1 << 20, _SMALLER, _SPARK, "")
PACK = Shipped("the texts of a pack", Transport.FILE, "packs/", None, "64 MiB a rule file", _RESTORE)
QUERIES = Shipped(
    "a compiled set of queries",
    Transport.FILE,
    "queries/",
    None,
    "1 GiB a file of queries",
    ANEW,
    CANNOT_BE_OPENED,
)
FILES = Shipped(
    "the list of a batch's files", Transport.FILE, "manifests/", None, "a line a file", _RESTORE, ""
)
PAYLOAD = Shipped(
    "a payload", Transport.ROW, "", None, "less than 64 KiB; from there on it is a blob", _SPARK, ""
)
BLOB = Shipped(
    "a blob", Transport.FILE, "scratch/blobs/", None, "free space on the disk",
    f"{_AGAIN}; let nothing remove files of its scratch folder while it runs",
)  # fmt: skip
ALL = (MANIFEST, CAREFUL, MAPPER, MATCHER, PACK, QUERIES, FILES, PAYLOAD, BLOB)
