"""A small pack for tests of the job, and events for it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from alerts.notation import timestamp

SECOND = 1_000_000_000
BEGIN = 1_767_600_000 * SECOND


OTHER = "\nstream other { a: string  t: timestamp  id a  time t }\nrule o { on other emit a }\n"
"""A second stream and a rule that reads it."""


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
