"""job.toml: defaults, paths, secrets; every mistake told once, at its place, with the fix."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from cep.config import JobLoaded, Secret, SecretError, load_job
from cep.config.targets import Console, Webhook
from cep.decode.formats import FeedFormat
from rules.diagnostics import DiagnosticsError

GOOD = """\
[job]
name = "fraud"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
"""
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdefghijklmnop").decode()


def load(folder: Path, text: str, **environ: str) -> JobLoaded:
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return load_job(path, environ)


def only(loaded: JobLoaded) -> tuple[str, str, str, str]:
    """Code, message, what the span covers and the help of the one diagnostic."""
    (one,) = loaded.diagnostics
    assert (loaded.job is None) == (one.level == "error")
    return one.code, one.message, one.span.text if one.span else "", one.help


def test_defaults_are_those_of_the_manual(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD)
    assert loaded.diagnostics == ()
    job = loaded.need()
    assert (job.name, job.trigger, job.shards, job.http, job.receivers) == ("fraud", 10**9, None, None, ())
    assert (job.packs, job.state) == (tmp_path / "packs", tmp_path / "state")
    assert job.outbox_url({}) == f"sqlite:///{tmp_path}/state/outbox.db"
    assert job.feed("payment").source.path == f"{tmp_path}/inbox/*.jsonl"
    assert job.feed("payment").format == FeedFormat()
    with pytest.raises(KeyError):
        job.feed("login")


def test_everything_that_can_be_said_is_understood(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(SECRET + "\n")
    text = """\
[job]
name = 'fraud'
packs = "/elsewhere/packs"
state = "state"
trigger = "250ms"
shards = 4

[feeds.payment]
source = "files"
path = "inbox/"
fields = { occurred_at = "TX_DATETIME", amount = "TX_AMOUNT" }
constants = { kind = "auth", n = 1, since = 2020-01-01T00:00:00Z }
timestamps = "%d.%m.%Y %H:%M:%S"
zone = "Europe/Berlin"
header = false
delimiter = ";"

[outbox]
url = "postgresql://cep:${DB_PASSWORD}@db/cep"

[receivers.screen]
kind = "console"
rules = ["card_testing"]

[receivers.desk]
kind = "webhook"
url = "https://desk.example/cep?token=${TOKEN}"
secret = "file:secret.txt"
severity = "medium"

