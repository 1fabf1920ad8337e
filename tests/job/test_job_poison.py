"""An event that ends every process that works on it is kept as a dead letter, and the job goes on.

Real workers die here: a module on their path lets them, where they meet certain events.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import BEGIN, SECOND, pack, payments

pytestmark = pytest.mark.spark
Dying = Callable[[str], None]
Letter = tuple[int, str, str, int, str, str, bytes]

IN_THE_DECODER = """
import os, signal
from cep.decode import blocks
whole = blocks.salvage
def salvage(reader, chosen):
    for number in chosen:
        if b'"POISON' in reader.octets(int(number)):
            {end}
    return whole(reader, chosen)
blocks.salvage = salvage
"""
IN_THE_MATCHER = """
import os, signal
from cep.operators.single import SingleOperator
whole = SingleOperator.advance
def advance(self, group, kept, ready, context):
    for number, part in enumerate(ready.parts):
        ids = part.column("@id").to_pylist()
        if any(ids[row].startswith("POISON") for row in ready.rows_of(number)[1]):
            os.kill(os.getpid(), signal.SIGSEGV)
    return whole(self, group, kept, ready, context)
SingleOperator.advance = advance
"""
BEYOND_ITS_MEMORY = """
import os, signal
from cep.decode import blocks
whole = blocks.salvage
def salvage(reader, chosen):
    if len(chosen) > 300:
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(reader, chosen)
blocks.salvage = salvage
"""
ONCE = """
marker = os.environ["CEP_DIED"]
try:
    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    os.kill(os.getpid(), signal.SIGKILL)
except FileExistsError:
    pass
"""
IN_PARQUET = """
import os, signal
import pyarrow.parquet as pq
import cep.decode.parquet_rows as rows
class Beginning(rows.Beginning):
    opened = ""
    def __init__(self, file, length):
        super().__init__(file, length)
        Beginning.opened = file
rows.Beginning = Beginning
class ParquetFile(pq.ParquetFile):
    def __init__(self, source, *args, **more):
        super().__init__(source, *args, **more)
        self.told = Beginning.opened
        if "footer" in self.told:
            os.kill(os.getpid(), signal.SIGSEGV)
    def iter_batches(self, *args, row_groups=None, **more):
        if "group" in self.told and row_groups == [1]:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().iter_batches(*args, row_groups=row_groups, **more)
