"""One bit that flips in a file of the state folder is told with its name, or changes nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from damaging import LATER, Alerts, Spark, flipped, reopen, restore, said
from job_folder import JobFolder

pytestmark = pytest.mark.spark

_UNREAD = ("outbox.db", "logs", "scratch")
"""Of the outbox, SQLite knows pages and we know batches (docs/damage.md); nothing reads the others."""
_PLACES = 2


def _files(folder: JobFolder) -> list[Path]:
    """Every file of the state that is not empty."""
    root = folder.state.root
    found = (path for path in root.rglob("*") if path.is_file() and path.stat().st_size)
    return sorted(path for path in found if not path.relative_to(root).parts[0].startswith(_UNREAD))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("begun", [False, True], ids=["between batches", "within a batch"])
def test_a_flipped_bit_is_told_with_its_file_or_changes_nothing(
    made: tuple[JobFolder, Path], folder: JobFolder, spark: Spark, expected: Alerts, *, begun: bool
) -> None:
    def as_it_was() -> None:
        restore(made)
        if begun:
            reopen(folder, recorded=False)

    random, harmless = Random(11), {}
    as_it_was()
    for path in _files(folder):
        for _ in range(_PLACES):
            as_it_was()
            data = flipped(path.read_bytes(), random)
            path.write_bytes(data)
            told = said(folder)
            if told is None:
                harmless[path] = data
                continue
            # a checksum that differs is told of the file that it is of
            beside = path.with_name(path.name.removeprefix(".").removesuffix(".crc"))
            assert any(str(one.relative_to(folder.state.root)) in told for one in (path, beside)), told
    as_it_was()
    folder.put("payment", LATER)
    folder.once(spark)
    whole = folder.alerts()
    assert whole[: len(expected)] == expected
    as_it_was()
    last = folder.commits()[-1].name
    for path, data in harmless.items():
        # of the other commits Spark needs one, and a checksum that is none does not count
        if (path.parent.name != "commits" or path.name == last) and path.suffix != ".crc":
            path.write_bytes(data)
    folder.put("payment", LATER)
    folder.once(spark)
    assert folder.alerts() == whole


@pytest.mark.parametrize("byte", range(4, 8))
def test_a_checksum_for_other_lengths_is_none(folder: JobFolder, byte: int) -> None:
    """Java would make room for as many bytes as it says."""
    path = folder.state.checkpoint / "offsets" / ".2.crc"
    data = bytearray(path.read_bytes())
    data[byte] ^= 0x40
    path.write_bytes(data)
    assert said(folder) is not None
