"""`import cep`: the answers of the commands, as objects; bad input as exceptions that say what is wrong."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from cases import FILES, difference, read

import cep
from cep.cli.main import main

ROOT = Path(__file__).parents[2]
RULES = """
pack p version "1"
stream s {
  n: long  d: decimal?  f: double?  took: duration?  at_: timestamp  k: string?  tags: list<string>?
  place: { city: string }?
  time at_
}
rule big { by k on s[n > 1] emit n, d, took, at_, tags, city = place.city suppress 10s }
rule two { by k match a: s[n == 1] -> b: s[n == 2] within 1h }
rule gone { by k match a: s[n == 7] -> absent s[n == 8] for 10s }
test big "one" { at 0s s { n: 2 } expect at 0s { n: 2 } }
test big "none" { at 0s s { n: 2 } expect nothing }
"""
START = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def pack() -> cep.Pack:
    return cep.load_text(RULES)


def event(second: float, n: object, **more: object) -> tuple[str, dict[str, object]]:
    return ("s", {"n": n, "at_": START + timedelta(seconds=second), "k": "x", **more})


@pytest.mark.slow
def test_conformance_cases_through_the_interface() -> None:
    answered = 0
    for given in read(FILES[0]):
        plain = json.loads(json.dumps([(stream, json.loads(line)) for _, stream, line in given.case.events]))
        until = given.case.watermark
        result = cep.load_text(given.case.rules).evaluate(
            [(stream, fields) for stream, fields in plain],
            watermark=None if until is None else _rfc3339(until),
            drain=given.case.drain,
        )
        assert not difference(given.alerts, [alert.as_dict() for alert in result.alerts]), given.name
        answered += len(result.alerts)
    assert answered > 100


def _rfc3339(ns: int) -> str:
    seconds, rest = divmod(ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def test_files_give_what_the_command_gives(tmp_path: Path) -> None:
    rules, events = ROOT / "examples/cards/cards.rules", ROOT / "examples/cards/payments.jsonl"
    out = tmp_path / "alerts.jsonl"
    assert main(["eval", str(rules), "--events", f"payment={events}", "--output", str(out), "--drain"]) == 0
    result = cep.load(rules).evaluate_files({"payment": events}, drain=True)
    assert [alert.to_json() for alert in result.alerts] == out.read_text("utf-8").splitlines()
    assert (result.events, len(result.alerts)) == (6, 1)


def test_values_of_python_are_those_of_feeds(pack: cep.Pack) -> None:
    given = {
        "n": 5,
        "d": Decimal("1.50"),
        "took": timedelta(seconds=90),
        "at_": datetime(2026, 1, 5, 1, tzinfo=timezone(timedelta(hours=1))),
        "k": None,
        "tags": ("a", "b"),
        "place": {"city": "Köln"},
    }
    (alert,) = pack.evaluate([("s", given)]).alerts
    assert alert.time == "2026-01-05T00:00:00Z"
    assert alert.emit == {
        "n": 5,
        "d": "1.5",
        "took": "PT1M30S",
        "at_": "2026-01-05T00:00:00Z",
        "tags": ["a", "b"],
        "city": "Köln",
    }


def test_order_of_the_list_decides_only_within_an_instant(pack: cep.Pack) -> None:
    (match,) = [a for a in pack.evaluate([event(5, 2), event(0, 1)]).alerts if a.rule == "two"]
    assert match.time == "2026-01-05T00:00:05Z"
    assert not [a for a in pack.evaluate([event(0, 2), event(0, 1)]).alerts if a.rule == "two"]


def test_the_watermark_ends_where_it_is_told(pack: cep.Pack) -> None:
    def gone(**more: object) -> int:
        result = pack.evaluate([event(0, 7)], **more)  # type: ignore[arg-type]
        return len([alert for alert in result.alerts if alert.rule == "gone"])

    assert gone() == 0
    assert gone(watermark=START + timedelta(seconds=9)) == 0
    assert gone(watermark=START + timedelta(seconds=10)) == 1
    assert gone(watermark="2026-01-05T00:00:10Z") == 1
    assert gone(drain=True) == 1
    with pytest.raises(ValueError, match="time zone"):
        gone(watermark=datetime(2026, 1, 5))
    with pytest.raises(ValueError, match="exclude"):
        gone(watermark=START, drain=True)


def test_nothing_is_dropped_in_silence(pack: cep.Pack) -> None:
    result = pack.evaluate(
        [event(0, 2), event(1, 3), event(2, "many"), ("t", {}), event(3, float("nan")), event(4, 2**70)]
    )
    assert [(r.place, r.stream, r.file) for r in result.reasons] == [
        (2, "s", None), (3, "t", None), (4, "s", None), (5, "s", None),
    ]  # fmt: skip
    assert (result.events, result.rejected, result.withheld, len(result.alerts)) == (2, 4, 1, 1)
    with pytest.raises(TypeError, match=r"event 1 of stream s: .*set"):
        pack.evaluate([event(0, 1), event(0, {1})])


def test_losses_are_told() -> None:
    few = cep.load_text(RULES.replace("within 1h }", "within 1h limit 2 runs }"))
    result = few.evaluate([event(second, 1) for second in range(5)])
    assert len(result.losses) == 1
    assert "two" in result.losses[0]


def test_a_pack_with_an_error_is_refused_with_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "bad.rules"
    file.write_text(RULES.replace("n > 1", "m > 1").replace("n == 7", 'n == "x"'), encoding="utf-8")
    with pytest.raises(cep.PackError) as raised:
        cep.load(str(file))
    errors = [d for d in raised.value.diagnostics if d.level == "error"]
    assert len(errors) == 2
    assert {one.file for one in errors} == {str(file)}
    assert all(one.help and one.code.startswith("CEP") and one.code in str(raised.value) for one in errors)
    assert isinstance(raised.value, cep.Error)
    assert [d.code for d in cep.check(file)] == [d.code for d in raised.value.diagnostics]
    assert cep.check_text(file.read_text(), name=str(file)) == cep.check(file)


@pytest.mark.parametrize("path", ["none.rules", "none/"])
def test_a_path_that_is_not_there_is_an_error_not_a_traceback_of_ours(path: str, tmp_path: Path) -> None:
    with pytest.raises(cep.PackError, match="none"):
        cep.load(tmp_path / path)


def test_a_folder_of_several_packs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.rules").write_text(RULES.replace("pack p", f"pack {name}"), encoding="utf-8")
    assert [pack.name for pack in cep.load_all(tmp_path)] == ["one", "two"]
    with pytest.raises(cep.PackError, match=r"2 packs .*load_all"):
        cep.load(tmp_path)


def test_what_cannot_be_run_yet_is_a_hint_to_the_checker_and_an_error_to_the_loader() -> None:
    derived = RULES + "rule w { on s  emit k  into t }\nrule x { on t }\n"
    assert [d.level for d in cep.check_text(derived) if d.code == "CEP0916"] == ["hint"]
    with pytest.raises(cep.PackError, match="CEP0916"):
        cep.load_text(derived)


def test_queries_of_a_text_are_relative_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": "q1", "query": "recall"}\n', encoding="utf-8")
    text = (
        'pack w version "1" stream a { url: string body: text at_: timestamp id url time at_ } '
        'queries list { from "q.jsonl" } rule r { on a matching list emit url, query }'
    )
    (alert,) = (
        cep.load_text(text, folder=tmp_path)
        .evaluate([("a", {"url": "u", "body": "a recall", "at_": START})])
        .alerts
    )
    assert (alert.kind, alert.emit) == ("hit", {"url": "u", "query": "q1"})
    with pytest.raises(cep.PackError, match=r"q\.jsonl"):
        cep.load_text(text, folder=tmp_path / "elsewhere")


def test_wrong_files_are_data_errors(pack: cep.Pack, tmp_path: Path) -> None:
    with pytest.raises(cep.DataError, match="no stream `S`"):
        pack.evaluate_files({"S": "x.jsonl"})
    with pytest.raises(cep.DataError, match="CEP0851"):
        pack.evaluate_files({"s": [tmp_path / "none.jsonl"]})


def test_tests_of_rules_run(pack: cep.Pack) -> None:
    good, bad = pack.run_tests()
    assert (good.passed, good.rules, good.title, good.label) == (True, ("big",), "one", 'big "one"')
    assert not bad.passed
    assert "was not expected" in bad.text
    assert str(bad) == bad.text
    assert pack.run_tests('"one"') == (good,)


@pytest.mark.slow
def test_a_pack_is_a_value(pack: cep.Pack) -> None:
    events = [event(second, 1 + second % 2) for second in range(50)]
    wanted = pack.evaluate(events)
    assert pickle.loads(pickle.dumps(pack)).evaluate(events) == wanted
    with ThreadPoolExecutor(4) as threads:
        assert all(one == wanted for one in threads.map(pack.evaluate, [events] * 8))


def test_queries_are_added_replaced_refused_and_matched() -> None:
    queries = cep.Percolator({"title": "text", "body": "text english"}, default=["body"])
    assert queries.add("q1", "recall") == 1
    assert queries.add("q1", "recall*", tags=("t",), priority=3) == 2
    assert queries.add("late", "recall", expires=START) == 1
    assert (len(queries), "q1" in queries, "q2" in queries) == (2, True, False)
    with pytest.raises(cep.QueryError) as raised:
        queries.add("q1", "other", version=1)
    assert (raised.value.code, raised.value.position) == ("PQ22", None)
    hits = queries.match({"title": "recall", "body": "recalled"}, time=START).hits
    assert [(hit.query, hit.version, hit.tags, hit.priority, hit.highlights) for hit in hits] == [
        ("q1", 2, ("t",), 3, None)
    ]
    assert [hit.query for hit in queries.match({"body": "recalled"}).hits] == ["late", "q1"]
    assert queries.remove("q1")
    assert not queries.remove("q1")
    with pytest.raises(cep.DataError, match="body"):
        queries.match({"body": 5})
    with pytest.raises(cep.DataError, match="nonsense"):
        cep.Percolator({"body": "nonsense"})


def test_lines_of_queries_are_loaded_and_the_bad_ones_told() -> None:
    queries = cep.Percolator({"body": "text"})
    told = queries.load(['{"id": "a", "query": "x or y"}', "", b'{"id": "b", "query": "(x"}', "nonsense"])
    assert told.taken == len(queries) == 1
    assert [(one.line, one.id, one.code, one.position) for one in told.refused] == [
        (3, "b", "PQ03", 0),
        (4, None, "PQ21", None),
    ]
    (warning,) = told.warnings
    assert (warning.line, warning.id, warning.code, warning.position) == (1, "a", "PQ14", 2)
    assert "OR" in warning.help


def test_importing_the_package_imports_nothing_of_it() -> None:
    script = "import sys, cep; dir(cep); print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "numpy", "rules", "alerts", "percolator"} & set(done.stdout.split())


def test_names_are_those_that_are_declared() -> None:
    for name in cep.__all__:
        assert getattr(cep, name) is not None
    assert set(cep.__all__) <= set(dir(cep))
    with pytest.raises(AttributeError, match="evaluat_"):
        _ = cep.evaluat_  # type: ignore[attr-defined]


PROGRAM = """
import cep

