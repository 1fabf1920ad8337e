"""The examples of the pages about job files give the codes that the pages explain."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rule_pages import DOCS

from cep.codes import CONFIG
from cep.config import check_feeds, check_receivers, load_job, sections
from cep.config.against_machine import check_machine, check_packs
from cep.config.masking import check_secret_fields
from cep.config.no_file_fits import no_file_fits
from cep.job.start.beforehand import differences
from cep.job.state_folder.folder import FORMAT, FolderLayout
from rules.packs import load

NO_EXAMPLE = {"CEP0701", "CEP0709", "CEP0711", "CEP0730", "CEP0757", "CEP0758"}
"""Pages about a command, about what is not written, or about what is elsewhere."""
CODES = [code for code in (*CONFIG, "CEP0952", "CEP0953") if code not in NO_EXAMPLE]
PACK = """pack cards version "1"
stream payment {
  payment_id: string  occurred_at: timestamp  amount: double
  kind: string?  note: string?  seen_at: timestamp?
  id payment_id  time occurred_at
}
stream line { at: timestamp  host: string  text: text  time at }
stream login { login_id: string  at: timestamp  id login_id  time at }
rule card_testing { severity medium  on payment[amount > 5] }
"""
SCHEMA = """{"type": "record", "name": "Payment", "fields": [
  {"name": "payment_id", "type": "string"}, {"name": "amount", "type": "string"}]}"""
JOB = {"name": "cards", "packs": "packs/", "state": "state/"}
FEED = {"source": "files", "path": "inbox/*.csv"}
TOPIC = {"source": "kafka", "servers": "127.0.0.1:1", "topic": "payments"}
WEBHOOK = {"kind": "webhook", "url": "https://desk.example/"}


def example(code: str) -> str:
    """The first indented block of a page: what is wrong."""
    text = (DOCS / "errors" / f"{code}.md").read_text("utf-8")
    found = re.search(r"(?:^ {4}.*\n|^\n(?= {4}))+", text, re.MULTILINE)
    assert found
    return re.sub(r"^ {4}", "", found[0], flags=re.MULTILINE)


def whole(code: str) -> str:
    """A job file with the example of a page, and what it leaves out."""
    said: dict[str, Any] = tomllib.loads(example(code))
    feeds: dict[str, Any] = said.pop("feeds", {"payment": {}})
    receivers: dict[str, Any] = said.pop("receivers", {})
    for key in ("fields", "constants"):
        if key in said:
            feeds = {"payment": {key: said.pop(key)}}
    if "rules" in said:
        receivers = {"desk": {"rules": said.pop("rules")}}
    if "job" in said and code != "CEP0704":
        said["job"] = JOB | said["job"]
    parts = {"job": JOB} | said
    parts |= {
        f"feeds.{name}": (
            TOPIC
            if "options" in one or "schema" in one
            else {}
            if one.get("source") in ("kafka", "http")
            else FEED
        )
        | one
        for name, one in feeds.items()
    }
    for name, one in receivers.items():
        parts[f"receivers.{name}"] = (WEBHOOK if "secret" in one else {"kind": "console"}) | one
    lines = []
    listed = {name: tables for name, tables in parts.items() if isinstance(tables, list)}
    every = [(name, pairs) for name, pairs in parts.items() if name not in listed]
    every += [(f"[{name}]", pairs) for name, tables in listed.items() for pairs in tables]
    for name, pairs in every:
        lines += [f"[{name}]", *(f"{key} = {sections.toml(value)}" for key, value in pairs.items())]
    return "\n".join(lines)


ENVIRON = {"DESK_TOKEN": "0123456789-0123456789"}


def codes(folder: Path, text: str, pack: str = PACK) -> set[str]:
    """All codes that a job file gets on a machine with packs, an inbox and a state folder of 16 shards."""
    (folder / "packs").mkdir()
    (folder / "packs" / "cards.rules").write_text(pack, "utf-8")
    (folder / "inbox" / "login").mkdir(parents=True)
    (folder / "inbox" / "day.csv").mkdir()
    (folder / "card.avsc").write_text(SCHEMA, "utf-8")
    (folder / "job.toml").write_text(text, "utf-8")
    loaded = load_job(folder / "job.toml", ENVIRON)
    found = list(loaded.diagnostics)
    if loaded.job is not None:
        packs = [load([folder / "packs"]).need()]
        of_files = replace(loaded.job, feeds=tuple(f for f in loaded.job.feeds if not f.source.connected))
        found += [
            *check_machine(of_files, ENVIRON),
            *no_file_fits(loaded.job),
            *check_packs(loaded.job),
            *check_feeds(loaded.job, packs),
            *check_receivers(loaded.job, packs),
            *check_secret_fields(loaded.job, packs),
            *differences(loaded.job, FolderLayout(FORMAT, 16, 1, ())),
        ]
    return {one.code for one in found}


@pytest.mark.parametrize("code", CODES)
def test_the_example_of_a_page_about_the_job_file_gives_its_code(tmp_path: Path, code: str) -> None:
    text = example(code) if code == "CEP0702" else whole(code)
    pack = PACK.replace("note: string?", "note: string? secret") if code == "CEP0728" else PACK
    assert code in codes(tmp_path, text, pack), text
