"""Documents a second through standing queries: one core, documents never seen before, words split.

    python benchmarks/percolator_match.py [--data FOLDER] [--workloads mix luwak analysts life worst]

`mix` is generated: boolean, phrase, NOT, wildcard and NEAR queries over words drawn by Zipf's law, documents
of 196 words. `luwak` and `analysts` are queries that people wrote, on 999 articles; the analysts' need FOLDER
(queries/sdg_queries_7972.jsonl.gz), which the project may not ship. Of 196 words of every document 12 are
new: nobody saw them before, nor will again. Half of the documents warm up; a figure is the median of batches
of the others, in processor time. `again` are documents that were just matched. The calibration says how fast
the moment was, the mean of before and after: `findall` of words and a dict for a document of 668 words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import wikipedia
from unseen import VOCABULARY, Corpus, NewWords, renewed

from percolator.build import SegmentBuilder, build
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.errors import QueryError
from percolator.query.parse import parse
from percolator.query.tree import Node
from percolator.schema import Schema
from percolator.segment import QuerySegment

SCHEMA = Schema.of({"body": "text"})
BATCH = 1000
RUNS = 12
ALONE = 500


def main() -> None:
    """Prints one table after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--queries", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    arguments.add_argument("--workloads", nargs="+", default=["mix", "luwak", "analysts", "life", "worst"])
    options = arguments.parse_args()
    start = time.process_time()
    load()
    print(f"kernel loaded in {time.process_time() - start:.2f} s")
    corpus = Corpus(1)
    if "mix" in options.workloads:
        print(HEAD)
        for count in options.queries:
            mix(count, corpus)
    if "luwak" in options.workloads:
        print(HEAD)
        people("luwak", wikipedia.queries())
    if "analysts" in options.workloads and options.data is not None:
        print(HEAD)
        people("analysts", analysts(options.data))
    if "life" in options.workloads:
        life(corpus)
    if "worst" in options.workloads:
        worst(corpus)


HEAD = (
    "\nworkload        queries  parse us  build us  B/query   again  unseen   one p50  one p99 us  hits/doc"
    "  private MB  open ms  findall us"
)


def calibrate() -> float:
    """Microseconds of `findall` and a dict for 668 words."""
    corpus = Corpus(0)
    text = " ".join(" ".join(corpus.texts(4)).split()[:668])
    known = dict.fromkeys(corpus.words, 1)
    find = re.compile(r"\w+").findall
    return 1e6 * best(lambda: [known.get(word) for word in find(text)], 100)


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def mixed_queries(count: int, corpus: Corpus, source: random.Random) -> list[str]:
    """Boolean, phrase, NOT, wildcard and NEAR queries; phrases are taken from documents."""
    texts = [text.replace(",", "").replace(".", "").lower().split() for text in corpus.texts(2000)]
    words = corpus.words

    def word() -> str:
        return words[int(200 * (VOCABULARY / 200) ** source.random())]

    def phrase(length: int) -> str:
        text = source.choice(texts)
        start = source.randrange(len(text) - length)
        return " ".join(text[start : start + length])

    def one() -> str:
        kind = source.randrange(10)
        if kind < 3:
            return f"{word()} AND {word()}"
        if kind == 3:
            return f"{word()} AND ({word()} OR {word()})"
        if kind < 6:
            return f'"{phrase(2 + source.randrange(2))}"'
        if kind == 6:
            return f"{word()} {word()} NOT {word()}"
        if kind == 7:
            return f"{word()[:4]}* AND {word()}"
        if kind == 8:
            return f"{word()} NEAR/5 {word()}"
        return f'{word()} OR ("{phrase(2)}" AND {word()} AND NOT ({word()} OR {word()}))'

    return [one() for _ in range(count)]


def mix(count: int, corpus: Corpus) -> None:
    """The generated queries."""
    queries = mixed_queries(count, corpus, random.Random(count))
    batches = [corpus.texts(BATCH) for _ in range(RUNS)]
    measure("mix", queries, corpus.texts(2000), batches, corpus.texts(ALONE))


