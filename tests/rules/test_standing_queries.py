"""Documents and the standing queries that hit them: a stream of its own kind."""

from __future__ import annotations

import pytest
from writing import loaded

from rules import typed
from rules.packs import load_texts
from rules.types import ListOf, Scalar

ARTICLES = (
    "stream article { url: string  title: text  seen: timestamp  id url  time seen }\n"
    'queries w { from "w.jsonl" }\n'
)
NAME = "article matching w"


def test_hits_have_the_fields_of_the_document_and_of_the_query() -> None:
    pack = loaded(ARTICLES + 'rule r { on article matching w["x" in tags] emit title, query }').need()
    hits, documents = pack.stream(NAME), pack.stream("article")
    assert [(f.name, f.type, f.nullable) for f in hits.fields[3:]] == [
        ("query", Scalar.STRING, False),
        ("tags", ListOf(Scalar.STRING), False),
        ("priority", Scalar.LONG, False),
        ("names", ListOf(Scalar.STRING), False),
    ]
    assert hits.fields[:3] == documents.fields
    assert (hits.id, hits.time, hits.origin) == (("url",), ("seen",), typed.QueryHits("article", "w"))
    assert [(q.name, q.file) for q in pack.queries] == [("w", "w.jsonl")]
    assert NAME not in [s.name for s in pack.fed]


def test_hits_stand_wherever_a_stream_may() -> None:
    text = """
rule a { on article matching w }
rule b { by url  match article matching w{2} -> not article matching w -> absent article for 1h  within 2h }
rule c { by query  over article matching w sliding 1h  having count() > 2 }
"""
    pack = loaded(ARTICLES + text).need()
    assert [r.streams for r in pack.rules] == [(NAME,), ("article", NAME), (NAME,)]
    assert sum(s.name == NAME for s in pack.streams) == 1


def test_a_step_without_a_name_goes_by_the_documents() -> None:
    rule = "rule r { by article.url = login.card_id  match article matching w -> l: login  within 1h"
    (found,) = loaded(ARTICLES + rule + "  emit q = article.query }").need().rules
    assert isinstance(found.body, typed.Match)
    (_, step), _ = found.body.pattern.elements
    assert isinstance(step, typed.Step)
    assert (step.name, step.stream) == ("article", NAME)
    assert found.by is not None
    assert found.by.names == ("url",)
    assert found.by.of(NAME) == (("url",),)


def test_a_test_expects_hits_by_the_name_of_the_documents() -> None:
    text = """rule r { on article matching w emit query }
test r "x" { at 0s article { title: "x" } expect { query: "q1", kind: "hit", events: { article: "a" } } }
"""
    assert loaded(ARTICLES + text).need().tests


def test_of_unknown_queries_nothing_else_is_reported() -> None:
    rule = "rule r { by article.query = login.card_id  match article matching v[x > 1]{2} -> l: login"
    text = ARTICLES + rule + "  within 1h  emit z = last(article.z), query }"
    assert [d.code for d in loaded(text).diagnostics if d.level == "error"] == ["CEP0255"]


def test_documents_may_be_derived() -> None:
    text = """rule made { on article[title matches "x"] emit title, url into picked }
rule read { by url  match picked matching w{2}  within 1h }
"""
    hits = loaded(ARTICLES + text).need().stream("picked matching w")
    assert [f.name for f in hits.fields][:2] == ["title", "url"]
    assert hits.origin == typed.QueryHits("picked", "w")


POST = "stream post { id_: string  body: text  tags: string  query: long  at: timestamp  id id_  time at }\n"
MISTAKES = {
    ARTICLES + "rule r { on article matching v }": [
        ("CEP0255", "v", "unknown queries `v`", "the only one is `w`")
    ],
    "rule r { on payment matching v }": [
        ("CEP0255", "v", "unknown queries `v`", 'declare them: `queries v { from "v.jsonl" }`')
    ],
    ARTICLES + "rule r { on login matching w }": [
        (
            "CEP0256",
            "login",
            "stream `login` has no field of type text, so no query can hit its events",
            "declare the field that is searched as `text`, or `text english`",
        )
    ],
    ARTICLES + "rule r { on artcle matching w }": [
        ("CEP0201", "artcle", "unknown stream `artcle`", "did you mean `article`?")
    ],
    ARTICLES + "rule r { on article matching w[tag == 1] }": [
        ("CEP0202", "tag", "stream `article matching w` has no field `tag`", "did you mean `tags`?")
    ],
    ARTICLES + 'rule r { on article matching w[tags == "x"] }': [
        ("CEP0207", "tags", "rule `r` compares list<string> with string", 'did you mean `"x" in tags`?')
    ],
    ARTICLES + 'rule r { on article[query == "x"] }': [
        ("CEP0202", "query", "stream `article` has no field `query`", "the fields are `url`, `title`, `seen`")
    ],
    ARTICLES + "rule r { match article matching w -> article  within 1h }": [
        (
            "CEP0411",
            "article",
            "step `article` has different streams",
            "give one of them another name, such as `article2: article`",
        )
    ],
    ARTICLES + "rule r { by url  match article matching w -> p: payment  within 1h }": [
        (
            "CEP0218",
            "url",
            "stream `payment` has no key field `url`",
            "name the field it has: `by article.url = payment.its_field`",
        )
    ],
    ARTICLES + "rule r { by artcle.url = payment.kind  match article matching w -> payment  within 1h }": [
        ("CEP0218", "artcle", "`artcle` is no stream of this rule", "did you mean `article`?")
    ],
    POST + 'queries w { from "w.jsonl" }\nrule r { on post matching w[tags == "x"] }': [
        (
            "CEP0257",
            "w",
            "a hit has a field `query`, but so has stream `post`",
            "rename the field of the stream, and in job.toml let `fields` say where it comes from",
        ),
        (
            "CEP0257",
            "w",
            "a hit has a field `tags`, but so has stream `post`",
            "rename the field of the stream, and in job.toml let `fields` say where it comes from",
        ),
    ],
    'queries w { from "" }\nrule r { on payment }': [
        ("CEP0253", '""', "the file of the queries has no name", 'name it: `from "watchlist.jsonl"`')
    ],
    'queries w { from "a" }\nqueries w { from "b" }\nrule r { on payment }': [
        ("CEP0206", "w", "queries `w` is declared twice", "rename or remove one of them")
    ],
    "stream `a matching b` { at: timestamp  time at }\nrule r { on `a matching b` }": [
        (
            "CEP0206",
            "`a matching b`",
            "a stream may not be called so: this is how documents and their queries are named",
            "give it a name without ` matching ` in it",
        )
    ],
    ARTICLES + 'test r "x" { at 0s article { query: "x" } expect {} }\nrule r { on article matching w }': [
        ("CEP0602", "query", "stream `article` has no field `query`", "the fields are `url`, `title`, `seen`")
    ],
}


def reported(text: str) -> list[tuple[str, str, str, str]]:
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_with_standing_queries_is_reported(text: str) -> None:
    assert reported(text) == MISTAKES[text]


def test_a_field_that_cannot_be_read_may_be_called_as_one_of_hits() -> None:
    text = (
        'pack p version "1"\nqueries w { from "w.jsonl" }\n'
        "stream s { id_: string  body: text  tags: strin  at: timestamp  id id_  time at }\n"
        "rule r { on s matching w }\n"
    )
    assert [d.code for d in load_texts([("a", text)]).diagnostics] == ["CEP0224", "CEP0257"]
