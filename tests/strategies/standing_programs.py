"""Packs with standing queries over random documents: what both engines are asked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from rules.packs import load
from rules.typed import Pack

SECOND = 1_000_000_000
STREAMS = """pack p version "1"

stream article {
  url: string  title: text  body: text english?  source: string  langs: list<string>  words: long?
  at: timestamp  id url  time at  lateness 1 hour
}
stream payment { pid: string  source: string  words: long  at: timestamp  id pid  time at  lateness 1 hour }
queries w { from "w.jsonl" }
queries v { from "v.jsonl" }
"""
RULES = """
on article matching w  emit url, query, tags, priority, names, body
on article matching w["x" in tags and title matches "a"]  by source, query  emit words
on article matching v[priority > 0]  emit query
by source  match hit: article matching w["x" in tags]{2,}?  having distinct(hit.query) >= 2  within 9s  emit source, q = list(hit.query), t = list(hit.tags)
by source  match a: article matching w["x" in tags] -> not article matching w["y" in tags] -> b: article matching w  within 9s  emit q = a.query, r = b.query, n = b.names
by source  match a: article matching w => b: article matching w[query != a.query]  within 9s  skip none
by query  over article matching w sliding 5s  having count() > 0  emit query, n = count(), p = previous(count()), t = last(tags), s = first(names)
by source  over article matching w["x" in tags] tumbling 3s  having distinct(query) > 0  emit source, m = max(priority), q = last(query), d = distinct(query), a = count(title matches "a")
over article matching v last 3 events  having last(query) != first(query) or count() == 1  emit q = last(query), p = previous(count()), w = sum(words)
by source  over article[title matches "a OR b" or body matches "run*"] session gap 3s  having count(body matches "a") > 0  emit n = count(), r = count(title matches "ran")
by source  match h: article matching w -> d: article[title matches "a OR b"] => p: payment  within 9s
by source  match d: article => h: article matching w+ contiguous  within 9s  emit n = count(h), f = first(h.query), l = last(h.query)
by source  match p: payment -> absent article matching w for 3s  within 9s  emit n = p.words
by source  match absent article matching w for 2s -> h: article matching v  within 9s  emit q = h.query
match h: article matching w ~> k: article matching v[prev(query) is not null]  within 9s  emit q = h.query, other = k.query
by query  match h: article matching w{2}  within 9s  emit query, t = last(h.title), n = sum(h.priority)
by query  match (h: article matching w & k: article matching v)  within 9s
""".strip().splitlines()  # noqa: E501
WORDS = ("a", "b", "c", "running", "ran", "É")
IDS = ("d1", "d 2", "d\\", "d\\ 2")


def _joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from((" ", " AND ", " OR ")), inner).map(
            lambda t: f"({t[0]}{t[1]}{t[2]})"
        ),
        inner.map(lambda q: f"NOT {q}"),
        st.tuples(st.sampled_from(("risk", "gain")), inner).map(lambda t: f"{t[0]} = ({t[1]})"),
    )


_LEAVES = st.sampled_from(
    (
        *WORDS, "run*", "*n", '"a b"', "a NEAR/1 c", "title:a", "body:runs", "title:*", "*:*", "{É}",
        "words:[2 TO 3]", "words:>=4", "source:s1", "langs:en", "at:1970-01-01T00:00:05Z", "2 of (a, b, c)",
    )
)  # fmt: skip
_BROKEN = ('"a', "(", "", "nothing:a", "a NEAR", "words:x")
QUERIES = st.recursive(_LEAVES, _joined, max_leaves=3)
_FILTERS = st.sampled_from(
    (
        None,
        None,
        {"source": ["s1"]},
        {"langs": ["en", "de"]},
        {"words": "3"},
        {"source": "s1", "langs": ["en"]},
    )
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A file of queries; some lines are none."""
    found = []
    for number in range(draw(st.integers(1, 6))):
        query: dict[str, object] = {
            "id": draw(st.sampled_from((f"q{number}", f"q{number}", "q 0", "Q"))),
            "query": draw(st.one_of(QUERIES, QUERIES, QUERIES, st.sampled_from(_BROKEN))),
        }
        optional = {
            "tags": st.sampled_from((None, ["x"], ["y"], ["x", "y"])),
            "filter": _FILTERS,
            "priority": st.sampled_from((None, -1, 2)),
            "expires": st.sampled_from((None, None, None, "1970-01-01T00:00:06Z")),
            "version": st.sampled_from((None, None, 1, 2)),
        }
        chosen = {name: draw(values) for name, values in optional.items()}
        found.append(json.dumps({**query, **{k: v for k, v in chosen.items() if v is not None}}))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(st.sampled_from(("", "{", '{"id": "q9"}'))))
    # One that is good and hits nothing: a file without queries is refused.
    return "\n".join([*found, '{"id": "zz", "query": "unheardof"}'])


Came = tuple[str, int, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Standing:
    """`rules` and the lines of both files; events as (stream, seconds, values) in batches.

    After the batches in `restarts` all but the snapshot is lost.
    """

    rules: tuple[str, ...]
    files: tuple[str, str]
    batches: tuple[tuple[Came, ...], ...]
    restarts: frozenset[int]
    shards: int
    compiled: bool = False

    def pack(self, folder: Path) -> Pack:
        """The pack, written into a folder and loaded from there."""
        text = STREAMS + "".join(f"rule r{n} {{ {rule} }}\n" for n, rule in enumerate(self.rules))
        (folder / "p.rules").write_text(text, "utf-8")
        for name, content in zip("wv", self.files, strict=True):
            (folder / f"{name}.jsonl").write_text(content, "utf-8")
        return load([folder / "p.rules"]).need()


@st.composite
def events(draw: st.DrawFn) -> Came:
    """One event."""
    at = draw(st.integers(0, 12))
    source = draw(st.sampled_from(("s1", "s2")))
    if draw(st.integers(0, 4)) == 0:
        pid = draw(st.sampled_from(("p1", "p2", "p3")))
        return "payment", at, {"pid": pid, "source": source, "words": draw(st.integers(1, 4))}
    text = st.lists(st.sampled_from((*WORDS, "RUNS")), max_size=4).map(" ".join)
    values = {
        "url": draw(st.sampled_from(IDS)),
        "title": draw(text),
        "body": draw(st.none() | text),
        "source": source,
        "langs": draw(st.lists(st.sampled_from(("en", "de", "fr")), max_size=2)),
        "words": draw(st.none() | st.integers(1, 5)),
    }
    return "article", at, values


def _redelivered_alike(came: Sequence[Came]) -> list[Came]:
    """The same events; what comes again with its id and time says what it said the first time.

    If it said something else, the engine would keep the first that some rule wants (docs/feeds.md).
    """
    first: dict[object, Came] = {}
    return [first.setdefault((one[0], one[1], one[2].get("url", one[2].get("pid"))), one) for one in came]


@st.composite
def standing_programs(draw: st.DrawFn, compiled: bool = False) -> Standing:
    """Random programs."""
    rules = tuple(draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=3, unique=True)))
    came = _redelivered_alike(draw(st.lists(events(), min_size=1, max_size=9)))
    cuts = sorted(draw(st.sets(st.integers(1, len(came)), max_size=2)))
    batches = tuple(tuple(came[a:b]) for a, b in itertools.pairwise([0, *cuts, len(came)]) if a < b)
    restarts = draw(st.frozensets(st.integers(0, len(batches) - 1), max_size=2))
    files = (draw(lines()), draw(lines()))
    return Standing(rules, files, batches, restarts, draw(st.sampled_from((1, 3))), compiled)
