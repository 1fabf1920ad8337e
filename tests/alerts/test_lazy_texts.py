"""Texts that are joined when they are read are those that are joined at once, whatever is chosen of them."""

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

from alerts.joining import OneOf, Part, Unjoined, joined
from alerts.lazy_texts import LazyTexts

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@st.composite
def several(draw: st.DrawFn) -> list[tuple[list[Part], list[str]]]:
    """The parts of blocks of rows, and what they are end to end."""
    found: list[tuple[list[Part], list[str]]] = []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(1, 5))
        rows = st.lists(TEXTS, min_size=size, max_size=size)
        # Parts of which each row has those of one place are put together once for each place.
        places = draw(st.integers(1, 3))
        place = np.array(draw(st.lists(st.integers(0, places - 1), min_size=size, max_size=size)))
        of_places = st.lists(TEXTS, min_size=places, max_size=places + 1)
        parts: list[Part] = [pa.array(draw(rows), pa.string())]
        texts = parts[0].to_pylist()
        for _ in range(draw(st.integers(0, 6))):
            match draw(st.sampled_from(("same", "few", "each", "of places", "of places", "few of places"))):
                case "of places":
                    said = draw(of_places)
                    in_arrow = draw(st.booleans())
                    parts.append(OneOf(pa.array(said, pa.string()) if in_arrow else tuple(said), place))
                    more = [said[number] for number in place.tolist()]
                case "few of places":
                    few = draw(st.lists(TEXTS, min_size=1, max_size=3))
                    of = draw(st.lists(st.integers(0, len(few) - 1), min_size=places, max_size=places))
                    parts.append(OneOf(OneOf(tuple(few), np.array(of)), place))
                    more = [few[of[number]] for number in place.tolist()]
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
def test_texts_are_their_parts_end_to_end(
    given_parts: list[tuple[list[Part], list[str]]], with_kernel: bool, data: st.DataObject
) -> None:
    texts = [text for _, of_each in given_parts for text in of_each]
    with kernel_in_use(with_kernel):
        blocks = [
            LazyTexts.of_parts({"a": parts, "same": ["x"], "twice": [*parts, *parts]}, len(of_each))
            for parts, of_each in given_parts
        ]
        for parts, of_each in given_parts:
            assert joined(parts).to_pylist() == of_each
        together = LazyTexts.together(blocks)
        assert together.texts("a") == texts
        order = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=12))
        chosen, expected = together.take(np.array(order, np.int64)), [texts[row] for row in order]
        assert len(chosen) == len(order)
        for of_all in (chosen, chosen.copied(), pickle.loads(pickle.dumps(chosen))):
            assert of_all.texts("a") == expected
            assert of_all.texts("twice") == [2 * text for text in expected]
            assert of_all.texts("same") == ["x"] * len(order)
        first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(order))] * 2)))
        assert chosen.take(slice(first, last)).texts("a") == expected[first:last]
        assert chosen.joined("a", "\n").to_pylist() == [f"{text}\n".encode() for text in expected]
        others = data.draw(st.dictionaries(st.integers(0, len(order) - 1), TEXTS)) if order else {}
        said = chosen.but("a", {row: text.encode() for row, text in others.items()})
        assert said.texts("a") == [others.get(row, text) for row, text in enumerate(expected)]
        assert said.texts("twice") == chosen.texts("twice")
        assert chosen.texts("a") == expected
        # Once more of texts that came from a choice: of columns and of parts side by side.
        assert LazyTexts.together([said, together]).texts("a") == said.texts("a") + texts


def test_choosing_texts_joins_none() -> None:
    with kernel_in_use(True):
        blocks = [LazyTexts.of_parts({"a": [pa.array([text]), "!"]}, 1) for text in "ab"]
        (one, two) = LazyTexts.together(blocks).take(np.array([1, 0])).sources["a"].columns
        assert isinstance(one, Unjoined)
        assert isinstance(two, Unjoined)


def test_a_copy_holds_nothing_of_the_texts_that_it_was_chosen_from() -> None:
    with kernel_in_use(True):
        numbers = np.array([0, 1])
        held = weakref.ref(numbers)
        parts = {"a": ["<", OneOf(("a", "b"), numbers), ">"]}
        copied = LazyTexts.of_parts(parts, 2).take(slice(1, 2)).copied()
        del numbers, parts
        gc.collect()
        assert held() is None
        assert copied.texts("a") == ["<b>"]