pq.ParquetFile = ParquetFile
"""
THE_VERSION_BEFORE = """
import cep.decode.parquet_rows as rows
rows._check_utf8 = lambda *_: None
"""
ENDS = 'os._exit(9) if b"POISON-18" in reader.octets(int(number)) else os.kill(os.getpid(), signal.SIGSEGV)'


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dying:
    """Has every process of a job that is started as a command run some code when it begins."""

    def set_(code: str) -> None:
        folder = tmp_path / "site"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(folder))
        monkeypatch.setenv("CEP_DIED", str(tmp_path / "died"))

    return set_


def run(folder: JobFolder, *arguments: str) -> int:
    with folder.running("--once", *arguments) as job:
        return job.process.wait(240)


def letters(folder: JobFolder) -> list[Letter]:
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        columns = 'batch, feed, file, "offset", stage, reason, data'
        return database.execute(f"select {columns} from dead_letters order by file, 4").fetchall()


def bodies(folder: JobFolder) -> list[dict[str, object]]:
    found = [{k: v for k, v in alert.items() if k != "batch"} for alert in folder.alerts()]
    return sorted(found, key=lambda alert: str(alert["id"]))


def put(folder: JobFolder, events: list[dict[str, object]], poison: tuple[int, ...]) -> tuple[Path, Path]:
    """Puts events into a feed, some of them under an id that kills; also a file without those, elsewhere."""
    marked = [e | {"payment_id": f"POISON-{n}"} if n in poison else e for n, e in enumerate(events)]
    path = folder.put("payment", marked)
    lines = path.read_bytes().splitlines(keepends=True)
    # what follows stands where it stood: the place of an event orders those of one instant
    rest = b"".join(b" " * (len(x) - 1) + b"\n" if b"POISON" in x else x for x in lines)
    aside = folder.root / "aside" / path.name
    aside.write_bytes(rest)
    return path, aside


def expected(folder: JobFolder, files: list[Path]) -> list[dict[str, object]]:
    found = in_process(folder, [[("payment", path)] for path in files])
    return sorted(found, key=lambda alert: str(alert["id"]))


def as_before_batch_0_was_over(folder: JobFolder) -> None:
    """Spark and the outbox have nothing of it but its begin; the manifest and the files stay."""
    for name in ("commits", "state"):
        shutil.rmtree(folder.state.checkpoint / name)
    for later in [*folder.state.checkpoint.rglob("[1-9]"), *folder.state.checkpoint.rglob(".[1-9].crc")]:
        later.unlink()
    for later in folder.state.manifests.glob("[1-9].*"):
        later.unlink()
    (folder.state.root / "closed").unlink(missing_ok=True)
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        for table in ("outbox_alerts", "outbox_batches", "dead_letters", "late_events"):
            database.execute(f"delete from {table}")


def test_lines_that_end_their_decoder_are_dead_letters(
    tmp_path: Path, dying: Dying, spark: Callable[..., Any]
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    events = list(payments(9, 1200))
    first, rest = put(folder, events[:600], (17, 18, 599))
    second, more = put(folder, events[600:], (300,))
    dying(IN_THE_DECODER.format(end=ENDS))
    assert run(folder) == 0, folder.told
    places = [(first, 17), (first, 18), (first, 599), (second, 300)]
    for (path, number), (batch, feed, file, offset, stage, reason, data) in zip(
        places, letters(folder), strict=True
    ):
        lines = path.read_bytes().splitlines(keepends=True)
        assert (batch, feed, file, stage) == (0, "payment", str(path), "poison")
        assert offset == len(b"".join(lines[:number]))
        assert data == lines[number].rstrip()
        assert ("ended with exit code 9" if number == 18 else "was ended by SIGSEGV") in reason
        assert f"{path}, line {number + 1} of stream payment, which is poison (CEP0870)" in folder.told
    assert "4 malformed (table dead_letters of the outbox)" in folder.told

    kept, raised = letters(folder), bodies(folder)
    as_before_batch_0_was_over(folder)
    folder.once(spark)  # nothing kills there: what was left out stays out
    assert letters(folder) == kept
    assert bodies(folder) == raised
    folder.once(spark, drain=True)
    assert bodies(folder) == expected(folder, [rest, more])


@pytest.mark.soak
def test_a_worker_that_is_killed_once_costs_nothing(tmp_path: Path, dying: Dying) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    path = folder.put("payment", payments(9, 600))
    dying(
        "import os, signal\n"
        + IN_THE_DECODER.format(end="pass")
        .replace('"POISON', "")
        .replace("            pass", "".join(f"            {line}\n" for line in ONCE.strip().splitlines()))
    )
    assert run(folder, "--drain") == 0, folder.told
    assert (tmp_path / "died").exists()
    assert "batch 0: a process that worked on it was ended; it is run again" in folder.told
    assert "poison" not in folder.told
    assert bodies(folder) == expected(folder, [path])


@pytest.mark.soak
def test_what_dies_of_its_size_alone_stops_the_job_and_loses_nothing(
    tmp_path: Path, dying: Dying, spark: Callable[..., Any]
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    path = folder.put("payment", payments(9, 1000))
    dying(BEYOND_ITS_MEMORY)
    assert run(folder) == 3
    assert "and there is no event without which it does not (CEP0871)" in folder.told
    assert "Traceback" not in folder.told
    folder.once(spark, drain=True)
    assert letters(folder) == []
    assert bodies(folder) == expected(folder, [path])


def test_an_event_that_waits_is_left_out_when_its_time_comes(
    tmp_path: Path, dying: Dying, spark: Callable[..., Any]
) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    events = list(payments(9, 1200))
    # of cards of their own: other rules, whose shards can do with these events, still see them
    moment = {"at": "2026-01-05T08:02:10Z", "amount": 99.5}
    last = [{**one, **moment, "card": f"w{n}", "payment_id": f"w{n}"} for n, one in enumerate(events[:8])]
    first, rest = put(folder, [*events[:600], *last], (603, 606))
    dying(IN_THE_MATCHER)
    folder.once(spark)  # nothing kills there
    second = folder.put("payment", events[600:])
    kept = first.rename(folder.root / "aside" / "gone")
    assert run(folder) == 0, folder.told
    folder.once(spark, drain=True)
    lines = kept.read_bytes().splitlines(keepends=True)
    offsets = [len(b"".join(lines[:n])) for n in (603, 606)]
    found = letters(folder)
    assert [(file, offset, stage) for _, _, file, offset, stage, _, _ in found] == [
        (str(first), offset, "poison") for offset in offsets
    ]
    assert all("that matched it was ended by SIGSEGV" in letter[5] for letter in found)
    assert all(b'"@id": "POISON' in letter[6] for letter in found)
    assert bodies(folder) == expected(folder, [rest, second])


NOTES = """pack desk version "1"
stream payment {
  payment_id: string  at: timestamp  card: string  amount: double  note: string
  id payment_id  time at  lateness 2 seconds
}
rule both { by card  match a: payment[amount < 20] -> b: payment[amount > 90] within 10 minutes
            emit card, note = last(a.note), big = last(b.note) }
