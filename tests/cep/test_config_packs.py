"""A job file against its packs: what does not fit is told where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.config import check_feeds, load_job
from cep.decode import decoder
from rules.packs import load_texts

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
  by payment_id
  match p: payment[n == 1] -> q: payment[n == 2] within 1 hour
}
"""
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


def check(folder: Path, job: str, pack: str = PACK) -> list[tuple[str, str, str, str]]:
    (folder / "job.toml").write_text(job)
    loaded = load_job(folder / "job.toml", {}).need()
    found = check_feeds(loaded, [load_texts([("fraud.rules", pack)]).need()])
    return [(d.code, d.message, d.span.text if d.span else "", d.help) for d in found]


def test_a_job_that_fits_has_no_findings(tmp_path: Path) -> None:
    more = 'constants = { note = "x", n = 1, ok = true, amount = 2, at2 = 2020-01-01T00:00:00Z }\n'
    more += '[receivers.a]\nkind = "console"\nrules = ["large", "after_login"]\n'
    assert check(tmp_path, JOB + more) == []
    assert check(tmp_path, JOB + JOB[JOB.index("[feeds") :].replace("payment", "unused")) == []


@pytest.mark.parametrize(
    ("more", "code", "message", "span", "help_"),
    [
        ('[feeds.payments]\nsource="files"\npath="x.csv"', "CEP0710", "no pack declares a stream `payments`",
         "payments", "did you mean `payment`?"),
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
        ('[receivers.a]\nkind="console"\nrules=["large", "larg"]', "CEP0714", "no pack has a rule `larg`",
         '"larg"', "did you mean `large`?"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(
    tmp_path: Path, more: str, code: str, message: str, span: str, help_: str
) -> None:
    ((got_code, got_message, got_span, got_help),) = check(tmp_path, JOB + more)
    assert got_code == code, got_message
    assert message in got_message
    assert got_span == span
    assert help_ in got_help


def test_a_stream_that_a_rule_reads_needs_a_feed(tmp_path: Path) -> None:
    ((code, message, span, help_),) = check(tmp_path, JOB, PACK + LOGIN)
    assert code == "CEP0711"
    assert message == f"stream `login`, which rule `two_logins` reads, has no feed in {tmp_path}/job.toml"
    assert "login" in span
    assert help_ == "add [feeds.login] with source and path"


@pytest.mark.parametrize("constants", ["n = 1.5", "note = 5", "ok = 1", 'amount = "1"', 'at2 = "monday"'])
def test_a_constant_that_the_check_refuses_is_refused_by_the_decoder(tmp_path: Path, constants: str) -> None:
    (tmp_path / "job.toml").write_text(JOB + f"constants = {{ {constants} }}")
    job = load_job(tmp_path / "job.toml", {}).need()
    pack = load_texts([("fraud.rules", PACK)]).need()
    assert [d.code for d in check_feeds(job, [pack])] == ["CEP0713"]
    with pytest.raises(Exception, match="is not a"):
        decoder(pack.stream("payment"), job.feed("payment").format)