[http]
listen = "[::1]:0"
"""
    job = load(tmp_path, text, DB_PASSWORD="pa$$", TOKEN="t").need()
    assert (job.packs, job.state, job.trigger, job.shards) == (
        Path("/elsewhere/packs"), tmp_path / "state", 250_000_000, 4
    )  # fmt: skip
    assert job.outbox_url({"DB_PASSWORD": "pa$$"}) == "postgresql://cep:pa$$@db/cep"
    feed = job.feed("payment")
    assert feed.source.path == f"{tmp_path}/inbox/"
    assert feed.format == FeedFormat(
        (("occurred_at", "TX_DATETIME"), ("amount", "TX_AMOUNT")),
        (("kind", "auth"), ("n", 1), ("since", "2020-01-01 00:00:00+00:00")),
        "%d.%m.%Y %H:%M:%S", "Europe/Berlin", False, ";",
    )  # fmt: skip
    screen, desk = job.receivers
    assert (screen.target, screen.route.rules) == (Console(), frozenset({"card_testing"}))
    assert isinstance(desk.target, Webhook)
    assert desk.target.secret is not None
    assert desk.target.url.reveal({"TOKEN": "t"}) == "https://desk.example/cep?token=t"
    assert desk.target.secret.reveal({}) == SECRET
    assert (desk.target.format, desk.target.allow_private) == ("cloudevents", False)
    assert desk.route.severities == ("critical", "high", "medium")
    assert (job.http.host, job.http.port) == ("::1", 0) if job.http else False


FEED = '[feeds.payment]\nsource = "files"\npath = "inbox/*.jsonl"\n'
HOOK = GOOD + '[receivers.desk]\nkind = "webhook"\nurl = "https://desk.example/"\n'


@pytest.mark.parametrize(
    ("text", "code", "message", "span", "help_"),
    [
        ("[job]\nname = fraud\n", "CEP0702", "this is no value", "fraud", "text stands in quotes"),
        ("[job]\nname = \"a\"\nname = \"b\"\n", "CEP0702", "this key is written twice", "name", "remove one"),
        ("[job\n", "CEP0702", "is not closed", "\n", "write `]`"),
        (GOOD.replace("packs", "pack"), "CEP0703", "unknown key `pack`", "pack", "did you mean `packs`?"),
        (GOOD + "zon = 'UTC'", "CEP0703", "unknown key `zon`", "zon", "did you mean `zone`?"),
        (GOOD + "[https]\n", "CEP0703", "unknown key `https`", "https", "did you mean `http`?"),
        (GOOD.replace('state = "state/"\n', ""), "CEP0704", "`state` is missing in [job]", "job", ""),
        (FEED, "CEP0704", "the table [job] is missing", "", "[job] with `name`, `packs` and `state`"),
        (GOOD[: GOOD.index("[feeds")], "CEP0704", "the table [feeds] is missing", "", ""),
        (GOOD[: GOOD.index("[feeds")] + "[feeds]\n", "CEP0704", "there is no feed", "feeds",
         "write [feeds.STREAM]"),
        (GOOD.replace('"fraud"', "5"), "CEP0705", "`job.name` must be text in quotes", "5", ""),
        (GOOD.replace('"packs/"', '["a"]'), "CEP0705", "`job.packs` must be text", '["a"]', ""),
        (GOOD.replace("[feeds", "shards = '4'\n[feeds"), "CEP0705", "must be a whole number", "'4'", ""),
        (GOOD.replace("[feeds", "shards = 0\n[feeds"), "CEP0706", "`job.shards` must be at least 1", "0",
         "write `shards = 16`"),
        (GOOD.replace("[feeds", "trigger = '5 parsecs'\n[feeds"), "CEP0706",
         "`5 parsecs` is not a duration", "'5 parsecs'", ""),
        (GOOD + "fields = { a = 1 }", "CEP0705", "`feeds.payment.fields.a` must be text in quotes", "1", ""),
        (GOOD + "fields = 'a'", "CEP0705", "`feeds.payment.fields` must be a table", "'a'", ""),
        (GOOD + "constants = { a = [1] }", "CEP0705", "`feeds.payment.constants.a` must be", "[1]", ""),
        (GOOD + 'timestamps = "epoch_millis"', "CEP0706", "epoch_ms", '"epoch_millis"',
         "did you mean `epoch_ms`?"),
        (GOOD + 'timestamps = "%H:%M"', "CEP0706", "the pattern has no year", '"%H:%M"', ""),
        (GOOD + 'timestamps = "%Q"', "CEP0706", "strptime", '"%Q"', ""),
        (GOOD + 'zone = "Europe/Atlantis"', "CEP0706", "there is no such zone", '"Europe/Atlantis"', ""),
        (GOOD + 'delimiter = ";;"', "CEP0706", "a delimiter is one ASCII character", '";;"', ""),
        (GOOD.replace("*.jsonl", "*.txt"), "CEP0706", "does not say what it holds", '"inbox/*.txt"', ""),
        (GOOD + 'format = "xml"', "CEP0706", "it is one of json, csv, parquet", '"xml"', ""),
        (GOOD + "format = 1", "CEP0705", "must be text in quotes", "1", ""),
        (GOOD.replace('"files"', '"file"'), "CEP0706", "or `kafka` or `http`, not `file`", '"file"',
         "did you mean `files`?"),
        (GOOD + "[outbox]\nurl = 'mysql://x'", "CEP0706", "SQLite or PostgreSQL", "'mysql://x'", "write sqlite:///state/outbox.db"),
        (GOOD + "[outbox]\nurl = 'sqlite://'", "CEP0706", "in memory", "'sqlite://'", ""),
        (GOOD + "[http]\nlisten = '8090'", "CEP0706", "HOST:PORT", "'8090'", ""),
        (GOOD + "[http]\nlisten = 'x:99999'", "CEP0706", "HOST:PORT", "'x:99999'", ""),
        (GOOD + "[receivers.a]\nkind = 'sms'", "CEP0706", "or `file` or `kafka`, not `sms`", "'sms'", ""),
        (GOOD + "[receivers.a]\nkind = 'webhook'", "CEP0704", "`url` is missing in [receivers.a]", "a", ""),
        (GOOD + "[receivers.a]\nkind = 'console'\nurl = 'http://x'", "CEP0734",
         'a receiver of kind "console" has no option `url`', "url", ""),
        (HOOK.replace("https", "ftp"), "CEP0706", "begins with https://", '"ftp://desk.example/"', ""),
        (HOOK + "severity = 'hight'", "CEP0706", "it is one of critical", "'hight'", "did you mean `high`?"),
        (HOOK + "rules = []", "CEP0706", "rules", "[]", ""),
        (HOOK + "rules = ['a', 5]", "CEP0705", "must be text in quotes", "5", ""),
        (HOOK + 'secret = "${NOWHERE}"', "CEP0708",
         "the environment variable NOWHERE is not set", '"${NOWHERE}"', ""),
        (HOOK + 'secret = "file:gone"', "CEP0708", "there is no file", '"file:gone"', ""),
        (HOOK + 'secret = "whsec_short"', "CEP0709", "secret", '"whsec_short"', ""),
        *((HOOK + f'secret = "{written}"', "CEP0709", "whsec_", f'"{written}"',
           'a variable is written "${DESK_SECRET}"')
          for written in ("$DESK_SECRET", "$(DESK_SECRET)", "%DESK_SECRET%", "env:DESK_SECRET",
                          "${env:DESK_SECRET}", "{{ DESK_SECRET }}")),
        (HOOK, "CEP0716", "what `desk` gets is not signed", "desk", "give it secret"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_their_place(
    tmp_path: Path, text: str, code: str, message: str, span: str, help_: str
) -> None:
    got_code, got_message, got_span, got_help = only(load(tmp_path, text))
    assert got_code == code, got_message
    assert message in got_message
    assert got_span == span
    assert help_ in got_help


def test_all_mistakes_are_told_at_once_in_order(tmp_path: Path) -> None:
    text = GOOD.replace("name", "nam").replace('"files"', '"fils"') + "[receivers.a]\nkind = 1\n"
    found = load(tmp_path, text).diagnostics
    assert [(d.code, d.span.line if d.span else 0) for d in found] == [
        ("CEP0703", 2), ("CEP0706", 7), ("CEP0705", 10)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "there is no file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.write_bytes(b"[job]\nname = '\xff'"), "is not UTF-8 (byte 14)"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, make: object, message: str) -> None:
    path = tmp_path / "job.toml"
    make(path)  # type: ignore[operator]
    loaded = load_job(path, {})
    assert only(loaded)[0] == "CEP0701"
    assert message in only(loaded)[1]
    with pytest.raises(DiagnosticsError):
        loaded.need()


def test_secrets_are_in_no_message_and_no_repr(tmp_path: Path) -> None:
    hidden = "hunter2" + "x" * 40
    loaded = load(
        tmp_path, HOOK + 'secret = "${KEY}"\n[outbox]\nurl = "postgresql://u:${KEY}@h/d"', KEY=hidden
    )
    assert "hunter2" not in repr(loaded)
    loaded = load(tmp_path, HOOK + f'secret = "{SECRET}"')
    assert loaded.job is not None
    assert SECRET not in repr(loaded)
    with pytest.raises(SecretError, match="GONE"):
        Secret("a${GONE}", tmp_path).reveal({})


def test_positions_count_characters_in_files_with_crlf_and_marks(tmp_path: Path) -> None:
    text = "\ufeff" + ("# ünïcödé\n" + GOOD + 'zon = "é"\n').replace("\n", "\r\n")
    (tmp_path / "job.toml").write_bytes(text.encode())
    (one,) = load_job(tmp_path / "job.toml", {}).diagnostics
    assert one.span is not None
    assert (one.span.text, one.span.line, one.span.column) == ("zon", 10, 1)


def test_a_feed_may_say_what_files_hold_that_do_not(tmp_path: Path) -> None:
    job = load(tmp_path, GOOD.replace("*.jsonl", "*.txt") + 'format = "csv"').need()
    written = job.feed("payment").format
    assert (written.of("a.txt").kind, written.of("a.jsonl").kind) == ("csv", "csv")
    assert written.of("a.txt.gz").compression == "gzip"


def test_secrets_are_not_asked_for_where_nothing_is_delivered(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(HOOK + 'secret = "${NOWHERE}"')
    assert load_job(tmp_path / "job.toml", {}).job is None
    assert load_job(tmp_path / "job.toml", None).diagnostics == ()


@pytest.mark.parametrize(
    ("there", "named", "meant"),
    [
        (["jobs/job.toml"], "jobs", "jobs/job.toml"),
        (["job.toml", "packs/cards.rules"], "packs", "job.toml"),
        (["packs/cards.rules"], "packs", ""),
        (["job.toml"], "job.tml", "job.toml"),
        (["fraud.toml"], "job.toml", "fraud.toml"),
        (["a.toml", "b.toml"], "job.toml", ""),
        (["pyproject.toml"], "job.toml", ""),
        ([], "nowhere/job.toml", ""),
    ],
)
def test_a_job_file_that_is_meant_is_named_only_where_it_is(
    tmp_path: Path, there: list[str], named: str, meant: str
) -> None:
    for name in there:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (found,) = load_job(tmp_path / named, {}).diagnostics
    assert found.code == "CEP0701"
    if meant:
        assert found.help == f"did you mean {tmp_path / meant}?"
    else:
        assert found.help.startswith("name the file that describes the job")
