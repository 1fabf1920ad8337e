"""Mistakes in windows: each is told with its place and its fix."""

from __future__ import annotations

import pytest
from writing import reported

MISTAKES = {
    "sliding 0s having count() > 1": [
        ("CEP0402", "0s", "a window of nothing holds no event", "give it a length")
    ],
    "hopping 1h every 0s having count() > 1": [
        ("CEP0402", "0s", "a window of nothing holds no event", "give it a length")
    ],
    "hopping 5m every 10m having count() > 1": [
        (
            "CEP0420",
            "10m",
            "these windows leave gaps: events between one and the next are in none",
            "write `every 5m`, or a shorter one",
        )
    ],
    "hopping 1h every 25m having ago(count(), 7m) > 1": [
        (
            "CEP0420",
            "25m",
            "a hopping window lasts a whole number of hops",
            "write an `every` that `1h` is a multiple of",
        )
    ],
    "hopping 1d every 1s having count() > 1": [
        (
            "CEP0420",
            "1s",
            "an event lies in 10,000 windows at most",
            "write a longer `every`; `sliding 1d` is evaluated at each event",
        )
    ],
    "last 0 events having count() > 1": [
        ("CEP0402", "0", "a window of nothing holds no event", "give it a length")
    ],
    "last 1_000_001 events having count() > 1": [
        (
            "CEP0407",
            "1_000_001",
            "a window holds 1,000,000 last events at most",
            "ask for fewer, or for a window of time: `sliding 1 hour`",
        )
    ],
    "sliding 5m": [
        (
            "CEP0422",
            "over",
            "a window has a condition: without one, every window would be an alert",
            "add `having`; `having count() > 0` takes every window",
        )
    ],
    "sliding 5m having count() > 1 within 5m": [
        (
            "CEP0414",
            "within",
            "`within` belongs to a pattern",
            "a window is evaluated as it stands, and says how long it is",
        )
    ],
    "last 5 events having count() > 1 within 5m": [
        (
            "CEP0414",
            "within",
            "`within` belongs to a pattern",
            "that of last events stands right behind them: `last 100 events within 5 minutes`",
        )
    ],
    "sliding 5m early having count() > 1": [
        (
            "CEP0427",
            "early",
            "a sliding window has no `early`",
            "it is evaluated at each event anyway: remove it",
        )
    ],
    "last 5 events early within 5m having count() > 1": [
        (
            "CEP0427",
            "early",
            "a window of last events has no `early`",
            "it is evaluated at each event anyway: remove it",
        )
    ],
    'session gap 5m zone "UTC" having count() > 1': [
        (
            "CEP0427",
            'zone "UTC"',
            "a session has no `zone`",
            "days of a zone are those of `tumbling 1 day` and `hopping 7 days every 1 day`: remove it",
        )
    ],
    "tumbling 5m max 1h having count() > 1": [
        (
            "CEP0427",
            "max 1h",
            "a tumbling window has no `max`",
            "only sessions have no length of their own: remove it",
        )
    ],
    "tumbling 5m early early having count() > 1": [
        ("CEP0112", "early", "`early` is given twice", "remove one of them")
    ],
    "session gap 5m max 0s having count() > 1": [
        ("CEP0402", "0s", "a window of nothing holds no event", "give it a length")
    ],
    "last 5 events within 0s having count() > 1": [
        ("CEP0402", "0s", "a window of nothing holds no event", "give it a length")
    ],
    'tumbling 1d zone "Europe/Belin" having count() > 1': [
        ("CEP0211", '"Europe/Belin"', "`Europe/Belin` is not a time zone", 'such as "Europe/Berlin"')
    ],
    'tumbling 36h zone "Europe/Berlin" having count() > 1': [
        ("CEP0428", "36h", "only whole days begin at midnight", "write whole days, or remove `zone`")
    ],
    'hopping 1d every 1h zone "Europe/Berlin" having count() > 1': [
        ("CEP0428", "1h", "only whole days begin at midnight", "write whole days, or remove `zone`")
    ],
    "tumbling 5m having count() > 1 limit 10 events": [
        (
            "CEP0427",
            "limit 10 events",
            "a tumbling window has no `limit`",
            "it keeps sums, not events, and ends: remove it",
        )
    ],
    "sliding 5m having count() > 1 limit 10 runs": [
        (
            "CEP0427",
            "limit 10 runs",
            "a window has no runs",
            "what a key keeps is bounded by `limit 10 events`",
        )
    ],
    "sliding 5m having count() > 1 limit 0 events": [
        ("CEP0402", "0", "a window that keeps no event is empty", "keep one event or more")
    ],
    "sliding 5m having count() > 1 limit 1_000_001 events": [
        (
            "CEP0429",
            "1_000_001",
            "a key keeps 1,000,000 events at most",
            "write `limit 1000000 events` or less",
        )
    ],
    "last 200_000 events having count() > 1": [
        (
            "CEP0429",
            "200_000",
            "the rule looks at 200,000 events of a key, which keeps 100,000",
            "write `limit 200000 events`",
        )
    ],
    "last 10 events having count() > previous(count(), 4) limit 49 events": [
        (
            "CEP0429",
            "10",
            "the rule looks at 50 events of a key, which keeps 49",
            "write `limit 50 events`",
        )
    ],
    "last 1_000_000 events having count() > previous(count()) limit 1_000_000 events": [
        (
            "CEP0429",
            "1_000_000",
            "the rule looks at 2,000,000 events of a key, which keeps 1,000,000",
            "look at fewer events",
        )
    ],
    "tumbling 1h having ago(count(), 10_001 * 1h) > 5": [
        (
            "CEP0421",
            "10_001 * 1h",
            "a rule looks back 10,000 windows at most",
            "look back less, or make them longer",
        )
    ],
    "sliding 52w having previous(count(), 1000) > 5": [
        (
            "CEP0421",
            "1000",
            "so many windows reach back further than 292 years",
            "look back fewer of them",
        )
    ],
    "sliding 5m having count() > 1 skip none": [
        (
            "CEP0414",
            "skip",
            "`skip` belongs to a pattern",
            "a window is evaluated as it stands, and says how long it is",
        )
    ],
    "sliding 5m having amount > 5": [
        (
            "CEP0417",
            "amount",
            "`amount` is a field of single events, but a window holds many: which one is meant?",
            "write `last(amount)` or `avg(amount)`",
        )
    ],
    'sliding 5m having kind == "x"': [
        (
            "CEP0417",
            "kind",
            "`kind` is a field of single events, but a window holds many: which one is meant?",
            "write `last(kind)`, or `count(kind == ...)` for the number of such events",
        )
    ],
    "sliding 5m having payment.amount > 5": [
        (
            "CEP0417",
            "payment.amount",
            "`amount` is a field of single events, but a window holds many: which one is meant?",
            "write `last(amount)` or `avg(amount)`",
        )
    ],
    'sliding 5m having card_id == "x" emit kind': [
        (
            "CEP0417",
            "kind",
            "`kind` is a field of single events, but a window holds many: which one is meant?",
            "write `last(kind)`, or `count(kind == ...)` for the number of such events",
        )
    ],
    "sliding 5m having nope > 5": [
        ("CEP0205", "nope", "`nope` is neither a `by` field nor a constant", "the only one is `card_id`")
    ],
    "sliding 5m having count(payment) > 5": [
        ("CEP0225", "payment", "`count` needs a field of the window's events", "write `count()`")
    ],
    "sliding 5m having count(amount) > 5": [
        (
            "CEP0209",
            "amount",
            "`count` counts the events for which a condition is true, but this is a double",
            "write `count()`, or `count(amount is not null)`",
        )
    ],
    "sliding 5m having count(flag, flag) > 5": [
        ("CEP0210", "count", "`count` takes 0 to 1 arguments, not 2", "write `count()`")
    ],
    "sliding 5m having avg(payment.amount) > 5": [
        (
            "CEP0225",
            "payment.amount",
            "`avg` needs a field of the window's events, without the stream's name",
            "did you mean `avg(amount)`?",
        )
    ],
    "sliding 5m having avg(nope) > 5": [
        (
            "CEP0202",
            "nope",
            "stream `payment` has no field `nope`",
            "the fields are `payment_id`, `card_id`, `at`, `kind`, `amount`, `n` and 5 more",
        )
    ],
    "sliding 5m having avg(amount * 2 > 1) > 5": [
        (
            "CEP0211",
            "amount * 2 > 1",
            "`avg` cannot be taken of a boolean",
            "take it of a field of another type",
        )
    ],
    "sliding 5m having avg(null) > 5": [
        ("CEP0211", "null", "`avg` cannot be taken of null", "take it of a field of another type")
    ],
    "sliding 5m having avg(2 * max(amount)) > 5": [
        (
            "CEP0225",
            "max",
            "`max` is about the whole window, and `avg` about each of its events",
            "take them apart: what `having` and `emit` compute with aggregates stands outside of them",
        )
    ],
    "sliding 5m having avg(prev(amount)) > 5": [
        (
            "CEP0424",
            "prev",
            "`prev` belongs to patterns",
            "`previous(avg(field))` is that of the window before, `last(field)` the newest event's",
        )
    ],
    "sliding 5m having start(n) > 5": [
        ("CEP0210", "start", "`start` takes 0 arguments, not 1", "write `start()`")
    ],
    'sliding 5m having previous(start()) > "2024-01-01T00:00Z"': [
        (
            "CEP0418",
            "start()",
            "`previous` takes an aggregate of the window",
            "write `previous(aggregate, n)`",
        )
    ],
    'tumbling 5m having ago(end(), 5m) > "2024-01-01T00:00Z"': [
        ("CEP0418", "end()", "`ago` takes an aggregate of the window", "write `ago(aggregate, 7 days)`")
    ],
    "sliding 5m having avg(kind) > 5": [
        ("CEP0211", "kind", "`avg` cannot be taken of a string", "take it of a field of another type")
    ],
    "sliding 5m having avg() > 5": [
        ("CEP0210", "avg", "`avg` takes 1 argument, not 0", "write `avg(field)`")
    ],
    "sliding 5m having percentile(amount) > 5": [
        ("CEP0210", "percentile", "`percentile` takes 2 arguments, not 1", "write `percentile(field, 0.99)`")
    ],
    "sliding 5m having percentile(amount, 99) > 5": [
        ("CEP0214", "99", "`percentile` needs a constant between 0 and 1", "the 99th percentile is 0.99")
    ],
    "sliding 5m having first(amount, 2) > 5": [
        ("CEP0210", "first", "`first` takes 1 argument, not 2", "write `first(field)`")
    ],
    "sliding 5m having previous(amount) > 5": [
        (
            "CEP0418",
            "amount",
            "`previous` takes an aggregate of the window",
            "such as `previous(avg(amount))`",
        )
    ],
    "sliding 5m having previous(2 * avg(amount)) > 5": [
        (
            "CEP0418",
            "2 * avg(amount)",
            "`previous` takes an aggregate of the window",
            "write `previous(...)` around the aggregate alone",
        )
    ],
    "sliding 5m having previous(previous(count())) > 5": [
        (
            "CEP0418",
            "previous(count())",
            "`previous` takes an aggregate of the window",
            "write `previous(aggregate, n)`",
        )
    ],
    "sliding 5m having previous(count(), 0) > 5": [
        (
            "CEP0214",
            "0",
            "`previous` needs a whole number from 1 to 10,000, as a constant",
            "write the number itself, or a `let`",
        )
    ],
    "sliding 5m having previous(count(), avg(n)) > 5": [
        (
            "CEP0214",
            "avg(n)",
            "`previous` needs a whole number from 1 to 10,000, as a constant",
            "write the number itself, or a `let`",
        )
    ],
    "sliding 5m having previous() > 5": [
        ("CEP0210", "previous", "`previous` takes 1 to 2 arguments, not 0", "write `previous(aggregate, n)`")
    ],
    "sliding 5m having ago(amount, 1d) > 5": [
        ("CEP0418", "amount", "`ago` takes an aggregate of the window", "such as `ago(avg(amount), 7 days)`")
    ],
    "sliding 5m having ago(count()) > 5": [
        ("CEP0210", "ago", "`ago` takes 2 arguments, not 1", "write `ago(aggregate, 7 days)`")
    ],
    "sliding 5m having ago(count(), 3) > 5": [
        ("CEP0214", "3", "`ago` needs a duration as a constant", "such as `7 days`")
    ],
    "sliding 5m having ago(count(), 0s) > 5": [
        (
            "CEP0421",
            "0s",
            "`ago` looks back: its duration is longer than nothing",
            "say how long ago: `ago(count(), 7 days)`",
        )
    ],
    "tumbling 1h having ago(count(), 90m) > 5": [
        ("CEP0421", "90m", "no window ends just that long ago", "look back a multiple of the window's length")
    ],
    "hopping 1h every 15m having ago(count(), 10m) > 5": [
        ("CEP0421", "10m", "no window ends just that long ago", "look back a multiple of the window's hop")
    ],
    "session gap 1m having ago(count(), 1d) > 5": [
        (
            "CEP0421",
            "1d",
            "these windows end where events come: there is none just that long ago",
            "`previous(...)` is the one before",
        )
    ],
    "last 5 events having ago(count(), 1d) > 5": [
        (
            "CEP0421",
            "1d",
            "these windows end where events come: there is none just that long ago",
            "`previous(...)` is the one before",
        )
    ],
    "sliding 5m having list(kind) is null": [
        ("CEP0424", "list", "`list` belongs to patterns", "`distinct(field)` counts the different values")
    ],
    "sliding 5m having prev(amount) > 5": [
        (
            "CEP0424",
            "prev",
            "`prev` belongs to patterns",
            "`previous(avg(field))` is that of the window before, `last(field)` the newest event's",
        )
    ],
    "sliding 5m having previus(count()) > 5": [
        ("CEP0204", "previus", "`having` calls an unknown function `previus`", "did you mean `previous`?")
    ],
    'sliding 5m having title matches "x"': [
        (
            "CEP0417",
            "title",
            "`title` is a field of single events, but a window holds many: which one is meant?",
            "write `last(title)` or `distinct(title)`",
        )
    ],
    "sliding 5m having count()": [
        (
            "CEP0209",
            "count()",
            "a condition is true or false, but this is a long",
            "compare it with something",
        )
    ],
}


@pytest.mark.parametrize("window", MISTAKES)
def test_a_mistake_in_a_window_is_reported(window: str) -> None:
    assert reported(f"rule r {{ by card_id  over payment {window} }}") == MISTAKES[window]
