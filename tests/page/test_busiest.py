"""The keys with most of the last alerts are those that one query of all of them would find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from some_alerts import raised
from sqlalchemy import update
from stores import outbox_url

from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.schema import ERASED, alerts
from cep.web.page import busiest
from cep.web.page.busiest import Busiest

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    with closing(Outbox.open(outbox_url(tmp_path), durable=False)) as box:
        yield box


def test_it_counts_the_last_alerts_as_they_come_and_go(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(busiest, "KEYS_OF", 50)
    random, found, number = Random(7), Busiest(), 0
    for batch in range(40):
        some = [
            raised(number + n, key=f"c{min(random.randrange(9), random.randrange(9))}")
            for n in range(random.choice([0, 1, 7, 30, 120]))
        ]
        number += len(some)
        outbox.record(BatchRecord(batch, f"d{batch}", {}), some, [])
        with outbox.writing() as connection:
            if batch % 4 == 3:
                gone = f'{{"card_id":"c{random.randrange(9)}"}}'
                connection.execute(update(alerts).where(alerts.c.key == gone).values(key=ERASED))
            there = [row for row in connection.execute(alerts.select()) if row.number > number - 50]
            counts = Counter(row.key for row in there if row.key != ERASED)
            shown = found.most(connection, 5)
        assert [count for _, count in shown] == [count for _, count in counts.most_common(5)]
        assert all(counts[key] == count for key, count in shown)
