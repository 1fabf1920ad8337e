"""Writes packs/watchlist.jsonl: what a desk wrote by hand, and 2,000 queries made of the articles' own words.

The same lines at every run: python examples/media/watchlist.py
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from articles import articles

OUTPUT = Path(__file__).parent / "packs" / "watchlist.jsonl"
MADE = 2_000

# id, query, tags, priority
DESK = (
    ("siege", '"siege of"', ["war"], 2),
    ("civil-war", '"civil war" AND (battle OR army)', ["war"], 2),
    ("invasion", "invasion* NEAR/10 (army OR troops OR forces)", ["war"], 3),
    ("battle", "atleast/3 battle", ["war"], 1),
    ("treaty", "treaty AND (signed OR ratified) AND NOT football", ["war", "politics"], 2),
    ("warship", "warship* OR submarine* OR destroyer*", ["war", "sea"], 2),
    ("regiment", "regiment ONEAR/5 (infantry OR cavalry)", ["war"], 1),
    ("novel", "first/40 novel", ["fiction"], 1),
    ("fiction", '"science fiction" OR "short story"', ["fiction"], 1),
    ("character", '"fictional character"', ["fiction"], 1),
    ("election", "what = (election* NEAR/8 (won OR lost)) OR resigned", ["politics"], 3),
    ("minister", '"prime minister" NOT novel', ["politics"], 3),
    ("parliament", "2 of (parliament, constituency, by-election, mp)", ["politics"], 2),
    ("mayor", "mayor AND city AND elected", ["politics"], 1),
    ("court", '"supreme court"', ["law"], 3),
    ("trial", "sentence(trial, murder)", ["law"], 3),
    ("earthquake", "atleast/2 earthquake", ["disaster"], 5),
    ("fire", '"destroyed by fire" OR "caught fire"', ["disaster"], 4),
    ("crash", "(aircraft OR train) NEAR/6 crash*", ["disaster"], 5),
    ("disease", "virus OR outbreak OR epidemic", ["health"], 4),
    ("hospital", "hospital AND patients", ["health"], 1),
    ("nobel", '"nobel prize"', ["award"], 4),
    ("oscar", '"academy award"~2', ["award", "film"], 3),
    ("director", "first/60 (film NEAR/8 directed)", ["film"], 1),
    ("final", '"cup final"', ["sport"], 2),
    ("olympic", "olympic* AND medal*", ["sport"], 3),
    ("season", 'title:season OR title:"football club"', ["sport"], 1),
    ("railway", "railway AND station AND (closed OR opened)", ["transport"], 1),
    ("bridge", "bridge NEAR/5 built", ["transport"], 1),
    ("bishop", "bishop* AND (church OR cathedral) AND NOT chess", ["church"], 1),
)


def made(generator: random.Random) -> Iterator[str]:
    """Queries without end, each true of one article at least."""
    texts = [re.findall(r"[a-z]{4,12}", article["body"].lower()) for article in articles()]
    known = Counter(word for text in texts for word in set(text))
    while True:
        text = generator.choice(texts)
        rare = sorted({word for word in text if 2 <= known[word] <= 40})
        if len(rare) < 6:
            continue
        one, two, three = generator.sample(rare, 3)
        at = generator.randrange(len(text) - 1)
        yield generator.choice(
            (
                f"{one} {two}",
                f"{one} AND NOT {generator.choice(sorted(known)[:500])}",
                f'"{text[at]} {text[at + 1]}" {one}',
                f"{one[:5]}* {two}",
                f"{text[at]} NEAR/5 {text[at + 1]} AND {one}",
                f"{one} AND ({two} OR {three})",
                f"2 of ({one}, {two}, {three})",
            )
        )


def lines() -> Iterator[str]:
    """The lines of the file."""
    for id_, query, tags, priority in DESK:
        yield json.dumps({"id": f"desk-{id_}", "query": query, "tags": tags, "priority": priority})
    queries = made(random.Random(7))
    for number in range(MADE):
        query: dict[str, object] = {"id": f"made-{number:04d}", "query": next(queries), "tags": ["made"]}
        if number % 5 == 0:
            query["filter"] = {"edition": ["north", "east"]}
        yield json.dumps(query)


if __name__ == "__main__":
    OUTPUT.write_text("\n".join(lines()) + "\n", "utf-8")
