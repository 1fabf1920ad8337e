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
from pydantic import BaseModel

from cep.config import load_job, sections
from cep.config.shape import JobFile
from rules.diagnostics import Diagnostic

GOOD = {
    "job": {"name": '"fraud"', "packs": '"packs/"', "state": '"state/"'},
    "feeds.payment": {"source": '"files"', "path": '"inbox/*.csv"'},
    "receivers.desk": {"kind": '"console"'},
    "[routes]": {"receivers": '["desk"]'},
    "http": {"listen": '"127.0.0.1:0"'},
    "tokens.ann": {"secret": '"${ANN_TOKEN}"', "scopes": '["read"]'},
}
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
        tables.setdefault(table, {})[key] = value or ""
        if value is None:
            del tables[table][key]
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
    shown = sections.written((*((key.table[1:-1], 0) if listed else key.table.split(".")), key.name))
    name, _, value = shown.partition(" = ")
    assert name == key.name
    changed = {(key.table, key.name): value}
    if key.table == "receivers.desk":
        kind = next((one for one, pairs in RECEIVERS.items() if key.name in pairs), "console")
        changed = {("receivers.desk", "kind"): f'"{kind}"'} | changed
        changed = {("receivers.desk", name): value for name, value in RECEIVERS[kind].items()} | changed
    if key.table == "http":  # the two stand together
        changed = {("http", "certificate"): '"job.pem"', ("http", "key"): '"job.key"'} | changed
    assert told(tmp_path, written(changed), **SECRETS) == []


SECRETS = {
    "DESK_TOKEN": "0123456789-0123456789",
    "DESK_SECRET": "whsec_" + "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3A=",
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
}  # fmt: skip
"""A receiver of every kind, with options of its own."""


@pytest.mark.parametrize("kind", RECEIVERS)
def test_a_receiver_of_every_kind_can_be_written(tmp_path: Path, kind: str) -> None:
    changed = {("receivers.desk", name): value for name, value in RECEIVERS[kind].items()}
    changed[("receivers.desk", "kind")] = f'"{kind}"'
    assert told(tmp_path, written(changed), **SECRETS) == []


