"""Every key of job.toml with every kind of mistake: those of its type by themselves, its values by a table.

The keys are those of the shape that job files are checked by: a key that is new there fails here until the
tables below have its mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args, get_origin

import pytest
from config_mistakes import VALUES
from pydantic import BaseModel

from cep.config import load_job, sections
from cep.config.shape import JobFile
from cep.sources import kinds
from rules.diagnostics import Diagnostic

GOOD = {
    "job": {"name": '"fraud"', "packs": '"packs/"', "state": '"state/"'},
    "feeds.payment": {"source": '"files"', "path": '"inbox/*.csv"'},
    "receivers.desk": {"kind": '"console"'},
    "[routes]": {"receivers": '["desk"]'},
}
BESIDE = {
    "feeds.refund": {"source": '"kafka"', "servers": '"b1:9092"', "topic": '"refunds"'},
    "feeds.order": {"source": '"http"', "backlog": "2000000"},
    "deadletters": {"servers": '"b1:9092"', "topic": '"dead-letters"'},
    "http": {"listen": '"127.0.0.1:0"'},
    "tokens.ann": {"secret": '"${ANN_TOKEN}"', "scopes": '["read"]'},
    "[mute_times]": {"name": '"nights"', "days": '["1"]'},
    "[inhibit]": {"by": '["rule = a"]', "of": '["severity = low"]', "for": '"1 hour"'},
}
"""Tables that a job may go without: what stands in them where one of their keys is tried."""
OTHER_FEEDS = {"kafka": "feeds.refund", "http": "feeds.order"}
"""By the source of a feed: the table in which its keys are tried."""
TYPES = {
    "text": ('"a"', str),
    "whole number": ("7", int),
    "number": ("7.5", float),
    "boolean": ("true", bool),
    "list": ('["a"]', list),
    "table": ("{ a = 1 }", dict),
    "time": ("2026-01-05T09:00:00Z", object),
}
PYDANTIC = ("Input ", "valid ", "pydantic", "List should", "String should", "validation", "_type")


@dataclass(frozen=True)
class Key:
    """A key: the table that has it, as GOOD names it, its name and its type."""

    table: str
    name: str
    kinds: tuple[type, ...]
    required: bool

    def __str__(self) -> str:
        return f"[{self.table}] {self.name}"


def keys() -> Iterator[Key]:
    """All keys of the shape."""
    for name in JobFile.model_fields:
        named = {"feeds": "feeds.payment", "receivers": "receivers.desk", "tokens": "tokens.ann"}
        table = named.get(name, name)
        table = f"[{name}]" if name in sections.LISTED else table
        for model in sections.models(name):
            if name == "feeds" and model is not sections.models(name)[0]:
                table = OTHER_FEEDS[kinds.kind(model)]  # type: ignore[arg-type]
            for key, one in model.model_fields.items():
                yield Key(table, key, tuple(_parts(one.annotation)), one.is_required())


def _parts(annotation: object) -> Iterator[type]:
    """The plain types of an annotation; of a table of tables the inner one."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is type(None):
        return
    if origin is dict and issubclass(next(_parts(inner[1])), BaseModel):
        yield from _parts(inner[1])
    elif origin in (dict, list):
        yield origin
    elif isinstance(annotation, type):
        yield annotation
    elif inner and isinstance(inner[0], str):  # Literal
        yield str
    else:
        for one in inner:
            if not hasattr(one, "func") and (isinstance(one, type) or get_args(one)):
                yield from _parts(one)


KEYS = list(keys())


def written(changed: dict[tuple[str, str], str | None], more: str = "") -> str:
    """A good job file with some keys changed, or left out."""
    tables = {table: dict(pairs) for table, pairs in GOOD.items()}
    for (table, key), value in changed.items():
        tables.setdefault(table, dict(BESIDE.get(table, {})))
        tables[table][key] = value or ""
        if value is None:
            del tables[table][key]
    if "s3" in tables or "local" in tables["job"]:  # these are for a state in a bucket
        tables["job"]["state"] = '"s3a://states/fraud/"'
        tables.setdefault("outbox", {"url": '"postgresql://cep@db/fraud"'})
    if "feeds.order" in tables:  # somebody has to be able to send them
        tables.setdefault("http", BESIDE["http"])
        tables.setdefault("tokens.ann", BESIDE["tokens.ann"] | {"scopes": '["ingest"]'})
    parts = []
    for table, pairs in tables.items():
        parts.append(f"[{table}]\n" + "".join(f"{key} = {value}\n" for key, value in pairs.items()))
    return "\n".join(parts) + more


