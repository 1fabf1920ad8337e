"""The dead letters that a batch reads again, fixed before it runs, so that a second run of it reads the same.

The driver writes N.letters before the manifest of batch N, which has its checksum; mappers read it. It has
each letter's number, place and bytes, and the columns that the header of a CSV file named.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cep.decode.csv_records import columns_of
from cep.decode.formats import UnknownFormatError
from cep.errors import RESTORE, ConfigurationError
from cep.files import DamagedFileError, checksum_of, read_json, remove_old, write_json
from cep.sources.source import Feed, GoneError

if TYPE_CHECKING:
    from cep.files import AnyPath
    from cep.job.state_folder.dead_letters import StoredLetter
    from cep.job.state_folder.letter_replays import Place
    from cep.job.state_folder.manifest import Manifest

_KEPT = 100  # batches: so far back Spark can go


@dataclass(frozen=True, slots=True)
class Again:
    """A dead letter that is read again: its number, its place and the bytes that are read.

    `columns` are those of its file, which a header names; None where there is none. `why` is why they cannot
    be had, "" where they can.
    """

    number: int
    feed: str
    file: str
    offset: int
    data: bytes
    columns: tuple[str, ...] | None = None
    why: str = ""

    @property
    def place(self) -> Place:
        """Feed, file and offset."""
        return self.feed, self.file, self.offset


def fixed(
    manifests: AnyPath, manifest: Manifest, letters: Sequence[StoredLetter], feeds: Mapping[str, Feed]
) -> Manifest:
    """The manifest of a batch that never ran, with letters that it reads again, written. Old ones go."""
    remove_old(manifests, manifest.batch - _KEPT, ".letters")
    if not letters:
        return manifest
    headers: dict[tuple[str, str], tuple[tuple[str, ...] | None, str]] = {}
    for one in letters:
        feed, file = one.letter.feed, one.letter.file
        if (feed, file) not in headers:
            headers[feed, file] = _header(feeds[feed], file)
    value = {
        "batch": manifest.batch,
        "headers": [[*of, columns, why] for of, (columns, why) in headers.items()],
        "letters": [
            [one.number, one.letter.feed, one.letter.file, one.letter.offset,
             base64.b64encode(one.letter.data).decode()]
            for one in letters
        ],
    }  # fmt: skip
    write_json(manifests / f"{manifest.batch}.letters", value)
    return replace(manifest, letters=checksum_of(value))


def load(manifests: AnyPath, manifest: Manifest) -> tuple[Again, ...]:
    """The letters that a batch reads again, in the order written. Raises ConfigurationError."""
    if not manifest.letters:
        return ()
    path = manifests / f"{manifest.batch}.letters"
    try:
        value = read_json(path)
        if checksum_of(value) != manifest.letters:
            raise DamagedFileError("is of another batch than its manifest")
        headers = {
            (feed, file): (None if columns is None else tuple(columns), why)
            for feed, file, columns, why in value["headers"]
        }
        return tuple(
            Again(number, feed, file, offset, base64.b64decode(data), *headers[feed, file])
            for number, feed, file, offset, data in value["letters"]
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, DamagedFileError) else "is missing or cannot be read"
        raise ConfigurationError(f"the list of dead letters {path} {why}", RESTORE) from error


def share(letters: Iterable[Again], lane: int, lanes: int) -> list[Again]:
    """The letters that one of `lanes` mappers reads: as many as each other does, files together."""
    listed = sorted(letters, key=lambda one: one.place)
    return listed[len(listed) * lane // lanes : len(listed) * (lane + 1) // lanes]


def _header(feed: Feed, file: str) -> tuple[tuple[str, ...] | None, str]:
    """The columns that a file's header names, and why they cannot be had."""
    try:
        if feed.format.of(file).kind != "csv" or not feed.format.header:
            return None, ""
        beginning = memoryview(feed.source.beginning(file, feed.format))
    except UnknownFormatError as error:
        return None, str(error)
    except GoneError as error:
        return None, f"the {feed.source.noun} {error}, whose header names the columns"
    return columns_of(beginning, None, feed.format)[0], ""
