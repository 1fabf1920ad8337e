"""Secret fields: rules decide by their values, and whatever is told of them is a keyed hash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recording import Recording, at
from secretive import DERIVED, MASK_KEY, PACK, VALUE

from alerts.masking import DIGITS, Mask
from alerts.raised import Raised
from cep.counters import WindowEventsOverLimit
from cep.decode.letters import DeadLetter, without_secrets
from cep.inprocess.session import Session
from cep.job.workers.late import late_rows
from cep.packs.compile import compile_plan
from cep.record.finding import Limits, Sought, look_for
from cep.record.layout import folder_of
from cep.shard.advance import MatchOptions
from rules.packs import load_texts
from rules.typed import Pack

MASK = Mask(MASK_KEY.encode())
FORMS = (VALUE, VALUE.lower(), json.dumps(VALUE)[1:-1])


def pack() -> Pack:
    return load_texts([("p.rules", PACK + DERIVED)]).need()


def pays(count: int) -> list[dict[str, object]]:
    """Payments on the value, on another card and on none, in turn."""
    cards = (VALUE, "c2", None)
    return [
        {"pid": f"p{n}", "ts": at(n), "card": cards[n % 3], "shop": f"s{n % 2}", "amount": 9}
        for n in range(count)
    ]


def raised(tmp_path: Path, count: int, mask: Mask | None) -> list[Raised]:
    """All alerts over so many payments and two logins."""
    recording = Recording(tmp_path, PACK)
    session = Session(compile_plan([recording.pack]), options=MatchOptions(mask=mask))
    logins = [{"lid": f"l{n}", "ts": at(count), "holder": card} for n, card in enumerate((VALUE, "c2"))]
    events = [*recording.events("pay", pays(count)), *recording.events("login", logins)]
    return [*session.feed(events), *session.drain()]


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 2_000])
def test_alerts_are_those_of_the_clear_values_with_hashes(tmp_path: Path, count: int) -> None:
    """One by one, and by column where they are many."""
    clear = [json.loads(one.body) for one in raised(tmp_path / "clear", count, None)]
    masked = [json.loads(one.body) for one in raised(tmp_path / "masked", count, MASK)]
    assert any(VALUE in json.dumps(one, ensure_ascii=False) for one in clear), "the test would see it"
    text = json.dumps(masked, ensure_ascii=False)
    assert not any(form in text for form in FORMS)
    assert _sorted(map(_hashed, clear)) == _sorted(map(_told, masked))
    assert {one["rule"] for one in masked} == {"large", "followed", "busy"}
    assert len({one["id"] for one in masked}) == len(masked)
    assert {one["id"] for one in masked if one["rule"] != "busy" and any(one["key"].values())}.isdisjoint(
        one["id"] for one in clear
    ), "an id does not let one guess the value"


SECRET = {"card", "low", "who", "most", "first", "copied"}


def _hashed(alert: dict[str, object]) -> dict[str, object]:
    """What the masked alert should say, from the clear one; without what is a text of several values."""
    key, emit = alert["key"], alert["emit"]
    assert isinstance(key, dict)
    assert isinstance(emit, dict)
    hashed = [
        {name: MASK.value(one) if name in SECRET else one for name, one in of.items()} for of in (key, emit)
    ]
    return {**_told(alert), "key": hashed[0], "emit": hashed[1]}


def _told(alert: dict[str, object]) -> dict[str, object]:
    return {name: alert[name] for name in ("rule", "kind", "time", "key", "emit", "events", "suppressed")}


def _sorted(some: object) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in some)  # type: ignore[attr-defined]


def test_a_text_that_a_secret_one_comes_into_is_secret() -> None:
    by_name = {rule.name: rule for rule in pack().rules}
    told = {(rule.name, one.name): one.secret for rule in by_name.values() for one in rule.emit}
    assert {one for one, secret in told.items() if secret} == {
        ("large", "card"), ("large", "low"), ("followed", "card"), ("followed", "who"), ("busy", "most"),
        ("busy", "first"), ("made", "copied"), ("again", "copied"),
    }  # fmt: skip
    assert by_name["followed"].by is not None
    assert by_name["followed"].by.secrets == {"card"}
    assert pack().stream("copies").secrets == {"copied"}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("a.card", True), ("lower(a.card)", True), ('coalesce(a.card, "x")', True),
        ("substr(a.card, 0, 1)", True),
        ('a.amount > 9 ? a.card : "x"', True), ('a.card == "x" ? "yes" : "no"', False),
        ("length(a.card)", False), ("a.card is null", False), ('a.card in ("x", "y")', False),
        ('a.card =~ "^4"', False), ("count(b)", False), ("max(b.card)", True), ("distinct(b.card)", False),
        ("last(b.card)", True), ("last(b.shop)", False), ("card", True), ("b.amount > 3 ? 1 : 2", None),
    ],
)  # fmt: skip
def test_where_a_secret_goes_to(value: str, secret: bool | None) -> None:
    text = PACK.partition("rule large")[0] + (
        "rule r { by card  match a: pay => b: pay{2}  within 1 hour  emit x = " + value + " }"
    )
    loaded = load_texts([("p.rules", text)])
    if secret is None:
        assert loaded.pack is None
        return
    assert loaded.need().rules[0].emit[0].secret is secret


def test_packs_without_secrets_have_the_ids_that_they_had(tmp_path: Path) -> None:
    plain = PACK.replace(" secret", "")
    bodies = []
    for mask in (None, MASK):
        recording = Recording(tmp_path / str(mask is None), plain)
        session = Session(compile_plan([recording.pack]), options=MatchOptions(mask=mask))
        found = session.feed(recording.events("pay", pays(30))) + session.drain()
        bodies.append([one.body for one in found])
    assert bodies[0] == bodies[1]


def test_the_record_and_late_events_have_hashes(tmp_path: Path) -> None:
    recording = Recording(tmp_path, PACK, mask=MASK)
    recording.take(("pay", pays(6)))
    found = look_for(
        folder_of(recording.state.record, "pay"),
        Sought([f"p{n}" for n in range(6)], 9, "2999-01-01", None, 2**63 - 1),
        Limits(),
    ).found
    cards = [found[f"p{n}"][0].fields["card"] for n in range(6)]
    assert cards == [MASK(VALUE), MASK("c2"), None] * 2
    stream = recording.stream("pay")
    rows = [row for part in recording.events("pay", pays(3)) for row in late_rows(stream, part, MASK)]
    assert [json.loads(row[5])["card"] for row in rows] == [MASK(VALUE), MASK("c2"), None]
    files = [one.read_bytes() for one in recording.state.record.rglob("*.parquet")]
    assert files
    assert not any(VALUE.encode() in one for one in files)


def test_dead_letters_of_such_a_stream_keep_place_and_field() -> None:
    stream = pack().stream("pay")
    reason = f"wrong type: `amount` is a double, the event has the string {VALUE}"
    letter = DeadLetter("pay", "a.jsonl", 7, "decode", reason, f'{{"card": "{VALUE}"}}'.encode())
    kept = without_secrets(letter, stream, MASK)
    assert (kept.feed, kept.file, kept.offset, kept.stage, kept.data) == ("pay", "a.jsonl", 7, "decode", b"")
    assert kept.reason.startswith("a mistake in `amount`; of stream `pay`, which has secret fields, no bytes")
    assert VALUE not in kept.reason
    other = without_secrets(letter, pack().stream("copies"), MASK)
    assert other.data == b"", "a derived stream may have secrets, too"


def test_the_key_that_lost_runs_is_told_by_its_hash(tmp_path: Path) -> None:
    limited = PACK + (
        "rule held { by card  over pay sliding 1 hour  having percentile(amount, 0.5) > 90  limit 3 events }"
    )
    recording = Recording(tmp_path, limited)
    keys = []
    for mask in (None, MASK):
        session = Session(compile_plan([recording.pack]), options=MatchOptions(mask=mask))
        session.feed(recording.events("pay", pays(300)))
        session.drain()
        lost = {
            one: number for one, number in session.counts.items() if isinstance(one, WindowEventsOverLimit)
        }
        keys.append(sorted((json.loads(one.key)["card"], number) for one, number in lost.items()))
    assert [card for card, _ in keys[0]] == ["c2"], "of a batch the key that lost most"
    assert keys[1] == sorted((MASK(card), number) for card, number in keys[0])


@pytest.mark.parametrize("text", ["", "x", VALUE, "\ud800", "x" * 10_000])
def test_a_hash_is_that_of_the_standard(text: str) -> None:
    import hashlib
    import hmac

    expected = hmac.new(MASK_KEY.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    assert MASK(text) == expected[:DIGITS]
    assert Mask(b"another key of its own")(text) != MASK(text)
    assert MASK_KEY not in repr(MASK)
