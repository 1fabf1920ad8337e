"""Batches that are in the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from alerts.notation import timestamp
from alerts.outbox.stored import read_batches
from cep.events import MAX_TIME, MIN_TIME
from cep.web.desk.desk import JobDesk, moment
from cep.web.desk.filters import Page, number_of


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch, by its number. `watermark` is event time after it, None before the first event; `packs` are
    the revisions that it ran with; `drained`: time ended with it."""

    batch: int
    recorded_at: str
    watermark: str | None
    packs: Mapping[str, str]
    drained: bool


@dataclass(frozen=True, slots=True)
class BatchPage:
    """Batches, the newest first; `next` is the cursor of those before them."""

    batches: tuple[BatchView, ...]
    next: str | None


def batches_page(desk: JobDesk, page: Page) -> BatchPage:
    """The batches that the outbox remembers. Raises MistakenError and OutboxError."""
    before = None if page.cursor is None else number_of("cursor", page.cursor)
    with desk.outbox.reading() as connection:
        found = read_batches(connection, before, page.limit + 1)
    some = tuple(_view(number, at, result) for number, at, result in found[: page.limit])
    return BatchPage(some, str(some[-1].batch) if len(found) > page.limit else None)


def _view(number: int, at: int, result: Mapping[str, object]) -> BatchView:
    packs = result.get("revisions")
    return BatchView(
        number,
        moment(at),
        watermark_text(result.get("watermark")),
        {str(k): str(v) for k, v in packs.items()} if isinstance(packs, dict) else {},
        result.get("drained") is True,
    )


def watermark_text(watermark: object) -> str | None:
    """A watermark as text; None before the first event, `end of time` after a drain."""
    if not isinstance(watermark, int) or watermark <= MIN_TIME:
        return None
    return "end of time" if watermark >= MAX_TIME else timestamp(watermark)
