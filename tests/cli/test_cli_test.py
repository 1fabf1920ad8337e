"""`cep test`: test blocks mean what docs/language.md says, through the engine of the job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cep_command import cep

from cep.cli.main import main

HEAD = """pack cards version "1"
stream payment {
  pid: string  at_: timestamp  card: string  amount: double  country: string?
  id pid  time at_  lateness 30 seconds
}
stream refund { rid: string  at_: timestamp  card: string  id rid  time at_ }
rule probes {
  by card
  match small: payment[amount < 2]{2} -> big: payment[amount > 100]
  within 30 minutes
  emit card, n = count(small), due = big.at_ + 1h
}
rule quiet { by card match big: payment[amount > 100] -> absent refund for 1h emit card }
rule once { on payment[amount > 100] by card suppress 1h emit card, amount }
"""
SMALL = 'at 0s payment { card: "c", amount: 1 } x 2 every 10s\n'
BIG = 'at 5m payment { card: "c", amount: 900 }\n'
TWICE = 'at 1m payment { pid: "p", amount: 900 } x 2\n'


@pytest.mark.parametrize(
    ("passes", "test"),
    [
        (True, 'probes "met" { ' + SMALL + BIG + 'expect at 5m { card: "c", n: 2 } }'),
        (False, 'probes "too early" { ' + SMALL + BIG + "expect at 4m { n: 2 } }"),
        (False, 'probes "not expected" { ' + SMALL + BIG + "expect nothing }"),
        (True, 'probes "a time" { ' + SMALL + BIG + 'expect { due: "1970-01-01T01:05Z" } }'),
        (True, 'probes "a start" { start "2026-01-05T09:00Z" ' + SMALL + BIG
         + 'expect at 5m { due: "2026-01-05T10:05Z" } }'),
        (True, 'quiet "an hour passes" { ' + BIG + "expect at 65m { } }"),
        (True, 'quiet "the watermark moves without an event" { ' + BIG + "at 65m watermark expect { } }"),
        (False, 'quiet "nothing drains" { ' + BIG + "at 64m watermark expect { } }"),
        (True, 'quiet "a refund" { ' + BIG + 'at 6m refund { card: "c" } at 3h watermark expect nothing }'),
        (True, 'quiet "a late refund does not count" { ' + BIG
         + 'at 66m late refund { card: "c", at_: "1970-01-01T00:06Z" } expect at 65m { } }'),
        (True, 'quiet "a late event does not say when" { ' + BIG
         + 'at 6m late refund { card: "c" } at 2h watermark expect at 65m { } }'),
        (False, 'quiet "late, but not late" { ' + BIG
         + 'at 66m late refund { card: "c", at_: "1970-01-01T02:00Z" } expect at 65m { } }'),
        (True, 'once "suppressed" { ' + BIG + 'at 6m payment { card: "c", amount: 901 } '
         + "expect { amount: 900 } }"),
        (False, 'once "withheld alerts are none" { ' + BIG + 'at 6m payment { card: "c", amount: 901 } '
         + "expect { amount: 900 } expect { amount: 901 } }"),
        (True, 'once "redelivered" { ' + TWICE + "expect { } }"),
        (True, 'probes, once "two rules" { ' + SMALL + BIG + "expect { n: 2 } expect { amount: 900 } }"),
        (False, 'probes, once "one of two" { ' + SMALL + BIG + "expect { n: 2 } }"),
        (True, 'probes, once "others allowed" { ' + SMALL + BIG + "allow other expect { n: 2 } }"),
        (True, 'probes "ids and key" { ' + SMALL + BIG
         + 'expect { key: { card: "c" }, events: { small: ["payment-1", "payment-2"] }, kind: "match" } }'),
        (False, 'probes "other ids" { ' + SMALL + BIG + 'expect { events: { small: ["payment-1"] } } }'),
    ],
    ids=lambda value: value[value.index('"') + 1 :].partition('"')[0] if isinstance(value, str) else None,
)  # fmt: skip
def test_blocks_mean_what_the_page_says(
    passes: bool, test: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cards.rules"
    file.write_text(f"{HEAD}test {test}\n")
    code = main(["test", str(file)])
    out, err = capsys.readouterr()
    assert out.endswith("1 passed, 0 failed\n" if passes else "0 passed, 1 failed\n"), out + err
    assert code == (0 if passes else 1)


GOLDEN = """\
passed  probes "met"  cards.rules:15
FAILED  probes "a wrong count"  cards.rules:16
      0s  payment payment-1 { card: "c", amount: 1 }  <- small begins run 1
     10s  payment payment-2 { card: "c", amount: 1 }  <- small of run 1, small begins run 2
      5m  payment payment-3 { card: "c", amount: 900 }  <- big of run 1
   !  5m  alert probes (match) { card: "c", n: 2, due: "1970-01-01T01:05:00Z" } was not expected
   !  5m  line 16 expected an alert { n: 3 }; the alert at 5m has n: 2
1 passed, 1 failed
"""


@pytest.mark.slow
def test_a_failure_is_told_beside_what_happened(tmp_path: Path) -> None:
    lines = (SMALL + BIG).replace("\n", " ")
    tests = f'test probes "met" {{ {lines} expect {{ }} }}\n'
    tests += f'test probes "a wrong count" {{ {lines} expect at 5m {{ n: 3 }} }}\n'
    (tmp_path / "cards.rules").write_text(HEAD + tests)
    told = cep("test", "cards.rules", cwd=tmp_path)
    assert (told.code, told.out, told.err) == (1, GOLDEN, "")


def test_the_json_form_tells_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cards.rules"
    file.write_text(HEAD + f'test probes "a wrong count" {{ {SMALL}{BIG} expect at 5m {{ n: 3 }} }}\n')
    assert main(["test", "--format", "json", str(file)]) == 1
    told = json.loads(capsys.readouterr().out)
    (test,) = told["tests"]
    assert (told["passed"], told["failed"], test["passed"]) == (0, 1, False)
    assert test["missing"][0]["time"] == "1970-01-01T00:05:00Z"
    assert test["unexpected"][0]["emit"]["n"] == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [([], "no test"), (["--run", "nowhere"], "no test fits --run 'nowhere'")],
)
def test_no_test_is_a_failure(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cards.rules"
    file.write_text(HEAD)
    assert main(["test", str(file), *options]) == 1
    out, err = capsys.readouterr()
    assert out == "0 passed, 0 failed\n"
    assert told in err


def test_run_selects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cards.rules"
    file.write_text(HEAD + 'test probes "one" { expect nothing }\ntest once "two" { expect nothing }\n')
    assert main(["test", str(file), "--run", "^once"]) == 0
    out = capsys.readouterr().out
    assert "1 passed" in out
    assert '"one"' not in out


def test_a_wrong_expression_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(tmp_path), "--run", "("]) == 2
    assert "no regular expression" in capsys.readouterr().err


def test_a_pack_with_errors_fails_and_the_others_still_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.rules", tmp_path / "bad.rules"
    good.write_text(HEAD + 'test probes "one" { expect nothing }')
    bad.write_text("pack p version 1")
    assert main(["test", str(bad), str(good)]) == 1
    out, err = capsys.readouterr()
    assert "1 passed, 0 failed" in out
    assert "error[CEP" in err
