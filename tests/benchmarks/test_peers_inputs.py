"""What the peers and we are given is new every turn, the same for both sides, and means the same to both."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from percolator.query.parse import parse
from percolator.words import split

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")


def written(path: Path) -> Iterator[dict[str, object]]:
    return map(json.loads, path.read_text("ascii").splitlines())


def test_a_turn_repeats_no_other_and_the_same_seed_repeats_it(tmp_path: Path) -> None:
    from peers import strict

    feed, turns = strict.Feed(500, 50, seed=3), []
    for turn in (0, 1):
        first = feed.write(tmp_path / "events.jsonl", turn)
        events = list(written(tmp_path / "events.jsonl"))
        assert events[0]["ts"] == strict.instant(first)
        assert all(a["ts"] < b["ts"] for a, b in pairwise(events))  # type: ignore[operator]
        turns.append(events)
    assert turns[0][-1]["ts"] < turns[1][0]["ts"]  # type: ignore[operator]
    assert {one["eid"] for one in turns[0]}.isdisjoint(one["eid"] for one in turns[1])
    assert [one["price"] for one in turns[0]] != [one["price"] for one in turns[1]]
    again = tmp_path / "again.jsonl"
    strict.Feed(500, 50, seed=3).write(again, 1)
    assert list(written(again)) == turns[1]
    strict.Feed(500, 50, seed=3).write(again, 1, most=20)
    assert list(written(again)) == turns[1][:20]


@pytest.mark.slow
def test_our_side_writes_the_alerts_that_a_plain_loop_finds(tmp_path: Path) -> None:
    import strict_events
    from peers import alerts, strict
    from peers.ours.engine import Engine

    engine, feed = Engine(strict.pack(strict.rules(1))), strict.Feed(3_000, 200, seed=5)
    for turn in (0, 1):
        path, out = tmp_path / f"events-{turn}.jsonl", tmp_path / f"alerts-{turn}.jsonl"
        first = feed.write(path, turn)
        with out.open("wb") as lines:
            raised = sum(engine.advance(batch, lines) for batch in engine.batches(path, batch=1 << 16))
        found = alerts.ours(out)
        assert raised == found.total() == strict_events.matches([path])
        for rule, key, time, *ids in found:
            assert rule == "strict0"
            assert key.startswith("k")
            assert ids[2] == f"e{turn}-{time - first}"


@pytest.mark.slow
def test_every_rule_raises_alerts_of_its_own(tmp_path: Path) -> None:
    from peers import alerts, strict
    from peers.ours.engine import Engine

    engine, path, out = (
        Engine(strict.pack(strict.rules(10))),
        tmp_path / "events.jsonl",
        tmp_path / "alerts.jsonl",
    )
    strict.Feed(1_000, 100, seed=5).write(path, 0)
    with out.open("wb") as lines:
        for batch in engine.batches(path):
            engine.advance(batch, lines)
    assert {rule for rule, *_ in alerts.ours(out)} == {rule.name for rule in strict.rules(10)}


@pytest.mark.parametrize("rare", [False, True])
def test_no_two_rules_are_equal_and_each_begins_runs(rare: bool) -> None:
    from peers import strict

    found = strict.rules(100, rare)
    assert len({(rule.low, rule.more) for rule in found}) == len({rule.name for rule in found}) == 100
    assert all(rule.low > 0 < rule.more and rule.low + rule.more < 100 for rule in found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Generated", "Sentences"])
def test_a_document_has_196_words_of_which_12_are_new(kind: str) -> None:
    from peers import documents

    source = getattr(documents, kind)(7)
    vocabulary = set(source.corpus.words) if kind == "Generated" else {w for s in source.sentences for w in s}
    known = {word.lower() for text in vocabulary for word in split(text)}
    for text in source.texts(50):
        words = split(text)
        assert text.isascii()
        assert len(words) == documents.WORDS
        new = {word.lower() for word in words} - known
        assert len(new) == documents.NEW
        known |= new


@pytest.mark.slow
def test_documents_of_a_seed_are_the_same_again() -> None:
    from peers.documents import Generated, Sentences

    for kind in (Generated, Sentences):
        assert kind(7).texts(3) == kind(7).texts(3) != kind(8).texts(3)


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("Apple", ["word", "apple"]),
        ("recall*", ["prefix", "recall"]),
        ("w?men OR a*b*", ["or", ["wildcard", "w?men"], ["wildcard", "a*b*"]]),
        ("co-op", ["phrase", ["word", "co"], ["word", "op"]]),
        ('"poverty line*"', ["phrase", ["word", "poverty"], ["prefix", "line"]]),
        ('"apple"', ["word", "apple"]),
        ("a b NOT c", ["and", ["word", "a"], ["word", "b"], ["not", ["word", "c"]]]),
        ("a NEAR/5 a", ["near", 5, True, ["word", "a"], ["word", "a"]]),
        ("a NEAR/5 b", ["near", 5, False, ["word", "a"], ["word", "b"]]),
        ("a ONEAR/5 (b OR c)", ["near", 5, True, ["word", "a"], ["or", ["word", "b"], ["word", "c"]]]),
    ],
)
def test_a_tree_becomes_a_list_of_the_same_words_and_logic(query: str, form: list[object]) -> None:
    from peers import lucene_queries

    assert lucene_queries.form(parse(query)) == form


@pytest.mark.slow
def test_every_query_that_is_compared_has_a_form_for_lucene() -> None:
    import percolator_match
    import wikipedia
    from peers import lucene_queries

    mixed = percolator_match.mixed_queries(500, percolator_match.Corpus(1), random.Random(1))
    for query in (*mixed, *wikipedia.queries()):
        assert lucene_queries.form(parse(query))


@pytest.mark.parametrize("query", ["/a.b/", "{WHO}", '"a b"~3', "a~1", "2 of (a, b, c)"])
def test_a_query_that_has_no_form_is_refused_rather_than_changed(query: str) -> None:
    from peers import lucene_queries

    with pytest.raises(ValueError, match=r"no list for|with slop"):
        lucene_queries.form(parse(query))
