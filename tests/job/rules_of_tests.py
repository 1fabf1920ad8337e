"""A small pack for tests of the job, and events for it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from alerts.notation import timestamp

SECOND = 1_000_000_000
BEGIN = 1_767_600_000 * SECOND


OTHER = "\nstream other { a: string  t: timestamp  id a  time t }\nrule o { on other emit a }\n"
"""A second stream and a rule that reads it."""

WINDOWS = """
rule burst {
  by card  over payment[amount < 50] sliding 30s  having count() > 5  limit 50 events
  emit card, n = count(), mean = avg(amount), spread = stddev(amount), before = previous(sum(amount))
}
rule minute {
  by card  over payment tumbling 1m  having count() > 0
  emit n = count(), total = sum(amount), most = max(amount), p90 = percentile(amount, 0.9)
}
rule hops {
  over payment hopping 1m every 10s  having sum(amount) > ago(sum(amount), 30s)
  emit cards = distinct(card), s = sum(amount)
}
rule session {
  by card  over payment session gap 9s max 2m  having count() > 3
  emit a = start(), b = end(), last = last(payment_id)
}
rule latest {
  by card  over payment last 5 events  having last(amount) > 2 * avg(amount)  emit was = previous(avg(amount))
}
rule limit {
  by card  over payment tumbling 5m early  having sum(amount) > 900  emit s = sum(amount)
}
"""
"""Windows of every kind over payments; each rule raises alerts within minutes of event time."""


def pack(threshold: int = 3, more: str = "", big: str = "amount > 90", idle: str = "") -> str:
    """A pattern of `threshold` small payments and a large one, and an `on` rule."""
    return f"""pack desk version "1"

stream payment {{
  payment_id: string
  at:         timestamp
  card:       string
  amount:     double
  id payment_id  time at  lateness 2 seconds  {idle}
}}

rule probing {{
  severity high
  by       card
  match    small: payment[amount < 20]{{{threshold}}} -> large: payment[{big}]
  within   10 minutes
  emit     card, n = count(small), amount = large.amount
}}

rule whale {{
  on   payment[amount > 99]
  emit payment_id, amount
}}
{more}"""


def payments(seed: int, number: int, cards: int = 20) -> Iterator[dict[str, object]]:
    """Payments in event time, out of order within the lateness."""
    random = Random(seed)
    for n in range(number):
        moment = BEGIN + n * SECOND // 5 - random.randrange(2 * SECOND)
        yield {
            "payment_id": f"{seed}-{n}",
            "at": timestamp(moment // 1_000_000 * 1_000_000),
            "card": f"c{random.randrange(cards)}",
            "amount": round(random.choice((5, 5, 15, 40, 95, 100)) + random.random(), 2),
        }


def in_files(events: list[dict[str, object]], files: int) -> list[list[dict[str, object]]]:
    """The events cut into so many parts, in order."""
    size = -(-len(events) // files)
    return [events[at : at + size] for at in range(0, len(events), size)]
