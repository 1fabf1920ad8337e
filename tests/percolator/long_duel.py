"""The long duel: random queries in a library that changes, over random documents, against the reference.

    python tests/percolator/long_duel.py --pairs 10000000 --seed 1

A round draws queries and documents (percolator_trees), fills a library with the queries, and then in turn
changes it - adds, replacements, removals, loads with bad lines, expiry, compactions, reopenings - and lets it
answer documents that no state of it has seen: in columns and alone, with metadata and times, the writer or a
reader that follows it, at the end readers that go back to pins. The hits of every pair are compared, names
and highlights for the documents that are asked alone. Rounds take turns in the languages of the text fields,
new words keep coming, and the table of words is so small that it is started anew again and again. Equal seeds
give equal rounds; `--first 37 --rounds 1` runs one of them again. Every difference is printed with its query
and document; the exit code is 1 if there was one.

Pairs are counted once: texts of queries that stand, times documents that have come.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from unittest.mock import patch

sys.path.append(str(Path(__file__).parents[1] / "strategies"))

import numpy as np
import pyarrow as pa
from failing_disk import UnsyncedDisk
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from life_model import BAD, TIMES, Change, Document, Held, do, executable, expected, shown
from percolator_duel import columns
from percolator_trees import WHOLE_SCHEMA, whole, whole_documents

from percolator import reference
from percolator.hit import Range
from percolator.library import writer
from percolator.library.collection import Collection
from percolator.library.reader import Reader
from percolator.library.standing import NEVER, StandingQuery
from percolator.library.writer import Library
from percolator.matching import matcher, surface
from percolator.matching.compiled import load
from percolator.matching.surface import SurfaceWords
from percolator.query.parse import parse
from percolator.query.print import to_text
from percolator.query.tree import Node
from percolator.reference import Names, PositionSpan
from percolator.schema import FieldType, Kind, Schema
from percolator.values import Terms

TEXTS, DOCUMENTS = 360, 2000
IDS = 300
STATES = 12
"""So many states of a library answer documents in a round."""
PINS = 2
WORDS = 96
"""So many words the table of words holds before it is started anew."""
LETTERS_A_WORD = 6
"""So many bytes of them it begins with: their forms need more."""

LANGUAGES = (("plain", "english"), ("german", "english"), ("plain", "french"), ("spanish", "swedish"))
"""What a round takes for title and body."""
STEMS = ("a", "ab", "run", "runn", "caf", "Caf\u00e9", "cafe\u0301", "BAC", "stra\u00dfe", "\u0130z")
LETTERS = "abcrun\u00e9\u00df\u0259"
ENDINGS = ("", "s", "es", "ing", "INGS", "ed", "ly", "en", "ungen", "\u00e9e", "ci\u00f3n", "heten", "'s")

T = TypeVar("T")
Highlighted = list[tuple[str, tuple[str, ...], dict[str, list[Range]]]]


def drawn(strategy: st.SearchStrategy[T], least: int, start: int) -> list[T]:
    """So many values or some more; equal starts give equal values."""
    found: list[T] = []
    number = start
    while len(found) < least:

        @seed(number)
        @given(st.lists(strategy, min_size=24, max_size=36))
        @settings(
            database=None,
            max_examples=max(2, least // 30),
            phases=[Phase.generate],
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        def draw(some: list[T]) -> None:
            found.extend(some)

        draw()
        number += 1
    return found


def schema_of(round_: int) -> Schema:
    """The fields of all duels, in the languages of a round."""
    title, body = LANGUAGES[round_ % len(LANGUAGES)]
    declared = {"title": FieldType(Kind.TEXT, title), "body": FieldType(Kind.TEXT, body)}
    return Schema({**WHOLE_SCHEMA.fields, **declared}, WHOLE_SCHEMA.default)


def with_new_words(document: Document, chance: random.Random) -> Document:
    """The document with more words behind its texts: many were never seen, some stem as a query's do."""

    def more(text: str) -> str:
        inner = (
            "".join(chance.choices(LETTERS, k=chance.choice([0, 0, 1, 2])))
            for _ in range(chance.randrange(4))
        )
        return " ".join([text, *(chance.choice(STEMS) + one + chance.choice(ENDINGS) for one in inner)])

    found = dict(document)
    if isinstance(found.get("title"), str):
        found["title"] = more(found["title"])
    if "body" in found:
        found["body"] = [more(text) for text in found["body"]]
    return found


