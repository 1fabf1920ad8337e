"""Segments on disk: mapped, shared, versioned; and what they cost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from percolator_duel import pairs, segment_of

from percolator.build import SegmentBuilder
from percolator.matching.compiled import load
from percolator.matching.matcher import Matcher
from percolator.query.parse import parse
from percolator.schema import Schema
from percolator.segment import QuerySegment, SegmentError

SCHEMA = Schema.of({"title": "text", "body": "text english", "price": "number", "lang": "keyword"})
GOLDEN = Path(__file__).parent / "data" / "segment_version_1.bin"
QUERIES = {
    "é": 'recall* OR "product fire"~5',
    "near": "(a OR b*) NEAR/2 c AND NOT title:d",
    "values": "price:[1 TO 5} lang:(en OR d*) body:{WHO} gate~1",
    "rest": "2 of (x, /y+/, title:*, sentence(a, b), first/3 z)",
}
DOCUMENTS = [
    ({"title": "Recalling", "body": "fire of the product"}, ["é"]),
    ({"title": "b c", "body": "A bad c"}, ["near"]),
    ({"body": "WHO gates", "price": 3, "lang": "de"}, ["values"]),
    ({"title": "", "body": "yyy a. b"}, ["rest"]),
]


def _golden() -> QuerySegment:
    builder = SegmentBuilder(SCHEMA)
    for id_, text in QUERIES.items():
        builder.add(id_, parse(text), {"country": ["uk"]} if id_ == "é" else None)
    return builder.segment()


def _ids(matcher: Matcher, document: dict[str, object]) -> list[str]:
    return [matcher.id_of(query) for query in matcher.match(document, {"country": "uk"}).query]


def test_files_of_this_version_are_read_for_good(tmp_path: Path) -> None:
    """Whoever changes what a segment holds raises its version, and keeps a file of the new one here."""
    segment = QuerySegment.open(GOLDEN)
    matcher = Matcher(SCHEMA, [segment])
    assert segment.ids() == list(QUERIES)
    assert [_ids(matcher, document) for document, _ in DOCUMENTS] == [ids for _, ids in DOCUMENTS]
    _golden().save(tmp_path / "segment")
    assert (tmp_path / "segment").read_bytes() == GOLDEN.read_bytes()


def test_an_opened_segment_answers_as_the_one_that_was_built(tmp_path: Path) -> None:
    built = _golden()
    built.save(tmp_path / "segment")
    opened = QuerySegment.open(tmp_path / "segment")
    assert (len(opened), opened.fields, opened.regexes) == (len(built), built.fields, built.regexes)
    for engine in (None, load()):
        matcher = Matcher(SCHEMA, [opened], engine=engine)
        assert [_ids(matcher, document) for document, _ in DOCUMENTS] == [ids for _, ids in DOCUMENTS]
    with pytest.raises(ValueError, match="read-only"):
        opened.ints[0] = 1


def test_what_is_no_whole_segment_of_this_version_is_refused(tmp_path: Path) -> None:
    whole = GOLDEN.read_bytes()
    for data, message in (
        (b"", "not a segment"),
        (b"PK\x03\x04" + whole[4:], "not a segment"),
        (whole[:8] + b"\x02" + whole[9:], "a segment of version 2; this program reads 1"),
        (whole[:-100], "cut short"),
        (whole[:40], "cut short"),
    ):
        path = tmp_path / "segment"
        path.write_bytes(data)
        with pytest.raises(SegmentError, match=message):
            QuerySegment.open(path)


def test_a_segment_of_another_schema_is_refused() -> None:
    other = Schema.of({"title": "text english"})
    with pytest.raises(ValueError, match="built over other fields"):
        Matcher(other, [_golden()])


def test_replacing_a_file_disturbs_nobody_who_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    _golden().save(path)
    matcher = Matcher(SCHEMA, [QuerySegment.open(path)])
    segment_of([parse("x")], SCHEMA).save(path)
    assert [_ids(matcher, document) for document, _ in DOCUMENTS] == [ids for _, ids in DOCUMENTS]
    assert len(QuerySegment.open(path)) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["segment"]


@pytest.mark.slow
def test_short_queries_cost_about_a_hundred_bytes(tmp_path: Path) -> None:
    source = random.Random(1)

    def word() -> str:
        return f"word{int(5000 ** source.random())}"

    forms = ("{} AND {}", '"{} {}"', "{} {} NOT {}", "{}* AND {}", "{} NEAR/5 {}", "{} OR ({} AND {})")
    queries = [
        parse(form.format(*(word() for _ in range(form.count("{}")))))
        for form in (source.choice(forms) for _ in range(10_000))
    ]
    segment_of(queries, SCHEMA).save(tmp_path / "segment")
    assert (tmp_path / "segment").stat().st_size < 150 * len(queries)


def test_places_go_on_from_segment_to_segment() -> None:
    segment = segment_of([parse(f"w{n}") for n in range(300)], SCHEMA)
    matcher = Matcher(SCHEMA, [segment, segment])
    assert [matcher.id_of(query) for _, query in pairs(matcher.match({"body": "w299 w7"}))] == [
        "w7",
        "w299",
    ] * 2
    with pytest.raises(IndexError):
        matcher.id_of(600)
