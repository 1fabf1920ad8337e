"""Several segments and the changes since -> one segment; as a child process, so that nobody waits for it.

Segments are merged in tiers: whatever is not four times as large as all that is newer goes with it, and so
does a segment of which half is dead. A query is thus rewritten about as often as the count of queries has
digits to the base four.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from percolator.disk import Disk
from percolator.library.collection import Collection
from percolator.library.manifest import FileEntry, Manifest, Pin, SegmentEntry, segment_entry
from percolator.library.reader import Reader
from percolator.library.sample import read_sample
from percolator.library.stored import StoredSegment

TIER = 4


def chosen(manifest: Manifest, queries: Collection, whole: bool = False) -> frozenset[str]:
    """The names of the segments that go into the next one, with all changes; with `whole`, all."""
    living = [part.count() for part in queries.parts[: queries.base_parts]]
    sizes = [(alive, entry.queries) for alive, entry in zip(living, manifest.segments, strict=True)]
    merged = range(len(sizes)) if whole else tiers(sizes, len(queries) - sum(living))
    return frozenset(manifest.segments[at].name for at in merged)


def tiers(sizes: Sequence[tuple[int, int]], newer: int) -> list[int]:
    """The segments to merge beside so many newer queries, by their living and all queries."""
    merged = []
    for at, (living, all_) in sorted(enumerate(sizes), key=lambda one: one[1][0]):
        if living < TIER * newer or 2 * living <= all_:
            merged.append(at)
            newer += living
    return merged


def merge(
    folder: Path, manifest: Manifest, queries: Collection, names: frozenset[str], name: str, disk: Disk
) -> Manifest:
    """Writes the segment `name`, of these segments and all changes, and what is dead in the others.

    Returns the next generation, whose log begins empty; it is not saved.
    """
    merged = queries.changed()
    kept: list[SegmentEntry] = []
    for entry, part in zip(manifest.segments, queries.parts[: queries.base_parts], strict=True):
        if entry.name in names:
            merged += [queries.read(query) for query in part.living()]
        else:
            kept.append(_with_dead(folder, entry, part.dead, name, disk))
    if merged:
        StoredSegment.of(merged, manifest.schema, read_sample(folder)).save(folder, name, disk)
        kept.append(segment_entry(folder, name, len(merged)))
    return Manifest(manifest.generation + 1, manifest.schema, tuple(kept))


def _with_dead(
    folder: Path, entry: SegmentEntry, dead: np.typing.NDArray[np.bool_], name: str, disk: Disk
) -> SegmentEntry:
    places = np.flatnonzero(dead).astype("<u4")
    if len(places) == entry.dead_count():  # nothing comes to life again
        return entry
    file = f"dead-{name}-of-{entry.name}"
    disk.write_whole(folder / file, [places.data])
    return SegmentEntry(entry.name, entry.queries, entry.files, FileEntry.of(folder, file))


def main(folder: str, generation: str, offset: str, name: str, names: str) -> None:
    """The child process: prints the next generation's manifest."""
    pin = Pin(int(generation), int(offset))
    reader = Reader.open(Path(folder), pin, verify=False)
    wanted = frozenset(json.loads(names))
    print(merge(reader.folder, reader.manifest, reader.queries, wanted, name, Disk()).as_text())


if __name__ == "__main__":
    main(*sys.argv[1:])