@dataclass(frozen=True)
class RememberingReader(reference.Reader):
    """The reference on one document, which looks for each term once."""

    found: dict[tuple[Terms, str], dict[PositionSpan, frozenset[Range]]] = field(default_factory=dict)

    def terms(self, node: Terms, name: str) -> dict[PositionSpan, frozenset[Range]]:
        known = self.found.get((node, name))
        if known is None:
            known = self.found[node, name] = super().terms(node, name)
        return known

    def hit(self, node: Node, names: Names) -> tuple[tuple[str, ...], dict[str, list[Range]]]:
        """Names and highlights of a query that is true."""
        return tuple(dict.fromkeys(self.named(node, names))), self.highlights(node, names)


@dataclass
class Duel:
    """The findings of one run. One document of `share` is asked alone, too, and compared with highlights."""

    seed: int
    share: int
    pairs: int = 0
    hits: int = 0
    highlighted: int = 0
    differences: int = 0
    nodes: dict[str, Node] = field(default_factory=dict)

    def round(self, number: int) -> None:
        """One library from its first query to its last state."""
        start = 1_000_000 * self.seed + number
        chance, schema = random.Random(start), schema_of(number)
        texts = list(dict.fromkeys(map(to_text, drawn(whole.filter(executable), TEXTS, 2000 * start))))
        documents = [
            with_new_words(one, chance) for one in drawn(whole_documents, DOCUMENTS, 2000 * start + 1000)
        ]
        self.nodes = {text: parse(text) for text in texts}
        cuts = [len(documents) * part // (STATES + PINS) for part in range(STATES + PINS + 1)]
        chunks = iter([documents[low:high] for low, high in pairwise(cuts)])
        held: Held = {}
        pins = []
        with (
            TemporaryDirectory() as name,
            patch.object(writer, "MOST_IN_LOG", 40),
            patch.object(matcher, "TIMED", 3),
            patch.object(matcher, "SurfaceWords", lambda _: SurfaceWords(WORDS)),
            patch.object(surface, "LETTERS_A_WORD", LETTERS_A_WORD),
            # What a term asks of a word is computed once, not at every document.
            patch.object(reference, "_tests", cache(reference._tests)),
            patch.object(reference, "pieces", cache(reference.pieces)),
        ):
            path = Path(name) / "library"
            library = Library.create(path, schema, disk=UnsyncedDisk(), kept=1000)
            reader = Reader.open(path)
            changes: list[Change] = [("load", [self.query(chance, f"q{id_}", texts) for id_ in range(IDS)])]
            for _ in range(STATES):
                for change in changes:
                    do(library, change, held)
                    held = expected(held, change)
                    if change == ("reopen",):
                        library.close()
                        library = Library.open(path, disk=UnsyncedDisk(), kept=1000)
                pins.append((library.pin, held))
                if chance.random() < 0.5:
                    self.judge(library.queries, held, next(chunks), number)
                else:
                    assert reader.refresh() == library.pin
                    self.judge(reader.queries, held, next(chunks), number)
                changes = [self.change(chance, texts) for _ in range(chance.randrange(1, 6))]
            library.close()
            for pin, then in chance.sample(pins, PINS):
                self.judge(Reader.open(path, pin).queries, then, next(chunks), number)

    def query(self, chance: random.Random, id_: str, texts: Sequence[str]) -> StandingQuery:
        """A query of one of these texts, sometimes of one that is none."""
        return StandingQuery(
            id_,
            chance.choice(BAD) if chance.random() < 0.03 else chance.choice(texts),
            chance.choice([None, None, None, 1, 2, 3]),
            chance.choice([{}, {}, {}, {"source": ("a",)}, {"source": ("b", "c"), "desk": ("x",)}]),
            chance.choice([(), ("t",)]),
            chance.choice([0, 5]),
            chance.choice([NEVER, NEVER, NEVER, *TIMES]),
        )

    def change(self, chance: random.Random, texts: Sequence[str]) -> Change:
        """A change of a library."""
        some = f"q{chance.randrange(IDS + 40)}"
        match chance.choice(
            ["load", "load", "add", "add", "remove", "remove", "expire", "compact", "reopen"]
        ):
            case "load":
                ids = [f"q{chance.randrange(IDS + 40)}" for _ in range(chance.choice([3, 12, 60]))]
                return ("load", [self.query(chance, id_, texts) for id_ in ids])
            case "add":
                return ("add", self.query(chance, some, texts))
            case "remove":
                return ("remove", some)
            case "expire":
                return ("expire", chance.choice(TIMES)) if chance.random() < 0.3 else ("remove", some)
            case "compact":
                return ("compact", chance.random() < 0.5)
            case _:
                return ("reopen",)

    def judge(self, queries: Collection, held: Held, documents: Sequence[Document], number: int) -> None:
        """Compares the answers to documents that are new to the run."""
        assert {query.id: query for query in queries} == held
        ids = sorted(held)
        metadata = [
            ({}, {"source": "a"}, {"source": "c", "desk": "x"})[at % 3] for at in range(len(documents))
        ]
        times = [(9, 10, 25, 40)[at // 3 % 4] for at in range(len(documents))]
        storable = [at for at, row in enumerate(documents) if row.get("lang") != "\ud800"]
        raw = queries.match_batch(
            columns([documents[at] for at in storable]),
            {key: pa.array([metadata[at].get(key) for at in storable]) for key in ("source", "desk")},
            np.array([times[at] for at in storable]),
        )
        assert not raw.undecided
        batch: dict[int, set[str]] = {at: set() for at in storable}
        for row, place in zip(raw.document.tolist(), raw.query.tolist(), strict=True):
            batch[storable[row]].add(queries.query(place).id)
        self.pairs += len(documents) * len({query.query for query in held.values()})
        for at, document in enumerate(documents):
            judge = RememberingReader(document, queries.schema)
            true = {
                text: judge.true(self.nodes[text], queries.schema.default)
                for text in dict.fromkeys(query.query for query in held.values())
            }
            wanted = [
                id_
                for id_ in ids
                if true[held[id_].query]
                and times[at] < held[id_].expires
                and all(metadata[at].get(key) in values for key, values in held[id_].filter.items())
            ]
            self.hits += len(wanted)
            if at in batch:
                self.compare(set(wanted), batch[at], held, document, number)
            if at not in batch or at % self.share == 0:
                answer = shown(queries.match(document, metadata[at], times[at], highlight=True))
                self.compare(set(wanted), {id_ for id_, _, _ in answer}, held, document, number)
                self.compare_highlights(answer, judge, held, number)

    def compare(self, wanted: set[str], found: set[str], held: Held, document: Document, number: int) -> None:
        """The hits of one document."""
        for id_ in sorted(wanted ^ found):
            self.tell(number, "missed" if id_ in wanted else "extra", held[id_].query, document)

    def compare_highlights(
        self, answer: Highlighted, judge: RememberingReader, held: Held, number: int
    ) -> None:
        """Names and highlights of the hits of one document."""
        for id_, names, highlights in answer:
            self.highlighted += 1
            text = held[id_].query
            wanted = judge.hit(self.nodes[text], judge.schema.default)
            if (names, highlights) != wanted or list(highlights) != list(wanted[1]):
                self.tell(number, f"shown {names, highlights}, not {wanted}", text, judge.document)

    def tell(self, number: int, what: str, query: str, document: Mapping[str, Any]) -> None:
        """Writes a difference."""
        self.differences += 1
        print(f"round {number}: {what}: {query!r} on {document!r}", flush=True)


def rounds(first: int, count: int | None) -> Iterator[int]:
    """The numbers of the rounds that may be run."""
    number = first
    while count is None or number < first + count:
        yield number
        number += 1


def main() -> int:
    """Runs rounds until there are enough pairs, and tells after each what there is so far."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--pairs", type=int, default=10_000_000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--first", type=int, default=0, help="the round to begin with")
    arguments.add_argument("--rounds", type=int, default=None, help="at most so many")
    arguments.add_argument("--share", type=int, default=10, help="of so many documents one with highlights")
    options = arguments.parse_args()
    load()
    duel, begin = Duel(options.seed, options.share), time.process_time()
    for number in rounds(options.first, options.rounds):
        if duel.pairs >= options.pairs:
            break
        try:
            duel.round(number)
        except Exception:
            duel.differences += 1
            print(f"round {number} broke off:\n{traceback.format_exc()}", flush=True)
        print(
            f"round {number}: {duel.pairs:,} pairs, {duel.hits:,} hits, {duel.highlighted:,} highlighted, "
            f"{duel.differences} differences, {time.process_time() - begin:.0f} s",
            flush=True,
        )
    return 1 if duel.differences else 0


if __name__ == "__main__":
    sys.exit(main())
