"""A job file against its packs: what does not fit is told where it is written."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from cep.config import check_feeds, check_receivers, load_job
from cep.decode import decoder
from cep.job.batches.deployed_packs import unserved
from rules.packs import load, load_texts

PACK = """
pack fraud version "1"
stream payment {
  payment_id: string  occurred_at: timestamp  amount: double  n: long  ok: boolean
  note: string?  at2: timestamp?  id payment_id  time occurred_at
}
stream login { login_id: string  seen_at: timestamp  id login_id  time seen_at }
stream unused { u: string  at: timestamp  id u  time at }
rule large { on payment[amount > 5] }
rule after_login {
  severity high
  by payment_id
  match p: payment[n == 1] -> q: payment[n == 2] within 1 hour
}
"""
FEED = '[feeds.payment]\nsource = "files"\npath = "inbox/*.jsonl"\n'
LOGIN = "rule two_logins { by login_id match a: login -> b: login within 1 hour }\n"

JOB = """\
[job]
name = "fraud"
packs = "packs/"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/*.jsonl"
"""


def check(
    folder: Path, job: str, pack: str = PACK, ever_read: Collection[str] = ()
) -> list[tuple[str, str, str, str]]:
    (folder / "job.toml").write_text(job)
    loaded = load_job(folder / "job.toml", {}).need()
    packs = [load_texts([("fraud.rules", pack)]).need()]
    found = [*check_feeds(loaded, packs, ever_read), *check_receivers(loaded, packs)]
    return [(f"{d.code} {d.level}", d.message, d.span.text if d.span else "", d.help) for d in found]


def test_a_job_that_fits_has_no_findings(tmp_path: Path) -> None:
    more = 'constants = { note = "x", n = 1, ok = true, amount = 2, at2 = 2020-01-01T00:00:00Z }\n'
    more += '[receivers.a]\nkind = "console"\nrules = ["large", "after_login"]\n'
    assert check(tmp_path, JOB + more) == []
    two = JOB + FEED.replace("payment", "login")
    assert check(tmp_path, two, PACK + LOGIN) == []


@pytest.mark.parametrize(
    ("more", "code", "message", "span", "help_"),
    [
        ('[feeds.payments]\nsource="files"\npath="x.csv"', "CEP0710 warning",
         "no pack declares a stream `payments`, so that this feed is not read", "payments",
         "did you mean `payment`?"),
        ('[feeds.wires]\nsource="files"\npath="x.csv"', "CEP0710 warning", "no pack declares a stream `w",
         "wires", "the streams are `payment`, `login`, `unused`"),
        ('[feeds.unused]\nsource="files"\npath="x.csv"', "CEP0717 warning", "no rule reads stream `unused`",
         "unused", "remove the feed before the first start"),
        ('fields = { amuont = "A" }', "CEP0712", "has no field `amuont`", "amuont", "did you mean `amount`?"),
        ('fields = { TX_AMOUNT = "amount" }', "CEP0712", "has no field `TX_AMOUNT`", "TX_AMOUNT",
         'amount = "TX_AMOUNT"'),
        ('constants = { zzz = 1 }', "CEP0712", "has no field `zzz`", "zzz", "its fields: payment_id"),
        ('constants = { note = 5 }', "CEP0713", "`note` is a string, which `5` is not", "5", ""),
        ('constants = { n = 1.0 }', "CEP0713", "`n` is a long", "1.0", ""),
        ('constants = { n = true }', "CEP0713", "`n` is a long", "true", ""),
        ('constants = { n = 9223372036854775808 }', "CEP0713", "`n` is a long", "9223372036854775808", ""),
        ('constants = { ok = 1 }', "CEP0713", "`ok` is a boolean", "1", ""),
        ('constants = { amount = "1" }', "CEP0713", "`amount` is a double", '"1"', ""),
        ('constants = { amount = nan }', "CEP0713", "`amount` is a double", "nan", ""),
        ('constants = { at2 = "monday" }', "CEP0713", "`at2` is a timestamp", '"monday"', ""),
        ('fields = { note = "a" }\nconstants = { note = "x" }', "CEP0712", "at once", "note", ""),
        ('fields = { note = "a", n = "a" }', "CEP0715",
         "cannot be both `n` (long) and `note` (string)", '"a"', ""),
        ('[receivers.a]\nkind="console"\nrules=["large", "larg"]', "CEP0714 warning",
         "no pack has a rule `larg`, so that `a` gets no alert of it", '"larg"', "did you mean `large`?"),
        ('[receivers.a]\nkind="console"\nrules=["wahs"]', "CEP0714 warning", "no pack has a rule `wahs`",
         '"wahs"', "the rules are `large`, `after_login`"),
        ('[receivers.a]\nkind="console"\nseverity="critical"', "CEP0718 warning",
         "`a` gets no alert: no rule that it takes is as severe as `critical`", '"critical"',
         "write `high`, which rule `after_login` has"),
        ('[receivers.a]\nkind="console"\nrules=["large"]\nseverity="high"', "CEP0718 warning",
         "no rule that it takes is as severe as `high`", '"high"', "write `medium`, which rule `large` has"),
        ('[receivers.a]\nkind="console"\nrules=["after_login", "large"]\nseverity="high"', "CEP0718 warning",
         "`a` gets no alert of rule `large`, which has severity `medium`: it takes `high` and what is worse",
         '"large"', 'write severity = "medium"'),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(
    tmp_path: Path, more: str, code: str, message: str, span: str, help_: str
) -> None:
    ((got_code, got_message, got_span, got_help),) = check(tmp_path, JOB + more)
    assert got_code == (code if " " in code else f"{code} error"), got_message
    assert message in got_message
    assert got_span == span
    assert help_ in got_help


def test_a_stream_that_a_rule_reads_needs_a_feed(tmp_path: Path) -> None:
    ((code, message, span, help_),) = check(tmp_path, JOB, PACK + LOGIN)
    assert code == "CEP0711 error"
    assert message == f"stream `login`, which rule `two_logins` reads, has no feed in {tmp_path}/job.toml"
    assert "login" in span
    assert help_ == "add [feeds.login] with source and path"


@pytest.mark.parametrize("name", ["paymnt", "payments", "pay", "cards"])
def test_a_feed_with_a_wrong_name_is_told_once_at_its_line(tmp_path: Path, name: str) -> None:
    ((code, message, span, help_),) = check(tmp_path, JOB.replace("payment]", f"{name}]"))
    assert (code, span, help_) == ("CEP0710 error", name, "did you mean `payment`?")
    assert message == (
        f"no pack declares a stream `{name}`, and stream `payment`, which rule `large` reads, has no feed"
    )


def test_several_wrong_names_are_told_apart(tmp_path: Path) -> None:
    job = JOB.replace("payment]", "paymnt]") + FEED.replace("payment", "lgoin")
    found = check(tmp_path, job, PACK + LOGIN)
    assert [(code, span, help_) for code, _, span, help_ in found] == [
        ("CEP0710 error", "paymnt", "did you mean `payment`?"),
        ("CEP0710 error", "lgoin", "did you mean `login`?"),
    ]
    unlike = JOB.replace("payment]", "aa]") + FEED.replace("payment", "bb")
    assert sorted(code for code, *_ in check(tmp_path, unlike, PACK + LOGIN)) == [
        "CEP0710 warning", "CEP0710 warning", "CEP0711 error", "CEP0711 error"
    ]  # fmt: skip


def test_a_feed_that_was_read_has_to_stay_and_is_not_spoken_of(tmp_path: Path) -> None:
    job = JOB + FEED.replace("payment", "wires") + FEED.replace("payment", "unused")
    assert check(tmp_path, job, ever_read=("wires", "unused")) == []
    ((code, _, span, _),) = check(
        tmp_path, JOB.replace("payment]", "old]"), ever_read=("old",)
    )  # what was a stream before is no wrong name of one
    assert code == "CEP0711 error"
    assert "payment" in span


def test_the_documents_of_a_stream_of_hits_need_a_feed(tmp_path: Path) -> None:
    pack = """pack media version "1"
stream article { article_id: string  at: timestamp  body: text english  id article_id  time at }
queries watch { from "watch.jsonl" }
rule seen { on article matching watch }
"""
    (tmp_path / "watch.jsonl").write_text('{"id": "q", "query": "storm"}\n')
    (tmp_path / "media.rules").write_text(pack)
    (tmp_path / "job.toml").write_text(JOB)
    job, media = load_job(tmp_path / "job.toml", {}).need(), load([tmp_path / "media.rules"]).need()
    ((code, message),) = [(d.code, d.message) for d in check_feeds(job, [media])]
    assert code == "CEP0710"
    assert "stream `article`, which rule `seen` reads, has no feed" in message
    fed = JOB.replace("payment]", "article]")
    (tmp_path / "job.toml").write_text(fed)
    assert check_feeds(load_job(tmp_path / "job.toml", {}).need(), [media]) == []


def test_what_a_deploy_takes_from_a_receiver_is_told(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(
        JOB + '[receivers.desk]\nkind = "console"\nrules = ["large", "after_login", "gone_before"]\n'
    )
    job = load_job(tmp_path / "job.toml", {}).need()
    before, after = (
        {"fraud": load_texts([("fraud.rules", text)]).need()}
        for text in (PACK, PACK.replace("rule large", "rule huge"))
    )
    (one,) = unserved(before, after, job)
    assert (one.code, one.level, one.span and one.span.text) == ("CEP0714", "warning", '"large"')
    assert one.help == "the rules are `huge`, `after_login`"
    assert unserved(before, before, job) == []
    assert unserved(after, before, job) == []


@pytest.mark.parametrize("constants", ["n = 1.5", "note = 5", "ok = 1", 'amount = "1"', 'at2 = "monday"'])
def test_a_constant_that_the_check_refuses_is_refused_by_the_decoder(tmp_path: Path, constants: str) -> None:
    (tmp_path / "job.toml").write_text(JOB + f"constants = {{ {constants} }}")
    job = load_job(tmp_path / "job.toml", {}).need()
    pack = load_texts([("fraud.rules", PACK)]).need()
    assert [d.code for d in check_feeds(job, [pack])] == ["CEP0713"]
    with pytest.raises(Exception, match="is not a"):
        decoder(pack.stream("payment"), job.feed("payment").format)
