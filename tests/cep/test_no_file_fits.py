"""A feed that fits no file is told at its line, with what was probably meant; waiting for one is no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.config import Job, load_job
from cep.config.no_file_fits import likely_cure, no_file_fits
from cep.sources.files.globs import parse
from cep.sources.files.names import listed
from cep.sources.files.path_as_regex import from_regular_expression
from rules.diagnostics import DiagnosticsError


def job(folder: Path, *paths: str) -> Job:
    feeds = "".join(f"[feeds.s{i}]\nsource = 'files'\npath = '{path}'\n" for i, path in enumerate(paths))
    (folder / "job.toml").write_text(f'[job]\nname = "a"\npacks = "."\nstate = "state/"\n{feeds}')
    return load_job(folder / "job.toml", {}).need()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("inbox/a.jsonl", "inbox/b.JSONL", "inbox/day/c.csv", "inbox/_d.parquet", "zipped/e.csv.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("path", "cure"),
    [
        (r"inbox/.*\.jsonl", "wildcards are no regular expression: write `inbox/*.jsonl`"),
        (r"inbox/(a|b)-[0-9]+\.jsonl", "no regular expression: write `inbox/{a,b}-*.jsonl`"),
        (r"empty/^[a-z]+\.csv*", "write `empty/*.csv*`"),
        ("inbox/*.json", "there is inbox/a.jsonl: did you mean `inbox/*.jsonl`?"),
        ("inbox/B*.JSONL", "there is inbox/b.JSONL: did you mean `inbox/b*.JSONL`?"),
        ("inbox/c*.csv", "there is inbox/day/c.csv: did you mean `inbox/*/c*.csv`?"),
        ("zipped/*.csv", "there is zipped/e.csv.gz: did you mean `zipped/*.csv.gz`?"),
        (
            "inbox/_*.parquet",
            "files whose names begin with `_` or `.` are passed over: give them other names",
        ),
        ("empty/*.csv", "nothing is read until there is one"),
        ("*/2026-*.csv", "nothing is read until there is one"),
    ],
)
def test_a_path_that_fits_no_file_is_told_with_its_likely_cure(folder: Path, path: str, cure: str) -> None:
    described = job(folder, path)
    (found,) = no_file_fits(described)
    assert (found.code, found.level) == ("CEP0740", "warning")
    assert found.span is not None
    assert (found.span.line, found.span.text) == (7, f"'{path}'")
    assert cure in found.help


def test_what_fits_or_was_read_or_is_told_otherwise_is_not_spoken_of(folder: Path) -> None:
    paths = ("inbox/*.jsonl", "inbox/", "inbox/*/*.csv", "nowhere/*.csv", "inbox/zzz.csv", "empty/*.csv")
    described = job(folder, *paths)
    assert [one.span.text for one in no_file_fits(described) if one.span] == ["'empty/*.csv'"]
    assert no_file_fits(described, read=["s5"]) == []


@pytest.mark.parametrize(
    ("path", "glob"),
    [
        (r"/in/.*\.jsonl$", "/in/*.jsonl"),
        (r"/in/payment_[0-9]{4}-\d{2}\.csv", "/in/payment_*-*.csv"),
        (r"/in/day\d.csv", "/in/day[0-9].csv"),
        (r"/in/(?:a|b).+\.csv", "/in/{a,b}*.csv"),
        ("/in/.*", "/in/*"),
        ("/in/*.csv", None),
        ("/in/day.*", None),
        ("/in/{a,b}[0-9].csv", None),
        (r"/in/\[x\].csv", None),
        ("/in/a+b (old).csv", None),
    ],
)
def test_a_regular_expression_is_told_from_wildcards(path: str, glob: str | None) -> None:
    assert from_regular_expression(path) == glob
    if glob is not None:
        assert parse(glob)


def test_what_is_offered_does_fit_a_file(folder: Path) -> None:
    for path in ("inbox/*.json", "inbox/B*.JSONL", "inbox/c*.csv", "zipped/*.csv", r"inbox/.*\.jsonl"):
        offered = likely_cure(f"{folder}/{path}", folder).split("`")[1]
        assert listed(f"{folder}/{offered}"), offered


@pytest.mark.parametrize("path", [r"inbox/.*\.jsonl$", r"inbox/day\d+\.(csv|jsonl)"])
def test_a_regular_expression_whose_end_says_no_format_is_told_as_one(folder: Path, path: str) -> None:
    with pytest.raises(DiagnosticsError) as refused:
        job(folder, path)
    (found,) = refused.value.diagnostics
    assert found.code == "CEP0706"
    assert "wildcards are no regular expression: write `inbox/" in found.help
