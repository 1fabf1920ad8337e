"""The whole example of docs/feeds.md: its files are written, its job is run, its result compared."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cep.cli.run import first_packs
from cep.config import Job, check_feeds, check_receivers, load_job
from cep.config.against_machine import check_machine
from cep.job.running import lifecycle
from cep.job.running.progress import Progress

PAGE = (Path(__file__).parents[2] / "docs" / "feeds.md").read_text("utf-8")
FILES = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMAND = "$ cep run job.toml --once --drain\n...\n"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    assert [name for name, _ in FILES] == ["inbox/monday.csv", "packs/cards.rules", "job.toml"]
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    loaded = load_job(tmp_path / "job.toml", {})
    assert loaded.diagnostics == ()
    return loaded.need()


def test_nothing_is_to_be_said_of_the_job_file(job: Job) -> None:
    packs = first_packs(job)
    assert [*check_machine(job, {}), *check_feeds(job, packs), *check_receivers(job, packs)] == []


@pytest.mark.spark
def test_the_job_prints_what_the_page_shows(
    job: Job, spark: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = PAGE.partition(COMMAND)[2].partition("```")[0]
    told = io.StringIO()
    mode = lifecycle.Mode(once=True, drain=True)
    lifecycle.run(lifecycle.Launch(job, lambda: first_packs(job), os.environ, mode), Progress(told), spark)
    printed = capsys.readouterr().out + told.getvalue().splitlines()[-1] + "\n"
    assert printed == shown