def measure(
    name: str,
    queries: Sequence[str],
    sample: Sequence[str],
    batches: Sequence[Sequence[str]],
    alone: Sequence[str],
) -> None:
    """One row: the first half of the batches warms up, the others and those passed alone are new."""
    segment, parse_time, build_time = built(queries, sample)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "segment"
        segment.save(path)
        opened = best(lambda: QuerySegment.open(path))
        size = path.stat().st_size / len(segment)
        matcher = Matcher(SCHEMA, [QuerySegment.open(path)])
        columns = [{"body": pa.array(batch, pa.string())} for batch in batches]
        for column in columns[: len(columns) // 2]:
            matcher.match_batch(column)
        before = calibrate()
        taken, singles, hits, documents = [], [], 0, 0
        for column in columns[len(columns) // 2 :]:
            start = time.process_time()
            hits += len(matcher.match_batch(column).query)
            taken.append((time.process_time() - start) / len(column["body"]))
            documents += len(column["body"])
        again = best(lambda: matcher.match_batch(columns[-1])) / len(batches[-1])
        for text in alone:
            start = time.process_time()
            matcher.match({"body": text})
            singles.append(1e6 * (time.process_time() - start))
        print(
            f"{name:<14}{len(segment):>9}{parse_time:>10.1f}{build_time:>10.1f}{size:>9.0f}"
            f"{1 / again:>8.0f}{1 / np.median(taken):>8.0f}"
            f"{np.percentile(singles, 50):>10.0f}{np.percentile(singles, 99):>12.0f}{hits / documents:>10.2f}"
            f"{matcher.nbytes / 1e6:>12.0f}{1e3 * opened:>9.1f}{(before + calibrate()) / 2:>12.0f}",
            flush=True,
        )


def built(queries: Sequence[str], sample: Sequence[str]) -> tuple[QuerySegment, float, float]:
    """A segment, and the microseconds a query of parsing and of the rest."""
    start = time.process_time()
    nodes: list[Node] = []
    for text in queries:
        try:
            nodes.append(parse(text))
        except QueryError as problem:
            print("refused:", problem, text[:80])
    parsed = time.process_time()
    builder = SegmentBuilder(SCHEMA)
    for number, node in enumerate(nodes):
        builder.add(str(number), node)
    segment = builder.segment({"body": pa.array(sample, pa.string())})
    end = time.process_time()
    return segment, 1e6 * (parsed - start) / len(queries), 1e6 * (end - parsed) / len(queries)


def analysts(folder: Path) -> list[str]:
    """The analysts' queries in this language."""
    path = folder / "queries" / "sdg_queries_7972.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [translated(json.loads(line)["query"]) for line in lines]


_THEIRS = re.compile(r'\\?"((?:[^"\\]|\\[^"])*)\\?"|<([^>]*)>|\{([^}]*)\}|\bW/(\d+)')
_NO_PHRASE = re.compile(r'[\\"{}]')
_BY_NUMBER = re.compile(r"\\u([0-9a-f]{4})")


def translated(text: str) -> str:
    """One query of theirs: `W/n` is NEAR/n, `<x>` and `{x}` are phrases; two are escaped twice."""

    def one(found: re.Match[str]) -> str:
        if found[4]:
            return f" NEAR/{found[4]} "
        inner = next(group for group in found.groups() if group is not None)
        inner = _BY_NUMBER.sub(lambda code: chr(int(code[1], 16)), inner)
        return ' "' + _NO_PHRASE.sub(" ", inner) + '" '

    return _THEIRS.sub(one, text)


def people(name: str, queries: Sequence[str]) -> None:
    """Queries that people wrote, on the 999 articles."""
    texts, new = wikipedia.articles(), NewWords(1)
    batches = [[renewed(text, new) for text in texts] for _ in range(RUNS // 2)]
    measure(name, queries, texts[::3], batches, [renewed(text, new) for text in texts[::2]])


def life(corpus: Corpus) -> None:
    """Adding, removing, and what one document then costs, at 100,000 queries."""
    queries = mixed_queries(101_000, corpus, random.Random(5))
    segment, _, _ = built(queries[:100_000], corpus.texts(2000))
    matcher = Matcher(SCHEMA, [segment])
    for _ in range(6):
        matcher.match_batch({"body": pa.array(corpus.texts(BATCH), pa.string())})
    added, removed, single = [], [], []
    nodes = [(str(number), parse(text)) for number, text in enumerate(queries[100_000:])]
    for number in range(300):
        # The small segment of what changed lately is made anew; with sixteen queries it would be merged.
        start = time.process_time()
        matcher.use([segment, build(nodes[number - number % 16 : number + 1], SCHEMA)])
        added.append(time.process_time() - start)
        start = time.process_time()
        matcher.kill([number])
        removed.append(time.process_time() - start)
        (text,) = corpus.texts(1)
        start = time.process_time()
        matcher.match({"body": text})
        single.append(time.process_time() - start)
    print("\nat 100,000 queries   p50 us  p99 us")
    for name, taken in (("add", added), ("remove", removed), ("one document", single)):
        print(f"{name:<20}{1e6 * np.percentile(taken, 50):>7.0f}{1e6 * np.percentile(taken, 99):>8.0f}")


def worst(corpus: Corpus) -> None:
    """Microseconds a document of what is asked only to hurt."""
    words = corpus.words
    texts = corpus.texts(BATCH)

    def phrase(number: int) -> str:
        return f'"{words[number]} {words[number * 7 % 900]}"'

    def group(first: int) -> str:
        return " OR ".join(f"{word[:3]}*" for word in words[first : first + 50])

    cases: dict[str, tuple[list[str], list[str]]] = {
        "an OR of 500 phrases": ([" OR ".join(phrase(n) for n in range(500))], texts),
        "NEAR of two groups of 50 wildcards": ([f"({group(300)}) NEAR/5 ({group(500)})"], texts),
        "10,000 NOT-only queries": ([f"NOT {words[n % 60_000]}" for n in range(10_000)], texts),
        "100,000 queries on one common word": (
            [f"{words[3]} AND {words[200 + n % 59_000]}" for n in range(100_000)],
            texts,
        ),
        "20,000 hits": ([words[0]] * 20_000, [f"{words[0]} {text}" for text in texts[:100]]),
        "1,000 regular expressions (x+x+)+y": (
            [f"/(x+x+)+y{n}/" for n in range(1000)],
            ["x" * 50 + " " + text for text in texts[:50]],
        ),
        "20,000 wildcards *x*": ([f"*{word[1:5]}*" for word in words[2000:22_000]], texts[:100]),
        "1,000 nested NEARs of common words": (
            [
                f"(({words[n % 30]} NEAR/9 {words[n % 29]}) NEAR/9 {words[n % 23]}) NEAR/9 {words[n % 19]}"
                for n in range(1000)
            ],
            texts,
        ),
        "a document of 50 KB": (
            [f"{word} AND {words[5]}" for word in words[:10_000]],
            [" ".join(texts[:48])],
        ),
    }
    print("\nworst cases                               us a document (new words / known words)")
    for name, (queries, documents) in cases.items():
        matcher = Matcher(SCHEMA, [built(queries, texts[:200])[0]], engine=load())
        column = {"body": pa.array(documents, pa.string())}
        start = time.process_time()
        matcher.match_batch(column)
        first = time.process_time() - start
        again = best(lambda matcher=matcher, column=column: matcher.match_batch(column))  # type: ignore[misc]
        print(
            f"{name:<40}{1e6 * first / len(documents):>10.0f} /{1e6 * again / len(documents):>8.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
