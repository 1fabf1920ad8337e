"""A path that the user may not read or write is reported before Java starts, with code, name and fix."""

from __future__ import annotations

import shutil
from pathlib import Path

import bound_by_modes
import pytest
from damaging import Spark
from job_folder import JobFolder
from rules_of_tests import pack, payments

RECEIVER = '[receivers.desk]\nkind = "webhook"\nurl = "http://127.0.0.1:9/"\nsecret = "file:secret.txt"\n'

# path, mode, code, exit code
AT_FIRST = [
    ("job.toml", 0o000, "CEP0701"),
    ("packs", 0o000, "CEP0720"),
    ("packs", 0o300, "CEP0720"),
    ("packs/pack.rules", 0o000, "CEP0506"),
    ("inbox", 0o000, "CEP0952"),
    ("inbox/payment", 0o000, "CEP0726"),
    ("inbox/payment", 0o300, "CEP0726"),
    ("inbox/payment", 0o600, "CEP0726"),
    ("secret.txt", 0o000, "CEP0708"),
    (".", 0o500, "CEP0721"),
]


@pytest.fixture
def job(tmp_path: Path) -> JobFolder:
    found = JobFolder(tmp_path / "job", pack(), ("payment",))
    found.put("payment", payments(1, 20))
    return found


def _plain(told: str) -> None:
    assert "Traceback" not in told
    assert "should not have happened" not in told


@pytest.mark.slow
def test_a_first_start_names_what_it_may_not_read_and_makes_nothing(job: JobFolder) -> None:
    (job.root / "secret.txt").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    job.more = RECEIVER
    job.describe()
    cases = [
        (str(job.root / path), mode, ("run", str(job.description), "--once")) for path, mode, _ in AT_FIRST
    ]
    for (path, _, code), (ended, told) in zip(AT_FIRST, bound_by_modes.run(cases), strict=True):
        assert (ended, f"error[{code}]: " in told) == (2, True), told
        assert path in told
        assert "help: let the" in told
        _plain(told)
    assert not job.state.root.exists()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["check", "test", "fmt", "eval"])
def test_other_verbs_name_it_too(job: JobFolder, verb: str) -> None:
    pack, events = job.root / "packs" / "pack.rules", job.root / "inbox" / "payment" / "000000.jsonl"
    more = ("--events", f"payment={events}", "--output", "-") if verb == "eval" else ()
    ((ended, told),) = bound_by_modes.run([(str(pack), 0, (verb, str(pack.parent), *more))])
    assert (ended, "error[CEP0506]: " in told, str(pack) in told) == (1, True, True), told
    if verb == "eval":
        ((ended, told),) = bound_by_modes.run([(str(events), 0, (verb, str(pack.parent), *more))])
        assert (ended, "error[CEP0852]: " in told, str(events) in told) == (2, True, True), told
    _plain(told)


@pytest.mark.spark
def test_a_start_names_what_it_may_not_use_of_its_state_folder(job: JobFolder, spark: Spark) -> None:
    """Every folder of a real one and a file of each not to be read, what is written not to be written; but a
    job goes on without its record."""
    job.once(spark)
    root = job.state.root
    shutil.rmtree(job.state.logs)  # of this process's session
    job.state.make()
    apart = {"scratch", "record"}
    found = [root, *sorted(p for p in root.rglob("*") if apart.isdisjoint(p.relative_to(root).parts))]
    one_each = {p.parent: p for p in found if p.is_file() and p.suffix != ".crc"}
    paths = [*(p for p in found if p.is_dir()), *one_each.values()]
    assert len(paths) > 25
    cases = [(str(path), 0, ("run", str(job.description), "--once")) for path in paths]
    written = [root, job.state.manifests, job.state.checkpoint / "offsets", job.outbox]
    cases += [(str(path), 0o500 if path.is_dir() else 0o400, cases[0][2]) for path in written]
    for (path, _, _), (ended, told) in zip(cases, bound_by_modes.run(cases), strict=True):
        code = "CEP0721" if path == str(root) else "CEP0881"
        assert (ended, f"error[{code}]: " in told, path in told) == (2, True, True), told
        assert "help: let " in told
        _plain(told)
    before = job.alerts()
    job.once(spark)
    assert job.alerts() == before, "and then it goes on"
    (root / "lost+found").mkdir(mode=0)  # as on a volume that is mounted there: not for the job's user
    ((ended, told),) = bound_by_modes.run([(str(job.state.record), 0, cases[0][2])])
    assert (ended, f"cannot be removed: Permission denied ({job.state.record})" in told) == (0, True), told


@pytest.mark.spark
def test_a_file_of_a_feed_that_may_not_be_read_stops_the_job_and_is_read_later(
    job: JobFolder, spark: Spark
) -> None:
    """Spark lists it, and a job that went on without it would lose what it holds."""
    path = job.root / "inbox" / "payment" / "000000.jsonl"
    ((ended, told),) = bound_by_modes.run([(str(path), 0, ("run", str(job.description), "--once"))])
    assert (ended, f"the file {path} of batch 0 may not be read: permission denied" in told) == (2, True), (
        told
    )
    _plain(told)
    assert "20 events" in job.once(spark)
