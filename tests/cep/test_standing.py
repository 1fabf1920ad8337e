"""Files of standing queries: what is said of their lines, what a hit is, where compiled sets stand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from cep.events import MAX_TIME, hit_id
from cep.inprocess.engines import engine
from cep.inprocess.rows import line_events
from cep.job.batches.deployed_packs import differing_queries
from cep.packs.compile import compile_plan
from cep.plan.plan import hit_streams
from cep.standing import findings as told
from cep.standing.compiled import UnreadableError, compiled, name_of
from cep.standing.findings import findings
from cep.standing.store import QueryStore
from rules.diagnostics import Diagnostic
from rules.packs import load, load_texts
from rules.query_files import with_contents
from rules.render import render_all
from rules.typed import Pack

STREAM = """stream article {
  url: string  title: text  lang: string?  words: long?  paid: boolean?  score: double?  topics: list<string>?
  device: { os: string }?  at: timestamp  id url  time at
}
"""
RULE = "rule r { on article matching w  emit query, tags, priority, names }\n"


def pack_in(folder: Path, *lines: object, name: str = "w.jsonl", rules: str = RULE) -> Pack:
    """The pack of a folder, its queries being these objects, or texts as they are."""
    return load([written(folder, *lines, name=name, rules=rules)]).need()


def written(folder: Path, *lines: object, name: str = "w.jsonl", rules: str = RULE) -> Path:
    folder.mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    data = "\n".join(texts).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    (folder / "p.rules").write_text(
        f'pack p version "1"\n{STREAM}queries w {{ from "{name}" }}\n{rules}', "utf-8"
    )
    return folder


def hits(pack: Pack, document: Mapping[str, object]) -> list[str]:
    """The ids of the queries that hit a document of 2026-01-05T09:00Z, the same by both engines."""
    event = {"url": "u", "title": "", "at": "2026-01-05T09:00:00Z", **document}
    found = []
    for name in ("compiled", "reference"):
        running = engine(name, [pack], one_partition=True)
        events, refused = line_events(pack, [(0, "article", json.dumps(event).encode())])
        assert not refused
        raised = [*running.feed(events, MAX_TIME), *running.finish()]
        found.append([str(one.alert.emit["query"]) for one in raised])
    assert found[0] == found[1]
    return found[0]


def at(found: Diagnostic) -> tuple[str, str, int, int]:
    assert found.span is not None
    return found.code, Path(found.span.file.name).name, found.span.line, found.span.column


def test_a_bad_line_is_told_at_its_place_and_the_rest_loads(tmp_path: Path) -> None:
    pack = pack_in(
        tmp_path,
        {"id": "q1", "query": "recall"},
        '{"id": "q2", "query": "\\u00e9 \\"a b\\" AND ("}',
        "",
        "{",
        {"id": "q5", "query": "price:3"},
        {"id": "q1", "query": "again"},
        {"id": "q7", "query": "NOT recall"},
    )
    found = findings(pack)
    column = len('{"id": "q2", "query": "\\u00e9 \\"a b\\" AND (')
    assert [at(d) for d in found] == [
        ("PQ03", "w.jsonl", 2, column),
        ("PQ21", "w.jsonl", 4, 1),
        ("PQ10", "w.jsonl", 5, len('{"id": "q5", "query": "p')),
        ("PQ22", "w.jsonl", 6, 1),
        ("CEP0864", "w.jsonl", 7, 1),
    ]
    assert {d.level for d in found} == {"warning"}
    assert found[0].labels[0].span.text == '"w.jsonl"'
    assert hits(pack, {"title": "a recall"}) == ["q1"]
    assert hits(pack, {"title": "no other"}) == ["q7"]


def test_of_a_line_no_more_is_drawn_than_its_place_needs(tmp_path: Path) -> None:
    secret = "TOPxSECRETxVALUE"
    long = "word " * 40
    pack = pack_in(
        tmp_path,
        f"AWS_SECRET_ACCESS_KEY={secret}",
        {"id": "q1", "query": f"({long}{secret}", "tags": [secret]},
        {"id": "q2", "query": f"{secret} {long} AND"},
        {"id": "q3", "query": "recall"},
    )
    found = findings(pack)
    assert [at(d)[0] for d in found] == ["PQ21", "PQ03", "PQ05"]
    drawn = render_all(found)
    assert secret not in drawn
    assert "AWS_" in drawn
    assert "word word word" in drawn


def test_what_hides_in_another_member_is_not_taken_for_the_query(tmp_path: Path) -> None:
    line = r'{"id": "a\"query\": \"x", "tags": ["\"query\": \"y"], "query": "("}'
    found = [at(d) for d in findings(pack_in(tmp_path, line, {"id": "b", "query": "a"}))]
    assert found == [("PQ03", "w.jsonl", 1, line.index("(") + 1)]


def test_a_filter_on_what_documents_do_not_have_is_refused(tmp_path: Path) -> None:
    filters = [{"langg": "en"}, {"title": "x"}, {"device": "x"}, {"lang": "en"}]
    lines = [{"id": f"q{n}", "query": "a", "filter": f} for n, f in enumerate(filters)]
    found = findings(pack_in(tmp_path, *lines))
    assert [at(d)[0::2] for d in found] == [("CEP0862", n) for n in (1, 2, 3)]
    assert "did you mean `lang`?" in found[0].message


def test_a_word_that_looks_like_an_operator_is_told_at_its_place(tmp_path: Path) -> None:
    line = '{"query": "\\u00e9 \\"a\\" \\u0077/5 b or \\u0063", "id": "q1"}'
    pack = pack_in(tmp_path, line, {"id": "q2", "query": 'acme "or" \\or'})
    far, word = findings(pack)
    assert [at(far), at(word)] == [
        ("PQ15", "w.jsonl", 1, line.index("\\u0077") + 1),
        ("PQ14", "w.jsonl", 1, line.index("or \\u0063") + 1),
    ]
    assert far.span is not None
    assert word.span is not None
    assert (far.span.text, word.span.text) == ("\\u0077/5", "or")
    assert "`b OR c`" in word.help
    assert {far.level, word.level} == {"warning"}


def test_many_words_that_look_like_operators_are_counted(tmp_path: Path) -> None:
    found = findings(pack_in(tmp_path, *({"id": f"q{n}", "query": "a or b"} for n in range(told.TOLD + 1))))
    assert [d.code for d in found] == ["PQ14"] * told.TOLD + [told.FURTHER]
    assert found[-1].message == "1 more word of a query looks like an operator"


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    lines = [{"id": f"q{n}", "query": "("} for n in range(told.TOLD + 7)]
    found = findings(pack_in(tmp_path, {"id": "good", "query": "a"}, *lines))
    assert [d.code for d in found].count("PQ03") == told.TOLD
    (more,) = (d for d in found if d.code == told.FURTHER)
    assert more.message == "7 more queries are not taken in"


def test_a_file_without_a_good_query_is_an_error(tmp_path: Path) -> None:
    for lines in ((), ("{",)):
        found = findings(pack_in(tmp_path, *lines))
        assert [d.level for d in found if d.code == told.NO_QUERIES] == ["error"]


def test_a_file_that_is_missing_is_told_where_it_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "w.jsonl").unlink()
    loaded = load([folder])
    assert loaded.pack is None
    (error,) = (d for d in loaded.diagnostics if d.level == "error")
    assert at(error)[:2] == ("CEP0505", "p.rules")


def test_the_revision_knows_the_content_and_not_the_folder(tmp_path: Path) -> None:
    one = pack_in(tmp_path / "a", {"id": "q", "query": "a"})
    same = pack_in(tmp_path / "b", {"id": "q", "query": "a"})
    other = pack_in(tmp_path / "c", {"id": "q", "query": "b"})
    assert one.revision == same.revision != other.revision
    assert [r.structure for r in one.rules] == [r.structure for r in other.rules]
    assert compile_plan([one]).id == compile_plan([same]).id != compile_plan([other]).id
    elsewhere = load_texts(list(one.files)).need()
    assert elsewhere.revision != one.revision
    assert with_contents(elsewhere, {"w": one.queries[0].content}).revision == one.revision


@pytest.mark.parametrize(
    ("query", "document", "is_hit"),
    [
        ({"query": "acme", "filter": {"lang": ["en"]}}, {"title": "acme", "lang": "en"}, True),
        ({"query": "acme", "filter": {"lang": ["en"]}}, {"title": "acme", "lang": "de"}, False),
        ({"query": "acme", "filter": {"lang": ["en"]}}, {"title": "acme"}, False),
        ({"query": "acme", "filter": {"words": ["12", "13"]}}, {"title": "acme", "words": 13}, True),
        ({"query": "acme", "filter": {"paid": "true"}}, {"title": "acme", "paid": True}, True),
        ({"query": "acme", "filter": {"score": "1.5"}}, {"title": "acme", "score": 1.5}, True),
        ({"query": "acme", "filter": {"topics": "b"}}, {"title": "acme", "topics": ["a", "b"]}, True),
        ({"query": "acme", "filter": {"device.os": "x"}}, {"title": "acme", "device": {"os": "x"}}, True),
        ({"query": "acme", "filter": {"device.os": "x"}}, {"title": "acme"}, False),
        ({"query": "words:[2 TO 3] topics:b"}, {"words": 3, "topics": ["b"]}, True),
        ({"query": "lang:en -score:>2"}, {"lang": "en", "score": 2.0}, True),
        ({"query": "at:2026-01-05"}, {}, True),
        ({"query": "device.os:linux"}, {"device": {"os": "linux"}}, True),
        ({"query": "acme", "expires": "2026-01-05T09:00:00Z"}, {"title": "acme"}, False),
        ({"query": "acme", "expires": "2026-01-05T09:00:00.000001Z"}, {"title": "acme"}, True),
    ],
)
def test_a_query_sees_the_fields_of_the_document(
    tmp_path: Path, query: dict[str, object], document: dict[str, object], is_hit: bool
) -> None:
    pack = pack_in(tmp_path, {"id": "q", **query}, {"id": "zz", "query": "unheard"})
    assert hits(pack, document) == ["q"] * is_hit


def test_hits_come_in_order_of_query_id(tmp_path: Path) -> None:
    ids = ["b", "a", "É", "Z", "10", "9", "a b"]
    pack = pack_in(tmp_path, *({"id": id_, "query": "acme"} for id_ in ids), name="w.jsonl.gz")
    assert hits(pack, {"title": "acme"}) == sorted(ids)


def test_no_two_hits_have_one_id() -> None:
    pairs = [(d, q) for d in ("a", "a b", "a\\", "a\\ b", "a ") for q in ("b", "c d", "\\ b", "b c d", " b")]
    assert len({hit_id(*pair) for pair in pairs}) == len(pairs)


def test_packs_of_a_job_agree_on_queries_of_one_name(tmp_path: Path) -> None:
    one, same = (pack_in(tmp_path / name, {"id": "q", "query": "a"}) for name in "ab")
    other = pack_in(tmp_path / "c", {"id": "q", "query": "b"})
    assert differing_queries([one, same]) == []
    assert [d.code for d in differing_queries([one, same, other])] == ["CEP0920"]


def test_a_set_is_compiled_once_and_needs_its_file_no_more(tmp_path: Path) -> None:
    pack = pack_in(tmp_path / "pack", {"id": "q", "query": "acme"})
    (stream,) = hit_streams(pack)
    store = QueryStore(tmp_path / "queries")
    store.put(stream)
    files = {path: path.stat().st_ino for path in store.folder.rglob("*")}
    store.put(stream)
    assert {path: path.stat().st_ino for path in store.folder.rglob("*")} == files
    (tmp_path / "pack" / "w.jsonl").unlink()
    (far,) = hit_streams(with_contents(load_texts(list(pack.files)).need(), {"w": pack.queries[0].content}))
    assert len(QueryStore(store.folder).load(far)) == 1

    for path in (store.folder / name_of(far)).iterdir():
        path.unlink()
    (store.folder / name_of(far)).rmdir()
    with pytest.raises(UnreadableError):
        QueryStore(store.folder).load(far)
    store.put(far)
    assert len(QueryStore(store.folder).load(far)) == 1, "it is compiled again from the copy"


def test_a_file_that_changes_after_loading_is_noticed(tmp_path: Path) -> None:
    pack = pack_in(tmp_path, {"id": "q", "query": "acme"})
    written(tmp_path, {"id": "q", "query": "beta"})
    (stream,) = hit_streams(pack)
    with pytest.raises(UnreadableError, match="changed"):
        compiled(stream)
    with pytest.raises(UnreadableError, match="changed"):
        QueryStore(tmp_path / "queries").put(stream)
    assert list((tmp_path / "queries").iterdir()) == []
    assert [d.code for d in findings(pack)] == ["CEP0861"]