def told(folder: Path, text: str, **environ: str) -> list[Diagnostic]:
    (folder / "job.toml").write_text(text, encoding="utf-8")
    loaded = load_job(folder / "job.toml", {"ANN_TOKEN": "0123456789-0123456789", **environ})
    found = [d for d in loaded.diagnostics if d.level == "error"]
    assert (loaded.job is None) == bool(found)
    for one in found:
        assert one.help
        assert one.span is not None
        said = one.message + one.help
        assert not [word for word in PYDANTIC if word in said], said
    return found


def test_the_good_file_is_good(tmp_path: Path) -> None:
    assert told(tmp_path, written({})) == []


def test_every_type_of_the_shape_is_known() -> None:
    assert {kind for key in KEYS for kind in key.kinds} <= {str, int, bool, list, dict}
    assert len(KEYS) >= 21


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_value_of_a_wrong_type_is_told_at_the_value(tmp_path: Path, key: Key) -> None:
    for name, (value, type_) in TYPES.items():
        if type_ in key.kinds or (key.kinds == (dict,) and name == "table"):
            continue
        (one,) = told(tmp_path, written({(key.table, key.name): value}))
        assert (one.code, one.span and one.span.text) == ("CEP0705", value), name
        assert f"`{key.table.strip('[]')}.{key.name}` must be " in one.message
        assert f"write `{key.name} = " in one.help


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_misspelt_key_is_told_at_the_key(tmp_path: Path, key: Key) -> None:
    wrong = key.name + "e"
    changed = {(key.table, wrong): "7"} | ({(key.table, key.name): None} if key.required else {})
    if key.required:
        changed = {(key.table, key.name): "7", **changed}
    found = told(tmp_path, written(changed))
    one = next(d for d in found if d.code == "CEP0703")
    assert (one.message, one.span and one.span.text) == (f"unknown key `{wrong}`", wrong)
    assert one.help == f"did you mean `{key.name}`?"
    assert not [d for d in found if d.code == "CEP0704" and f"`{key.name}`" in d.message], "told twice"


@pytest.mark.parametrize("key", [key for key in KEYS if key.required], ids=str)
def test_a_missing_key_is_told_at_its_table(tmp_path: Path, key: Key) -> None:
    text = written({(key.table, key.name): sections.toml("x")})
    lines = [line for line in text.splitlines() if line != f'{key.name} = "x"']
    (one,) = told(tmp_path, "\n".join(lines))
    assert (one.code, one.span and one.span.text) == ("CEP0704", key.table.rpartition(".")[2].strip("[]"))
    assert one.message == f"`{key.name}` is missing in [{key.table}]"
    assert f"write `{key.name} = " in one.help


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_messages_say_to_write_is_right(tmp_path: Path, key: Key) -> None:
    listed = key.table.startswith("[")
    source = {table: name for name, table in OTHER_FEEDS.items()}.get(key.table, "")
    path = (*((key.table[1:-1], 0) if listed else key.table.split(".")), key.name)
    shown = sections.written(path, source)
    name, _, value = shown.partition(" = ")
    assert name == key.name
    changed = {(key.table, key.name): value}
    if key.table == "receivers.desk":
        kind = next((one for one, pairs in RECEIVERS.items() if key.name in pairs), "console")
        changed = {("receivers.desk", "kind"): f'"{kind}"'} | changed
        changed = {("receivers.desk", name): value for name, value in RECEIVERS[kind].items()} | changed
    if key.name in ("topics", "pattern"):  # one of the three stands
        changed[key.table, "topic"] = None
    if key.table == "feeds.refund" and key.name in ("schema", "message", "registry"):  # a schema is looked at
        format_ = "protobuf" if key.name == "message" else "avro"
        changed = {(key.table, "format"): f'"{format_}"', (key.table, "schema"): f'"{SCHEMAS[format_][0]}"'}
        (tmp_path / SCHEMAS[format_][0]).write_text(SCHEMAS[format_][1], "utf-8")
        changed[key.table, name] = value
    if key.table == "spark":  # no cluster without a number of cores, no machine of one without it
        changed = {("spark", "cores"): "4", ("spark", "master"): '"spark://head:7077"'} | changed
    if key.table == "s3":  # the keys stand together
        changed = {("s3", "access_key"): '"${S3_KEY}"', ("s3", "secret_key"): '"${S3_SECRET}"'} | changed
    if key.table == "http":  # the two stand together
        changed = {("http", "certificate"): '"job.pem"', ("http", "key"): '"job.key"'} | changed
    assert told(tmp_path, written(changed), **SECRETS) == []


