"""A job that has begun goes on with an outbox of a version before, which its start brings up to date."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from job_folder import JobFolder
from rules_of_tests import pack

from cep.config import load_job
from cep.job.start.origin import open_outbox

GOLDEN = Path(__file__).parents[1] / "alerts"


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_start_brings_the_outbox_up_to_date(tmp_path: Path, version: int) -> None:
    folder = JobFolder(tmp_path / "job", pack(), ("payment",))
    folder.state.make()
    (folder.state.checkpoint / "offsets").mkdir(parents=True)
    with closing(sqlite3.connect(folder.outbox)) as database, database:
        database.executescript((GOLDEN / f"outbox_version_{version}.sql").read_text("utf-8"))
    job = load_job(folder.description, {}).need()
    with closing(open_outbox(job, folder.state, {})) as outbox:
        assert len(outbox.alerts()) == 3
