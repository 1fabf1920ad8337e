"""The cost of queries alone, beside the estimate of percolator.library.cost: µs for a document of 200 words.

Documents hold words of a Zipf distribution, and a tenth of their words is new, so that patterns have to be
tried. The time is the processor's for one query more: with it, less without it.
`python benchmarks/percolator_cost.py`
"""

from __future__ import annotations

import random
import time

from percolator.build import SegmentBuilder
from percolator.library.cost import Limits, estimate
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.schema import Schema

SCHEMA = Schema.of({"body": "text"})
DOCUMENTS, WORDS, KNOWN = 400, 200, 20_000
COPIES = 50
"""A query is measured so many times over, with other words, so that its time stands out of the noise."""

FORMS = {
    "a rare word": "w{r}",
    "two common words": "w{c} w{d}",
    "a phrase of common words": '"w{c} w{d}"',
    "NOT": "NOT w{r}",
    "prefix": "w{r}*",
    "suffix": "*{r}",
    "inside": "*{r}*",
    "fuzzy": "w{r}~1",
    "fuzzy, two edits": "w{r}~2",
    "regular expression": "/w{r}.*/",
    "NEAR of common words": "w{c} NEAR/5 w{d}",
    "NEAR of common words, wide": "w{c} NEAR/100 w{d}",
    "slop": '"w{c} w{d} w{c}"~20',
    "NEAR of prefixes": "w{c}* NEAR/5 w{d}*",
    "NEAR of NEARs of prefixes": "(w{c}* NEAR/50 w{d}*) NEAR/50 (w{c}* NEAR/50 w{d}*)",
    "an OR of 100 words": " OR ".join([f"w{{r}}{i}" for i in range(100)]),
}


def documents(chance: random.Random) -> list[dict[str, str]]:
    """Texts that nobody has seen before."""
    weights = [1 / (rank + 5) for rank in range(KNOWN)]
    found = []
    for number in range(DOCUMENTS):
        words = [f"w{rank}" for rank in chance.choices(range(KNOWN), weights, k=WORDS * 9 // 10)]
        words += [f"n{number}x{chance.getrandbits(30):x}" for _ in range(WORDS // 10)]
        chance.shuffle(words)
        found.append({"body": " ".join(words)})
    return found


def taken(queries: list[str], rows: list[dict[str, str]]) -> float:
    """Microseconds a document, by a matcher that has seen the common words but none of the new ones."""
    builder = SegmentBuilder(SCHEMA)
    for number, query in enumerate(["never", *queries]):
        builder.add(str(number), parse(query))
    segment = builder.segment()
    best = float("inf")
    for _ in range(3):
        matcher = Matcher(SCHEMA, [segment], engine=load())
        for row in rows[: DOCUMENTS // 2]:
            matcher.match(row)
        begin = time.process_time()
        for row in rows[DOCUMENTS // 2 :]:
            matcher.match(row)
        best = min(best, (time.process_time() - begin) * 1e6 / (DOCUMENTS - DOCUMENTS // 2))
    return best


def main() -> None:
    """Prints the table."""
    chance = random.Random(1)
    rows = documents(chance)
    nothing = taken([], rows)
    print(f"{'':32}{'measured':>12}{'believed':>12}    µs; without a query {nothing:.1f}")
    for name, form in FORMS.items():
        queries = [
            form.format(r=chance.randrange(2000, KNOWN), c=chance.randrange(0, 30), d=chance.randrange(0, 30))
            for _ in range(COPIES)
        ]
        measured = (taken(queries, rows) - nothing) / COPIES
        believed = sum(estimate(parse(query), Limits()).units for query in queries) / COPIES
        print(f"{name:32}{measured:12.3f}{believed:12.3f}")


if __name__ == "__main__":
    main()
