"""The format of a feed's bytes: what job.toml says of a feed, and what a file's name says.

Light on purpose: the job's configuration reads it without loading Arrow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cep.secrets import Secret

Kind = Literal["json", "csv", "parquet", "avro", "protobuf", "raw"]
KINDS: tuple[Kind, ...] = ("json", "csv", "parquet")
"""What files hold."""
RECORD_KINDS: tuple[Kind, ...] = ("json", "csv", "avro", "protobuf", "raw")
"""What the values of a log's records hold; `raw`: the text of one field."""
BY_SCHEMA: tuple[Kind, ...] = ("avro", "protobuf")
"""Formats of which a record cannot be read without the schema that it was written by."""
Compression = Literal["none", "gzip", "zstd"]

EPOCHS = {"epoch_s": 10**9, "epoch_ms": 10**6, "epoch_us": 10**3, "epoch_ns": 1}
"""Nanoseconds in one unit of each way to count time since 1970-01-01T00:00Z."""

_KINDS: dict[str, Kind] = {
    ".jsonl": "json", ".json": "json", ".ndjson": "json", ".csv": "csv", ".parquet": "parquet"
}  # fmt: skip
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}


class UnknownFormatError(ValueError):
    """A file name whose ending says nothing about its format."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format that a file's name says."""

    kind: Kind
    compression: Compression


def format_of(name: str) -> FileFormat:
    """The format by file name: .jsonl .ndjson .json .csv, also with .gz or .zst behind; .parquet.

    Raises UnknownFormatError, whose text names the endings that are known.
    """
    stem, compression = name.lower(), "none"
    for ending, known in _COMPRESSIONS.items():
        if stem.endswith(ending):
            stem, compression = stem.removesuffix(ending), known
    for ending, kind in _KINDS.items():
        if stem.endswith(ending) and not (kind == "parquet" and compression != "none"):
            return FileFormat(kind, _compression(name))
    raise UnknownFormatError(
        "its name does not say what it holds: .jsonl, .json, .csv (each also with .gz or .zst) or .parquet"
    )


def _compression(name: str) -> Compression:
    return _COMPRESSIONS.get("." + name.lower().rpartition(".")[2], "none")


@dataclass(frozen=True, slots=True)
class Registry:
    """A schema registry: its address, and what its client is told, by the names of OF_REGISTRY."""

    address: str
    options: tuple[tuple[str, Secret], ...] = ()


IN_HEADER = "__value_schema_id"
"""The name of the header of a record with the id of its value's schema, a UUID."""
OF_REGISTRY = "schema.registry."
"""How the options of a registry's client begin."""


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of a feed's records: `text` is that of a file, an Avro schema or a FileDescriptorSet.

    `message` is the full name of the message of Protobuf; "" for the only one that the file has. With a
    `registry` each record has the id of the schema that it was written by.
    """

    text: bytes = field(default=b"", repr=False)
    message: str = ""
    registry: Registry | None = None


@dataclass(frozen=True, slots=True)
class FeedFormat:
    """The format of the events of one feed; the defaults are those of a feed without job.toml.

    `format` is what all its files hold; None: each holds what its name says. `fields` pairs a stream's field
    with the name it has in the source; `constants` pairs a field with the value that it has in every event (a
    JSON value; timestamps and durations as text). `timestamps` is "iso", a name of EPOCHS, or a strptime
    pattern; `zone` (IANA name or ±hh:mm) is that of timestamps that name none. `header` and `delimiter`
    concern CSV: without a header, columns stand in the order in which the stream declares its fields,
    constants left out. `key` is the field that the key of a log's record gives, "" for none; with
    `record_time` the time of the record is that of the event. Formats BY_SCHEMA have `schemas`.
    """

    fields: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, object], ...] = ()
    timestamps: str = "iso"
    zone: str = "UTC"
    header: bool = True
    delimiter: str = ","
    format: Kind | None = None
    key: str = ""
    record_time: bool = False
    schemas: Schemas | None = None

    def of(self, file: str) -> FileFormat:
        """Format and compression of a file of this feed. Raises UnknownFormatError."""
        return format_of(file) if self.format is None else FileFormat(self.format, _compression(file))

    def source(self, field: str) -> str:
        """The name that a stream's field has in the source."""
        return dict(self.fields).get(field, field)


BY_NAME = FeedFormat()
"""The format of a feed without settings: by the name of each file."""
