"""A deploy that changes a window: what the rule before left open it judges, whatever ends between."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from job_folder import JobFolder, events_in

from alerts.notation import json_value, timestamp
from cep.events import MAX_TIME
from cep.inprocess.engines import _rows
from cep.job.state_folder import manifest as manifests
from cep.job.state_folder.deploy_requests import Request, RuleFate, answered, new_id, submit
from cep.reference.alternatives import Event
from cep.reference.windows.aggregates import Surroundings
from cep.reference.windows.judged import Judged, Revision, windows
from rules.packs import load_texts
from rules.typed import Pack, Rule

pytestmark = pytest.mark.spark
SECOND = 10**9
MINUTE = 60 * SECOND
BEGIN = 1_767_600_000 * SECOND
FILES = 7


def text(busy: str, quiet: str) -> str:
    return f"""pack desk version "1"
stream payment {{
  payment_id: string  at: timestamp  card: string  amount: double  id payment_id  time at  lateness 2 seconds
}}
rule busy {{
  by card  over payment[{busy}] tumbling 10 minutes  having count() > 2
  emit n = count(), total = sum(amount), before = previous(count())
}}
rule visit {{ by card  over payment session gap 40 seconds  having {quiet}  emit n = count() }}
"""


OLD, NEW = text("amount > 10", "count() > 1"), text("amount > 40", "count() > 2 and sum(amount) > 5")


def payments(first: int, number: int) -> Iterator[dict[str, object]]:
    """Payments of some cards, about one in three seconds, nearly in order of time."""
    random = Random(first)
    for n in range(first, first + number):
        moment = BEGIN + n * 3 * SECOND - random.randrange(2 * SECOND)
        yield {
            "payment_id": f"p{n}",
            "at": timestamp(moment // 10**6 * 10**6),
            "card": f"c{random.randrange(6)}",
            "amount": round(random.uniform(0, 100), 2),
        }


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    return JobFolder(tmp_path / "job", OLD, ("payment",))


def deploy(folder: JobFolder, new: Pack) -> str:
    """The request that `cep deploy` leaves for the job."""
    request = Request(new_id(), new.name, new.revision, new.files)
    submit(folder.state, request)
    return request.id


def test_windows_that_a_deploy_finds_open_end_under_the_rule_before_though_the_job_is_killed(
    folder: JobFolder, spark: Callable[..., Any]
) -> None:
    old, new = (load_texts([("pack.rules", of)]).need() for of in (OLD, NEW))
    parts = [list(payments(35 * n, 35)) for n in range(FILES)]
    paths = []
    for part in parts[:2]:
        paths.append(folder.put("payment", part))
        folder.once(spark)
    known = folder.runs()
    request = deploy(folder, new)
    paths.append(folder.put("payment", parts[2]))
    begun = len(folder.commits())
    with folder.running() as job:
        job.wait_for(
            lambda: (folder.state.manifests / f"{begun}.json").exists(), "the manifest with the deploy"
        )
        job.kill()
    paths.append(folder.put("payment", parts[3]))
    folder.once(spark)
    answer = answered(folder.state, request)
    assert answer is not None
    first = manifests.read(folder.state.manifests, begun)
    assert first is not None
    assert [one.request for one in first.deployed] == [request]
    end = (first.watermark // (10 * MINUTE) + 1) * 10 * MINUTE
    assert answer.rules == (
        RuleFate("busy", "drained", known["desk", "busy"], "keys", timestamp(end)),
        RuleFate("visit", "drained", known["desk", "visit"], "keys", None),
    )
    assert min(known.values()) > 1
    last = manifests.read(folder.state.manifests, len(folder.commits()) - 1)
    assert last is not None
    assert last.watermark < end, "the job was killed and started while windows of the rule before were open"
    assert "busy" in {one.rule for one in last.generations.closing}
    for number, part in enumerate(parts[4:]):
        paths.append(folder.put("payment", part))
        folder.once(spark, drain=number == FILES - 5)
    assert_as_in_the_reference(folder, paths, (old, new), first.watermark)


def assert_as_in_the_reference(
    folder: JobFolder, paths: list[Path], packs: tuple[Pack, Pack], watermark: int
) -> None:
    """The alerts are those of the reference, of a deploy that came after two files."""
    found = sorted(told(alert) for alert in folder.alerts())
    old, new = packs
    events = [row for path in paths for part in events_in(path, old.fed[0]) for row in _rows(part)]
    placed = [Event("payment", row["payment_id"], row["at"], row, place) for place, row in enumerate(events)]
    placed.sort(key=lambda event: (event.time, event.place))
    expected = []
    for was, now in zip(old.rules, new.rules, strict=True):
        revisions = [Revision(was), Revision(now, watermark, 2 * 35)]
        for one in windows(revisions, placed, MAX_TIME, Surroundings("payment")):
            if one.raised:
                expected.append(told(as_alert(one, old if one.rule is was else new)))
    assert found == sorted(expected)
    by_revision = {(alert["rule"], alert["revision"]) for alert in folder.alerts()}
    assert by_revision == {(rule.name, pack.revision) for pack in packs for rule in pack.rules}


def as_alert(one: Judged, pack: Pack) -> dict[str, object]:
    raised, rule = one.seen.alert(one.rule), one.rule
    return {
        "rule": rule.name,
        "revision": pack.revision,
        "time": timestamp(raised.time),
        "key": dict(raised.key),
        "emit": emitted(rule, dict(raised.emit)),
        "events": {step: list(ids) for step, ids in raised.events},
    }


def emitted(rule: Rule, values: dict[str, object]) -> dict[str, object]:
    return {item.name: json_value(values[item.name], item.value.type) for item in rule.emit}


def told(alert: dict[str, Any]) -> str:
    return json.dumps({name: alert[name] for name in ("rule", "revision", "time", "key", "emit", "events")})
