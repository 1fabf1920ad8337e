"""Names that an author may have meant: near by letters, whatever the case; nothing where nothing is near."""

from __future__ import annotations

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.suggest import closest, did_you_mean, edits

FIELDS = ("payment_id", "card_id", "amount", "country", "merchant", "occurred_at", "n", "epoch_s", "epoch_ms")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("amout", "amount"),  # left out
        ("amounnt", "amount"),  # added
        ("amoumt", "amount"),  # exchanged
        ("amuont", "amount"),  # swapped
        ("Amount", "amount"),
        ("AMOUNT", "amount"),
        ("cardId", "card_id"),
        ("CardID", "card_id"),
        ("merch", "merchant"),
        ("amt", "amount"),
        ("epoch_millis", "epoch_ms"),
        ("m", None),
        ("price", None),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_what_was_meant_is_found(word: str, meant: str | None) -> None:
    assert closest(word, FIELDS) == meant
    assert did_you_mean(word, FIELDS) == ("" if meant is None else f"did you mean `{meant}`?")


def test_the_nearest_wins_and_the_first_of_equals() -> None:
    assert closest("cart", ["card_id", "care", "cart_id", "carts"]) == "care"
    assert closest("card", []) is None


words = st.text("abc", max_size=5)


def slowly(one: str, other: str) -> int:
    """The same distance by its definition, over all ways to begin."""
    if not one or not other:
        return len(one) + len(other)
    ways = [
        slowly(one[1:], other) + 1,
        slowly(one, other[1:]) + 1,
        slowly(one[1:], other[1:]) + (one[0] != other[0]),
    ]
    if len(one) > 1 and len(other) > 1 and (one[0], one[1]) == (other[1], other[0]):
        ways.append(slowly(one[2:], other[2:]) + 1)
    return min(ways)


@settings(max_examples=examples(200), deadline=None)
@given(words, words)
def test_the_distance_is_that_of_its_definition(one: str, other: str) -> None:
    assert edits(one, other) == slowly(one, other)