pack: cep.Pack = cep.load("cards.rules")
result: cep.Evaluation = pack.evaluate([("payment", {"amount": 1.0})], drain=True)
names: list[str] = [alert.rule for alert in result.alerts]
codes: tuple[str, ...] = tuple(found.code for found in cep.check("cards.rules"))
tests: list[bool] = [test.passed for test in pack.run_tests()]
queries = cep.Percolator({"body": "text"})
version: int = queries.add("q", "x")
ids: list[str] = [hit.query for hit in queries.match({"body": "x"}).hits]
shown: str = cep.__version__
"""
WRONG = """
import cep

pack: str = cep.load("cards.rules")
cep.load(5)
cep.nothing
for alert in cep.load("x").evaluate([]).alerts:
    alert.rulle
"""


@pytest.mark.slow
def test_strict_types_from_outside_the_checkout(tmp_path: Path) -> None:
    """As with an ordinary install: the packages lie in a site-packages, the program elsewhere."""
    installed = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", installed], check=True)
    (packages,) = installed.glob("lib/python*/site-packages")
    for name in ("cep", "rules", "alerts", "percolator"):
        (packages / name).symlink_to(ROOT / name)
    here = Path(pytest.__file__).parents[1]
    (packages / "ours.pth").write_text(f"{here}\n", encoding="utf-8")
    program, wrong = tmp_path / "program.py", tmp_path / "wrong.py"
    program.write_text(PROGRAM, encoding="utf-8")
    wrong.write_text(WRONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed / "bin" / "python",
         "--config-file=", "--cache-dir", tmp_path / "cache", program, wrong],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = [line.split(": error: ")[0] for line in done.stdout.splitlines() if ": error: " in line]
    assert found == [f"wrong.py:{line}" for line in (4, 5, 6, 8)], done.stdout + done.stderr