SCHEMAS = {
    "avro": ("payment.avsc", '{"type": "record", "name": "Payment", "fields": []}'),
    "protobuf": ("payment.proto", 'syntax = "proto3"; package acme; message Payment {} message Other {}'),
}
"""By format: the name of a file, and its text."""
SECRETS = {
    "MASK_KEY": "0123456789-0123456789",
    "DESK_TOKEN": "0123456789-0123456789",
    "DESK_SECRET": "whsec_" + "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3A=",
    "S3_KEY": "key",
    "S3_SECRET": "secret",
    "MAIL_PASSWORD": "hunter2",
    "PAGERDUTY_KEY": "R0123456789ABCDEF0123456789ABCDE",
}
RECEIVERS: dict[str, dict[str, str | None]] = {
    "console": {},
    "webhook": {"url": '"https://desk.example/"', "secret": '"${DESK_SECRET}"', "format": '"cloudevents"',
                "allow_private": "true"},
    "pagerduty": {"routing_key": '"${PAGERDUTY_KEY}"', "message": '"{{ key }}"'},
    "email": {"server": '"mail.example"', "tls": '"tls"', "user": '"cep"', "password": '"${MAIL_PASSWORD}"',
              "sender": '"cep@desk.example"', "to": '["a@desk.example"]', "subject": '"{{ key }}"',
              "html": '"<p>{{ key }}</p>"'},
    "file": {"path": '"alerts.jsonl"', "rotate_mb": "7", "fsync": '"never"'},
    "kafka": {"servers": '"b1:9092"', "topic": '"alerts"', "key": '"{{ alert.rule }}"', "mode": '"binary"',
              "options": '{ "security.protocol" = "SSL" }'},
}  # fmt: skip
"""A receiver of every kind, with options of its own."""


@pytest.mark.parametrize("kind", RECEIVERS)
def test_a_receiver_of_every_kind_can_be_written(tmp_path: Path, kind: str) -> None:
    changed = {("receivers.desk", name): value for name, value in RECEIVERS[kind].items()}
    changed[("receivers.desk", "kind")] = f'"{kind}"'
    assert told(tmp_path, written(changed), **SECRETS) == []


def test_every_key_has_values_that_cannot_be_used() -> None:
    assert VALUES.keys() == {str(key) for key in KEYS}, "a new key needs its mistakes in this table"


@pytest.mark.parametrize(
    ("key", "value", "code", "message", "help_"),
    [(key, *row) for key, rows in VALUES.items() for row in rows],
)
def test_a_value_that_cannot_be_used_is_told(
    tmp_path: Path, key: str, value: str, code: str, message: str, help_: str
) -> None:
    table, _, name = key[1:].rpartition("] ")
    (one,) = told(tmp_path, written({(table, name): value}), MYSQL="mysql://host/db")
    assert one.code == code, one.message
    assert message in one.message
    assert help_ in one.help
    assert one.span is not None
    assert (
        one.span.text in (value, "desk")
        or (one.span.text and one.span.text in value[1:-1])
        or (one.code == "CEP0734" and one.span.text == name)
    )