rule calm { by card  match a: payment[amount < 5] -> absent payment[amount > 5] for 1 minute
            within 10 minutes  emit card, note = last(a.note) }
rule whale { on payment[amount > 99]  emit payment_id, note }
"""


def parquet(folder: JobFolder, name: str, begin: int, rows: list[tuple[str, float, bytes]]) -> Path:
    """A file of payments, one a second; `rows` are card, amount and note."""
    ends = np.cumsum([0, *(len(note) for _, _, note in rows)], dtype=np.int32)
    text = pa.py_buffer(b"".join(note for _, _, note in rows))
    table = pa.table(
        {
            "payment_id": [f"{name}-{n}" for n in range(len(rows))],
            "at": pa.array([BEGIN // SECOND + begin + n for n in range(len(rows))]).cast(pa.timestamp("s")),
            "card": [card for card, _, _ in rows],
            "amount": [amount for _, amount, _ in rows],
            "note": pa.StringArray.from_buffers(len(rows), pa.py_buffer(ends), text),
        }
    )
    aside = folder.root / "aside" / f"{name}.parquet"
    pq.write_table(table, aside, row_group_size=2)
    return aside.rename(folder.root / "inbox" / "payment" / aside.name)


@pytest.fixture
def notes(tmp_path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "job", NOTES, ("payment",))
    folder.description.write_text(folder.description.read_text().replace("*.jsonl", "*.parquet"))
    return folder


@pytest.mark.soak
def test_a_folder_of_the_version_before_that_holds_invalid_texts_goes_on(
    notes: JobFolder, dying: Dying, spark: Callable[..., Any]
) -> None:
    """One waits for the watermark, one was taken by a run, one by a run that ends with time alone."""
    held = [("c1", 10.0, b"held \xff"), ("c2", 1.0, b"calm \xfe"), ("c3", 10.0, b"good")]
    waiting = [("c4", 99.5, b"waits \xfd"), ("c5", 99.5, b"good too")]
    path = parquet(notes, "old", 0, [*held, *[("c9", 50.0, b"")] * 3, *waiting])
    dying(THE_VERSION_BEFORE)
    assert run(notes) == 0, notes.told
    path.unlink()
    parquet(notes, "new", 9, [("c1", 95.0, b"b1"), ("c3", 95.0, b"b3"), ("c9", 50.0, b""), ("c9", 50.0, b"")])
    notes.once(spark)
    told = notes.once(spark, drain=True)
    found = letters(notes)
    assert {stage for _, _, _, _, stage, _, _ in found} == {"poison"}
    data = b"\n".join(letter[6] for letter in found)
    assert all(text in data for text in (b"held \xff", b"calm \xfe", b"waits \xfd"))
    assert len(found) == 3
    emitted = [alert["emit"] for alert in notes.alerts()]
    assert {"card": "c3", "note": "good", "big": "b3"} in emitted
    assert {"payment_id": "old-7", "note": "good too"} in emitted
    assert "the folder is closed" in told


@pytest.mark.soak
def test_parts_of_parquet_that_end_their_reader_are_left_out(notes: JobFolder, dying: Dying) -> None:
    rows = [(f"c{n}", 99.5, b"n") for n in range(6)]
    for place, name in enumerate(("footer", "group", "good")):
        parquet(notes, name, place, rows)
    dying(IN_PARQUET)
    assert run(notes, "--drain") == 0, notes.told
    inbox = notes.root / "inbox" / "payment"
    assert [(file, offset, stage) for _, _, file, offset, stage, _, _ in letters(notes)] == [
        (str(inbox / "footer.parquet"), 0, "poison"),
        (str(inbox / "group.parquet"), 2, "poison"),
    ]
    assert "group.parquet, rows 2 to 3 of stream payment, which is poison" in notes.told
    read = {str(alert["emit"]["payment_id"]) for alert in notes.alerts() if alert["rule"] == "whale"}  # type: ignore[index]
    assert read == {f"good-{n}" for n in range(6)} | {f"group-{n}" for n in (0, 1, 4, 5)}
