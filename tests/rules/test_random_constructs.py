"""Random packs of every construct are read whole, in any order of their blocks; cut ones are refused."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from random_constructs import Pack, packs

from cep.packs.unsupported import TITLES, unsupported
from rules import typed
from rules.format import formatted
from rules.packs import Loaded, load_texts
from rules.source import SourceFile


def loaded(text: str) -> Loaded:
    return load_texts([("p.rules", text)])


def meant(pack: typed.Pack) -> tuple[object, ...]:
    """The meaning of a pack without the order of its streams, which decides between events of one instant."""
    rules = sorted(
        (r.name, sorted(r.streams), r.structure if len(r.streams) == 1 else "", r.into) for r in pack.rules
    )
    streams = sorted((s.name, [(f.name, str(f.type)) for f in s.fields]) for s in pack.streams)
    return rules, streams, [t.name for t in pack.tables], [q.file for q in pack.queries]


@settings(max_examples=examples(60), deadline=None)
@given(packs())
def test_every_pack_of_every_construct_is_read(pack: Pack) -> None:
    found = loaded(pack.text())
    assert [d for d in found.diagnostics if d.level == "error"] == [], pack.text()
    assert {d.code for d in unsupported(found.need())} <= TITLES.keys()


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_the_order_of_blocks_means_nothing(data: st.DataObject) -> None:
    pack = data.draw(packs())
    order = data.draw(st.permutations(range(len(pack.blocks))))
    one, other = loaded(pack.text()).need(), loaded(pack.text(order)).need()
    assert meant(one) == meant(other)


@pytest.mark.slow
@settings(max_examples=examples(30), deadline=None)
@given(packs())
def test_the_layout_means_what_the_text_meant(pack: Pack) -> None:
    laid_out, _ = formatted(SourceFile("p.rules", pack.text()))
    assert laid_out is not None
    assert meant(loaded(laid_out).need()) == meant(loaded(pack.text()).need())
    assert formatted(SourceFile("p.rules", laid_out)) == (laid_out, ())


@settings(max_examples=examples(40), deadline=None)
@given(packs())
def test_a_stream_that_nobody_makes_is_missed_by_its_readers_alone(pack: Pack) -> None:
    for stream, maker in pack.makers.items():
        found = loaded(pack.text(without=maker) + "\nrule rest { on e }").diagnostics
        reported = [d.span.text for d in found if d.code == "CEP0201" and d.span is not None]
        assert {d.code for d in found if d.level == "error"} <= {"CEP0201"}
        assert set(reported) == ({stream} if stream in pack.readers else set())
