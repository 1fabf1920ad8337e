"""The check at the end of a demo goes by what somebody did who looked around, and misses nothing else."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import demo_job
import pytest
from some_alerts import raised
from sqlalchemy import update

from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.schema import ERASED, alerts
from alerts.receivers.notification import trial


@pytest.mark.parametrize(
    ("erased", "tested", "lost", "right"),
    [
        (False, False, False, True),
        (True, False, False, True),
        (False, True, False, True),
        (False, False, True, False),
    ],
)
def test_what_was_erased_and_what_was_a_test_is_nothing_that_is_missing(
    tmp_path: Path, erased: bool, tested: bool, lost: bool, right: bool
) -> None:
    (tmp_path / "state").mkdir()
    some = [raised(n) for n in range(4)]
    received = [one.alert.as_dict() for one in some]
    with closing(Outbox.open(f"sqlite:///{tmp_path}/state/outbox.db", durable=False)) as outbox:
        outbox.record(BatchRecord(0, "d", {}), some, [])
        if erased:
            with outbox.writing() as connection:
                connection.execute(update(alerts).where(alerts.c.number == 2).values(key=ERASED))
    if tested:
        received.append(trial("desk", 0).as_dict())
    del received[: 1 if lost else 0]
    place = demo_job.DemoRun(tmp_path, 0, 0, {})
    lines = (json.dumps({"body": json.dumps({"data": one})}) for one in received)
    place.accepted.write_text("\n".join(lines), "utf-8")
    if right:
        demo_job.check_nothing_is_missing(place, demo_job.kept(place), 0)
    else:
        with pytest.raises(demo_job.DemoError, match="is not what the outbox holds"):
            demo_job.check_nothing_is_missing(place, demo_job.kept(place), 0)
