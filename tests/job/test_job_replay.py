"""A batch that Spark runs again adds no alert and changes none, also when a deploy came in between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from job_folder import JobFolder, in_process
from rules_of_tests import OTHER, in_files, pack, payments

from cep.job.state_folder.deploy_requests import Request, answered, new_id, submit
from rules.packs import load_texts

pytestmark = pytest.mark.spark
Spark = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", pack(), ("payment",))


def _files(folder: JobFolder, seed: int, files: int) -> Iterator[Path]:
    for part in in_files(list(payments(seed, 400)), files):
        yield folder.put("payment", part)


def _request(folder: JobFolder, text: str) -> str:
    """The request that `cep deploy` leaves for the job."""
    new = load_texts([("pack.rules", text)]).need()
    request = Request(new_id(), new.name, new.revision, new.files)
    submit(folder.state, request)
    return request.id


def _without_batch(alerts: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps({k: v for k, v in a.items() if k != "batch"}, sort_keys=True) for a in alerts)


@pytest.mark.parametrize(("shards", "made"), [(4, 4), (None, 2)], ids=["four shards", "by the first cores"])
def test_starting_again_on_other_cores_adds_and_changes_no_alert(
    folder: JobFolder, spark: Spark, shards: int | None, made: int
) -> None:
    folder.shards = shards
    batches = []
    for cores, path in zip((1, 3, 2), _files(folder, 4, 3), strict=True):
        folder.more = f"[spark]\ncores = {cores}\n"
        folder.describe()
        batches.append([("payment", path)])
        folder.once(spark)
        before = folder.alerts()
        folder.commits()[-1].unlink()  # the batch begins on these cores, and is run again on the next
    folder.once(spark, drain=True)
    assert folder.alerts()[: len(before)] == before
    found = [{name: value for name, value in alert.items() if name != "batch"} for alert in folder.alerts()]
    assert sorted(map(str, found)) == sorted(map(str, in_process(folder, batches)))
    assert found
    layout = json.loads(folder.state.layout_file.read_text("utf-8"))
    assert (layout["shards"], layout["partitions"]) == (made, 1), "fixed at the first start"


@pytest.mark.parametrize("deploy", [False, True], ids=["alone", "after a deploy"])
def test_a_lost_commit_adds_and_changes_no_alert(folder: JobFolder, spark: Spark, deploy: bool) -> None:
    batches = []
    for path in _files(folder, 1, 3):
        batches.append([("payment", path)])
        folder.once(spark)
    before = folder.alerts()
    last = folder.commits()[-1]
    manifest = folder.state.manifests / f"{last.name}.json"
    pinned = manifest.read_bytes()
    assert any(alert["batch"] == int(last.name) for alert in before), (
        "the replayed batch must raise something"
    )

    for path in (last, last.with_name(f".{last.name}.crc")):
        path.unlink(missing_ok=True)
    request = _request(folder, pack(big="amount > 1000")) if deploy else None
    folder.once(spark)

    assert manifest.read_bytes() == pinned
    assert folder.alerts()[: len(before)] == before
    if request is None:
        assert folder.alerts() == before
    else:
        answer = answered(folder.state, request)
        assert answer is not None
        assert answer.batch == int(last.name) + 1, "it runs after the replay, not in it"
        assert [(rule.rule, rule.fate) for rule in answer.rules] == [("probing", "kept"), ("whale", "kept")]
        assert answer.rules[0].runs > 0


def test_alerts_of_untouched_rules_do_not_notice_a_deploy(folder: JobFolder, spark: Spark) -> None:
    paths = list(_files(folder, 2, 4))
    expected = in_process(folder, [[("payment", path)] for path in paths])
    aside = [path.rename(path.with_suffix(".aside")) for path in paths]
    for number, path in enumerate(aside):
        path.rename(path.with_suffix(".jsonl"))
        if number == 2:
            request = _request(folder, pack(more="\nrule all { on payment[amount > 94] emit payment_id }\n"))
        folder.once(spark)
    folder.once(spark, drain=True)

    answer = answered(folder.state, request)
    assert answer is not None
    assert answer.taken
    assert [(rule.rule, rule.fate) for rule in answer.rules][-1] == ("all", "new")
    found = [alert for alert in folder.alerts() if alert["rule"] != "all"]
    revisions = {alert["revision"] for alert in found}
    assert len(revisions) == 2
    for alert in (*found, *expected):
        alert["revision"] = ""
    assert _without_batch(found) == _without_batch(expected)
    assert any(alert["rule"] == "all" for alert in folder.alerts())


def test_a_changed_structure_starts_anew_and_a_removed_rule_loses_its_runs(
    folder: JobFolder, spark: Spark
) -> None:
    first, second = in_files(list(payments(3, 200)), 2)
    folder.put("payment", first)
    folder.once(spark)
    request = _request(folder, pack(threshold=4))
    folder.put("payment", second)
    folder.once(spark)
    answer = answered(folder.state, request)
    assert answer is not None
    fate = {rule.rule: (rule.fate, rule.runs) for rule in answer.rules}
    assert fate["probing"][0] == "started anew"
    assert fate["probing"][1] > 0
    text = pack()
    request = _request(folder, text[: text.index("rule probing")] + text[text.index("rule whale") :])
    folder.once(spark)
    answer = answered(folder.state, request)
    assert answer is not None
    fate = {rule.rule: (rule.fate, rule.runs) for rule in answer.rules}
    assert (fate["probing"][0], fate["whale"][0]) == ("removed", "kept")
    assert fate["probing"][1] > 0
    folder.put("payment", payments(4, 50))
    told = folder.once(spark)
    assert f"revision {answer.revision}" in told, "the deployed pack outlives a restart"
    assert {a["rule"] for a in folder.alerts() if a["revision"] == answer.revision} <= {"whale"}


def test_a_deploy_that_the_job_cannot_run_is_refused(folder: JobFolder, spark: Spark) -> None:
    folder.put("payment", payments(5, 50))
    folder.once(spark)
    unfed = pack(more=OTHER)
    differing = pack().replace("pack desk", "pack second").replace("lateness 2", "lateness 3")
    broken = pack().replace("amount > 99", "amont > 99")
    requests = [
        Request(new_id(), "desk", "r", (("pack.rules", text),)) for text in (unfed, differing, broken)
    ]
    for request in requests:
        submit(folder.state, request)
    told = folder.once(spark)
    answers = [answered(folder.state, request.id) for request in requests]
    assert [a.diagnostics[0]["code"] for a in answers if a and not a.taken] == [
        "CEP0711",
        "CEP0951",
        "CEP0202",
    ]
    assert told.count("was refused") == 3
    assert not list(folder.state.requests.iterdir())


def test_a_deploy_may_bring_a_feed(folder: JobFolder, spark: Spark) -> None:
    folder.put("payment", payments(6, 50))
    folder.once(spark)
    (folder.root / "inbox" / "other").mkdir()
    folder.describe(["payment", "other"])
    folder.put("other", [{"a": "1", "t": "2026-01-05T09:00:00Z"}])
    request = _request(folder, pack(more=OTHER))
    told = folder.once(spark)
    answer = answered(folder.state, request)
    assert answer is not None
    assert answer.note == "the query is started again to read other"
    assert "starting the query again to read other" in told
    folder.once(spark, drain=True)
    assert [a["emit"] for a in folder.alerts() if a["rule"] == "o"] == [{"a": "1"}]
