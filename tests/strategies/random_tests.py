"""Random packs with one test each, as the typed front end would give it: events in order, some late."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import assume
from hypothesis import strategies as st
from random_packs import packs
from random_streams import SECOND, arrivals

from rules.packs import load_texts
from rules.typed import Given, MoveWatermark, Pack
from rules.typed import Test as Block


@dataclass(frozen=True, slots=True, repr=False)
class Trial:
    """A pack and a test of all its rules that expects nothing in particular."""

    text: str
    pack: Pack
    test: Block

    def __repr__(self) -> str:
        lines = [self.text[self.text.index("\nrule") :].strip()]
        for item in self.test.timeline:
            lines.append(
                f"  {item.at // SECOND}s {getattr(item, 'stream', '')} {dict(getattr(item, 'values', ()))}"
            )
        return "\n".join(lines)


@st.composite
def trials(draw: st.DrawFn, text: st.SearchStrategy[str] | None = None) -> Trial:
    """Random packs with a timeline of up to 30 events."""
    written = draw(packs() if text is None else text)
    pack = load_texts([("p.rules", written)]).pack
    assume(pack is not None)
    assert pack is not None
    here = pack.rules[0].span
    came = sorted(draw(arrivals(draw(st.sampled_from((12, 12, 30))))), key=lambda a: a.time)
    items = [Given(a.time, a.stream, tuple(a.values.items()), False, here) for a in came]
    if items and draw(st.booleans()):
        number = draw(st.integers(0, len(items) - 1))
        items.insert(number, replace(items[draw(st.integers(0, number))], late=True))
    end = MoveWatermark((items[-1].at if items else 0) + draw(st.sampled_from((0, 3, 60))) * SECOND, here)
    names = tuple(rule.name for rule in pack.rules)
    return Trial(written, pack, Block(names, "random", (*items, end), False, True, here))
