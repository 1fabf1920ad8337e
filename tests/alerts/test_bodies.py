"""Bodies that are joined when they are read are those that are joined at once, whatever is chosen of them."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pyarrow as pa
from alert_kernel import kernel_in_use
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.bodies import Bodies
from alerts.joining import OneOf, Part, Unjoined

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@st.composite
def several(draw: st.DrawFn) -> list[tuple[list[Part], list[str]]]:
    """The parts of bodies, and what they are end to end; some are columns of bodies already."""
    found: list[tuple[list[Part], list[str]]] = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 5))
        rows = st.lists(TEXTS, min_size=size, max_size=size)
        parts: list[Part] = [pa.array(draw(rows), pa.string())]
        texts = parts[0].to_pylist()
        for _ in range(draw(st.integers(0, 3))):
            match draw(st.sampled_from(("same", "few", "each"))):
                case "same":
                    same = draw(TEXTS)
                    parts.append(same)
                    more = [same] * size
                case "few":
                    few = draw(st.lists(TEXTS, min_size=1, max_size=3))
                    of = draw(st.lists(st.integers(0, len(few) - 1), min_size=size, max_size=size))
                    parts.append(OneOf(tuple(few), np.array(of)))
                    more = [few[place] for place in of]
                case _:
                    more = draw(rows)
                    parts.append(pa.array(more, pa.string()))
            texts = [text + added for text, added in zip(texts, more, strict=True)]
        found.append((parts, texts))
    return found


@settings(max_examples=examples(200), deadline=None)
@given(several(), st.booleans(), st.data())
def test_bodies_are_their_parts_end_to_end(
    given_parts: list[tuple[list[Part], list[str]]], with_kernel: bool, data: st.DataObject
) -> None:
    texts = [text for _, of_each in given_parts for text in of_each]
    with kernel_in_use(with_kernel):
        together = Bodies.together([Bodies.of_parts(parts) for parts, _ in given_parts])
        assert together.texts() == texts
        order = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=12))
        chosen, expected = together.take(np.array(order, np.int64)), [texts[row] for row in order]
        assert len(chosen) == len(order)
        assert chosen.texts() == chosen.copied().texts() == expected
        assert pickle.loads(pickle.dumps(chosen)).texts() == expected
        first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(order))] * 2)))
        assert chosen.take(slice(first, last)).texts() == expected[first:last]
        assert chosen.joined("\n").to_pylist() == [f"{text}\n".encode() for text in expected]
        others = data.draw(st.dictionaries(st.integers(0, len(order) - 1), TEXTS)) if order else {}
        said = chosen.but({row: text.encode() for row, text in others.items()})
        assert said.texts() == [others.get(row, text) for row, text in enumerate(expected)]
        assert chosen.texts() == expected
        # Once more of bodies that came from a choice: of columns and of parts side by side.
        assert Bodies.together([said, together]).texts() == said.texts() + texts


def test_choosing_bodies_joins_none() -> None:
    with kernel_in_use(True):
        bodies = Bodies.together([Bodies.of_parts([pa.array([text]), "!"]) for text in "ab"])
        (one, two) = bodies.take(np.array([1, 0])).source.columns
        assert isinstance(one, Unjoined)
        assert isinstance(two, Unjoined)


def test_a_copy_holds_nothing_of_the_bodies_that_it_was_chosen_from() -> None:
    with kernel_in_use(True):
        numbers = np.array([0, 1])
        held = weakref.ref(numbers)
        copied = Bodies.of_parts(["<", OneOf(("a", "b"), numbers), ">"]).take(slice(1, 2)).copied()
        del numbers
        gc.collect()
        assert held() is None
        assert copied.texts() == ["<b>"]
