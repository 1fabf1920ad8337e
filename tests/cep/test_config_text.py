"""A job file as a text: one that is no TOML, settings that change nothing, values from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_config_keys import told, written

from cep.config import load_job


@pytest.mark.parametrize(
    ("text", "message", "span", "help_"),
    [
        (written({}, "shards = 4\n"), "unknown key `shards`", "shards", "it belongs to [job]"),
        ("name = 'a'\n" + written({}), "unknown key `name`", "name", "it belongs to [job]"),
        (written({}, "[jobs]\n"), "unknown key `jobs`", "jobs", "did you mean `job`?"),
        (written({("feeds.payment", "topic"): '"a"'}), 'source "files" has no option `topic`', "topic",
         'source "files" has `path`, and every feed `format`, `fields`'),
        (written({}, "[kafka]\n"), "unknown key `kafka`", "kafka", "known here: job, feeds"),
        (written({}, "[feeds]\nsource = 'files'\npath = 'a.csv'\n"), "only tables with names", "source",
         "write [feeds.STREAM] above `source`"),
        (written({}, "[receivers]\nkind = 'console'\n"), "only tables with names", "kind",
         "write [receivers.NAME] above `kind`"),
        ("http = 'x:1'\n" + written({}), "`http` must be a table", "'x:1'", "write `[http]`"),
        (written({}, "[[http]]\nlisten = 'x:1'\n"), "`http` must be a table", "http", "write `[http]`"),
        (written({}, "[feeds]\nlogin = 5\n"), "`feeds.login` must be a table", "5", "write `[feeds.login]`"),
    ],
)  # fmt: skip
def test_a_key_in_the_wrong_place_is_told_where_it_belongs(
    tmp_path: Path, text: str, message: str, span: str, help_: str
) -> None:
    (one,) = told(tmp_path, text)
    assert message in one.message
    assert (one.span and one.span.text) == span
    assert help_ in one.help


@pytest.mark.parametrize(
    ("text", "message", "span", "help_"),
    [
        ("[job]\nname: 'a'\n", "a key without `=`", ":", 'name = "fraud"'),
        ("// desk\n[job]\n", "neither a key nor a [table]", "/", "a comment begins with #"),
        ("[job]\nname = fraud desk\n", "this is no value", "fraud", "text stands in quotes"),
        ("[job]\nname = “fraud”\n", "this is no value", "“", "straight quotes"),
        ("[job]\nheader = False\n", "this is no value", "False", "write `false`"),
        ("[job]\nx = null\n", "this is no value", "null", "leave the key out"),
        ('[job]\npath = "C:\\data"\n', "begins a special character", "a", "single quotes"),
        ('[job]\nname = "a\nstate = "b"\n', "not closed on its line", "\n", "write a quote"),
        ("[job]\nname = 'a", "never closed", "", "write a quote"),
        ("[job]\nname = 'a' state = 'b'\n", "goes on behind its value", "s", "one key a line"),
        ("[job\nname = 'a'\n", "is not closed", "\n", "write `]`"),
        ("[job]\n[job]\n", "this table is written twice", "job", "under one of them"),
        ("[job]\na = 1\na = 2\n", "this key is written twice", "a", "remove one of them"),
        ("[job]\na = { b = 1, b = 2 }\n", "this key is written twice", "b", "remove one of them"),
        ("[job]\na = ['b'\n", "the `[` of a list is never closed", "\n", "write `]`"),
        ("[job]\na = { b = 1\n", "the `{` of a table is not closed", "\n", "write `}`"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_toml_is_told_in_plain_words(
    tmp_path: Path, text: str, message: str, span: str, help_: str
) -> None:
    (one,) = told(tmp_path, text)
    assert one.code == "CEP0702"
    assert message in one.message
    assert (one.span and one.span.text) == span
    assert help_ in one.help


@pytest.mark.parametrize(
    ("changed", "name", "message"),
    [
        ({("feeds.payment", "path"): '"inbox/*.jsonl"', ("feeds.payment", "delimiter"): '";"'}, "delimiter",
         "`delimiter` is for CSV, and feed `payment` reads .json files"),
        ({("feeds.payment", "path"): '"a.parquet"', ("feeds.payment", "header"): "true"}, "header",
         "`header` is for CSV, and feed `payment` reads .parquet files"),
        ({("feeds.payment", "header"): "false", ("feeds.payment", "fields"): '{ a = "b" }'}, "fields",
         "without a header the columns are the stream's fields"),
        ({("feeds.payment", "timestamps"): '"epoch_s"', ("feeds.payment", "zone"): '"CET"'}, "zone",
         "`epoch_s` counts from 1970 in UTC"),
    ],
)  # fmt: skip
def test_a_setting_that_changes_nothing_is_a_warning(
    tmp_path: Path, changed: dict[tuple[str, str], str | None], name: str, message: str
) -> None:
    (tmp_path / "job.toml").write_text(written(changed), encoding="utf-8")
    (one,) = load_job(tmp_path / "job.toml", {}).diagnostics
    assert (one.code, one.level, one.span and one.span.text) == ("CEP0719", "warning", name)
    assert message in one.message
    assert "remove it" in one.help


def test_an_outbox_that_the_environment_names_is_found_from_the_job_file(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(written({("outbox", "url"): '"${URL}"'}), encoding="utf-8")
    environ = {"URL": "sqlite:///alerts.db"}
    assert (
        load_job(tmp_path / "job.toml", environ).need().outbox_url(environ)
        == f"sqlite:///{tmp_path}/alerts.db"
    )