VALUES: dict[str, list[tuple[str, str, str, str]]] = {
    # by key: a value that cannot be used; code, part of the message, part of the help
    "[job] name": [
        ('""', "CEP0706", "it is empty", "between the quotes"),
        ('"a\\nb"', "CEP0706", "a sign that cannot be seen", "remove it"),
        (f'"{"x" * 101}"', "CEP0706", "more than 100 characters", "shorten it"),
    ],
    "[job] packs": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/packs"', "CEP0706", "`~` is not replaced in a path", "write the path itself"),
        ('"${HOME}/packs"', "CEP0706", "`${...}` is not replaced in a path", ""),
        ('"a\\u0000b"', "CEP0706", "a sign that cannot be seen", ""),
    ],
    "[job] state": [
        ('" "', "CEP0706", "it is empty", ""),
        ('"~"', "CEP0706", "`~` is not replaced", ""),
    ],
    "[job] trigger": [
        ('""', "CEP0706", "it is empty", "write a number and a unit"),
        ('"5"', "CEP0706", "`5` is not a duration", "`500ms`"),
        ('"five minutes"', "CEP0706", "is not a duration", ""),
        ('"-1 second"', "CEP0706", "is not a duration", ""),
    ],
    "[job] shards": [
        ("0", "CEP0706", "must be at least 1", "write `shards = 16`"),
        ("4097", "CEP0706", "must be at most 4,096", "write `shards = 16`"),
        ("99999999999999999999", "CEP0706", "must be at most 4,096", ""),
    ],
    "[feeds.payment] source": [
        ('""', "CEP0706", "is `files`, not empty", 'write `source = "files"`'),
        ('"file"', "CEP0706", "is `files`, not `file`", "did you mean `files`?"),
        ('"kafka"', "CEP0707", "not supported yet", 'use source = "files"'),
    ],
    "[feeds.payment] path": [
        ('""', "CEP0706", "it is empty", ""),
        ('"inbox"', "CEP0706", "does not say what it holds", "write `inbox/*.jsonl` if it is a folder"),
        ('"inbox/*.txt"', "CEP0706", "does not say what it holds", "rename the files"),
        ('"inbox/**/*.csv"', "CEP0706", "folders of folders", "`inbox/*/*.jsonl`"),
        ('"inbox/[a.csv"', "CEP0706", "its `[` is never closed", ""),
        ('"inbox/{a,b.csv"', "CEP0706", "its `{` has no partner", ""),
        ('"s3://bucket/*.csv"', "CEP0706", "it is an address", "a path on this machine"),
        ('"~/inbox/*.csv"', "CEP0706", "`~` is not replaced", ""),
    ],
    "[feeds.payment] fields": [
        ('{ amount = 1 }', "CEP0705", "fields.amount` must be text", 'write `amount = "TX_AMOUNT"`'),
        ('{ amount = "" }', "CEP0706", "it is empty", ""),
    ],
    "[feeds.payment] constants": [
        ('{ a = [1] }', "CEP0705", "must be a text, a number, true, false or a time", 'write `a = "EUR"`'),
        ('{ a = { b = 1 } }', "CEP0705", "must be a text, a number", ""),
    ],
    "[feeds.payment] format": [
        ('""', "CEP0706", "it is one of json, csv, parquet", 'write `"csv"`'),
        ('"jsonl"', "CEP0706", "it is one of json, csv, parquet", "did you mean `json`?"),
    ],
    "[feeds.payment] timestamps": [
        ('""', "CEP0706", "it is one of iso", "a pattern is written"),
        ('"epoch_millis"', "CEP0706", "it is one of iso", "did you mean `epoch_ms`?"),
        ('"yyyy-MM-dd"', "CEP0706", "it is one of iso", "a pattern is written as in `%d.%m.%Y %H:%M`"),
        ('"%H:%M"', "CEP0706", "the pattern has no year", "%Y"),
        ('"%Y %Q"', "CEP0706", "no pattern that strptime can read back", ""),
    ],
    "[feeds.payment] zone": [
        ('""', "CEP0706", "it is empty", "`Europe/Berlin`"),
        ('"Berlin"', "CEP0706", "there is no such zone", "did you mean `Europe/Berlin`?"),
        ('"+25:00"', "CEP0706", "there is no such zone", ""),
        ('"../../etc/passwd"', "CEP0706", "there is no such zone", ""),
    ],
    "[feeds.payment] header": [('"no"', "CEP0705", "must be true or false", "header = false")],
    "[feeds.payment] delimiter": [
        ('""', "CEP0706", "one ASCII character", "for a tab"),
        ('";;"', "CEP0706", "one ASCII character", ""),
        ("'\"'", "CEP0706", "one ASCII character", ""),
        ('"¦"', "CEP0706", "one ASCII character", ""),
    ],
    "[outbox] url": [
        ('""', "CEP0706", "no address of a database", "write sqlite:///state/outbox.db"),
        ('"state/outbox.db"', "CEP0706", "no address of a database", ""),
        ('"mysql://host/db"', "CEP0706", "SQLite or PostgreSQL", ""),
        ('"postgres://host/db"', "CEP0706", "SQLite or PostgreSQL", "postgresql://"),
        ('"postgresql://u:p@host:port/db"', "CEP0706", "its port", ":5432"),
        ('"sqlite://"', "CEP0706", "in memory", "name a file"),
        ('"sqlite:///:memory:"', "CEP0706", "in memory", ""),
        ('"sqlite://state/outbox.db"', "CEP0706", "three slashes", "write sqlite:///state/outbox.db"),
        ('"sqlite:///state/"', "CEP0706", "it names a folder", "sqlite:///state/outbox.db"),
        ('"${GONE}"', "CEP0708", "the environment variable GONE is not set", "export GONE="),
        ('"${MYSQL}"', "CEP0709", "what `${MYSQL}` stands for: an outbox is kept", ""),
        ('"file:gone.txt"', "CEP0708", "there is no file", ""),
        ('"file:."', "CEP0708", " is a folder", "name a file in it"),
    ],
    "[[routes]] matchers": [
        ('["severity"]', "CEP0706", "`severity` is no matcher", "`severity = high`"),
        ('["rule == a"]', "CEP0706", "there is no operator `==`", "`rule = a`"),
        ('["rule =~ ("]', "CEP0706", "regular expression cannot be used", "RE2"),
        ("[7]", "CEP0705", "must be text in quotes", ""),
    ],
    "[[routes]] receivers": [
        ('["dask"]', "CEP0731", "there is no receiver `dask`", "did you mean `desk`?"),
        ('[""]', "CEP0706", "it is empty", ""),
    ],
    "[[routes]] continue": [('"yes"', "CEP0705", "must be true or false", "continue = true")],
    "[alerts] episode": [
        ('""', "CEP0706", "it is empty", "write a number and a unit"),
        ('"0s"', "CEP0706", "it is no time at all", "`1 hour`"),
        ('"an hour"', "CEP0706", "is not a duration", ""),
    ],
    "[alerts] close_quiet": [("1", "CEP0705", "must be true or false", "close_quiet = true")],
    "[receivers.desk] kind": [
        ('""', "CEP0706", "is `console` or `webhook` or `slack`", 'write `kind = "console"`'),
        ('"web"', "CEP0706", "not `web`", "did you mean `webhook`?"),
        ('"webhook"', "CEP0704", "`url` is missing in [receivers.desk]", "https://desk.example/cep"),
        ('"slack"', "CEP0704", "`url` is missing in [receivers.desk]", 'kind "slack" needs it'),
        ('"pagerduty"', "CEP0704", "`routing_key` is missing", "${PAGERDUTY_KEY}"),
        ('"file"', "CEP0704", "`path` is missing", "alerts.jsonl"),
    ],
    "[receivers.desk] url": [
        ('""', "CEP0706", "it is empty", "https://desk.example/cep"),
        ('"desk.example"', "CEP0706", "begins with https:// or http://", ""),
        ('"ftp://desk.example"', "CEP0706", "begins with https:// or http://", ""),
        ('"https://"', "CEP0706", "and a host", ""),
        ('"https://desk.example:99999/"', "CEP0706", "it is no URL", ""),
        ('"https://desk example/"', "CEP0706", "a host", ""),
        ('"http://169.254.169.254/"', "CEP0706", "is no address of a receiver", "own address or name"),
        ('"http://[::ffff:169.254.169.254]/"', "CEP0706", "is no address of a receiver", ""),
        ('"https://desk.example/"', "CEP0734", "has no option `url`", 'to kind "webhook" and "slack"'),
        ('"${GONE}"', "CEP0734", "has no option `url`", ""),
    ],
    "[receivers.desk] secret": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `secret`", 'kind "webhook"; kind "console" has no options'),
    ],
    "[receivers.desk] format": [
        ('"prometheus"', "CEP0706", "is `cloudevents` or `alertmanager`", "alertmanager"),
        ('"alertmanager"', "CEP0734", "has no option `format`", "webhook"),
    ],
    "[receivers.desk] routing_key": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `routing_key`", 'kind "pagerduty"'),
    ],
    "[receivers.desk] server": [
        ('""', "CEP0706", "it is not HOST or HOST:PORT", "mail.example:587"),
        ('"smtp://mail.example"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"me@mail.example"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"mail.example:0"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"mail.example:99999"', "CEP0706", "it is not HOST or HOST:PORT", ""),
        ('"169.254.169.254:587"', "CEP0706", "is no address of a receiver", ""),
        ('"mail.example"', "CEP0734", "has no option `server`", 'kind "email"'),
    ],
    "[receivers.desk] tls": [
        ('"none"', "CEP0706", "is `starttls` or `tls`", ""),
        ('"tls"', "CEP0734", "has no option `tls`", 'kind "email"'),
    ],
    "[receivers.desk] user": [('""', "CEP0706", "it is empty", ""), ('"a"', "CEP0734", "no option", "email")],
    "[receivers.desk] password": [
        ('""', "CEP0706", "it is empty", ""),
        ('"${GONE}"', "CEP0734", "has no option `password`", ""),
    ],
    "[receivers.desk] sender": [
        ('"Night Desk <a@desk.example>"', "CEP0706", "it is no address of mail", "without a name"),
        ('"a@b\\nBcc: c@d.example"', "CEP0706", "it is no address of mail", ""),
        ('"desk"', "CEP0706", "it is no address of mail", ""),
        ('"a@desk.example"', "CEP0734", "has no option `sender`", ""),
    ],
    "[receivers.desk] to": [
        ("[]", "CEP0706", "is empty", ""),
        ('["desk"]', "CEP0706", "it is no address of mail", ""),
        ("[5]", "CEP0705", "must be text in quotes", 'to = ["night@desk.example"]'),
        ('["a@desk.example"]', "CEP0734", "has no option `to`", ""),
    ],
    "[receivers.desk] subject": [
        ('" "', "CEP0706", "it is empty", "or remove the line"),
        ('"{{ key }}"', "CEP0734", "has no option `subject`", ""),
    ],
    "[receivers.desk] message": [
        ('""', "CEP0706", "it is empty", "or remove the line"),
        ('"{{ key }}"', "CEP0734", "has no option `message`", '"slack" and "pagerduty" and "email"'),
    ],
    "[receivers.desk] html": [
        ('""', "CEP0706", "it is empty", ""),
        ('"<p>"', "CEP0734", "has no option `html`", 'kind "email"'),
    ],
    "[receivers.desk] path": [
        ('""', "CEP0706", "it is empty", ""),
        ('"~/alerts"', "CEP0706", "`~` is not replaced", ""),
        ('"alerts/"', "CEP0706", "it names a folder", "alerts.jsonl"),
        ('"alerts/.."', "CEP0706", "it names a folder", ""),
        ('"alerts.jsonl"', "CEP0734", "has no option `path`", 'kind "file"'),
    ],
    "[receivers.desk] rotate_mb": [
        ("0", "CEP0706", "must be at least 1", "rotate_mb = 100"),
        ("1000001", "CEP0706", "must be at most 1,000,000", ""),
        ("5", "CEP0734", "has no option `rotate_mb`", ""),
    ],
    "[receivers.desk] fsync": [
        ('"sometimes"', "CEP0706", "is `always` or `never`", ""),
        ('"never"', "CEP0734", "has no option `fsync`", ""),
    ],
    "[receivers.desk] allow_private": [
        ('"yes"', "CEP0705", "must be true or false", ""),
        ("true", "CEP0734", "has no option `allow_private`", "webhook"),
    ],
    "[receivers.desk] rules": [
        ("[]", "CEP0706", "is empty", "or remove the line"),
        ('[""]', "CEP0706", "it is empty", ""),
        ("[5]", "CEP0705", "must be text in quotes", 'write `rules = ["card_testing"]`'),
    ],
    "[receivers.desk] severity": [
        ('""', "CEP0706", "it is one of critical", "the least severe"),
        ('"hihg"', "CEP0706", "it is one of critical", "did you mean `high`?"),
        ('"High"', "CEP0706", "it is one of critical", "did you mean `high`?"),
    ],
    "[http] listen": [
        ('""', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:8090`"),
        ('"8090"', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:8090`"),
        ('":9000"', "CEP0706", "it is not HOST:PORT", "`127.0.0.1:9000`"),
        ('"http://localhost:80"', "CEP0706", "it is not HOST:PORT", ""),
        ('"localhost:99999"', "CEP0706", "it is not HOST:PORT", ""),
    ],
    "[http] certificate": [
        ('""', "CEP0706", "it is empty", ""),
        ('"job.pem"', "CEP0704", "`key` is missing in [http]", "stand together"),
    ],
    "[http] key": [
        ('" "', "CEP0706", "it is empty", ""),
        ('"job.key"', "CEP0704", "`certificate` is missing in [http]", "stand together"),
    ],
    "[tokens.ann] secret": [
        ('""', "CEP0706", "it is empty", ""),
        ('"abcdefghijklmnopqrstuvwxyz"', "CEP0735", "stands in the job file", '"${NAME}"'),
        ('"${GONE}"', "CEP0708", "GONE is not set", "export GONE=..."),
        ('"${MYSQL}"', "CEP0709", "a token has 20 to 500 letters", "token_urlsafe"),
    ],
    "[tokens.ann] scopes": [
        ("[]", "CEP0706", "is empty", 'write `scopes = ["read", "operate"]`'),
        ('["write"]', "CEP0706", "is `read`, `operate` or `deploy`", ""),
        ('["read", 5]', "CEP0705", "must be text in quotes", ""),
    ],
    "[spark] cores": [
        ("0", "CEP0706", "must be at least 1", "write `cores = 4`"),
        ("-2", "CEP0706", "must be at least 1", ""),
        ("1025", "CEP0706", "must be at most 1,024", ""),
    ],
}  # fmt: skip


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
