"""Signatures on the wire, checked by the published standardwebhooks package."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime

import pytest
import standardwebhooks
from hypothesis import given
from hypothesis import strategies as st

from alerts.signing import SignatureError, secret_key, signature, signed_headers, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of 32 bytes long.").decode()
SECRETS = st.binary(min_size=24, max_size=64).map(lambda key: "whsec_" + base64.b64encode(key).decode())


def test_the_signature_of_the_specification() -> None:
    """The example that the specification and all its libraries test with."""
    key, body = secret_key(SECRET), b'{"test": 2432232314}'
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body) == expected


@given(SECRETS, st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), st.text())
def test_the_oracle_believes_us(secret: str, id_: str, text: str) -> None:
    body = text.encode()
    headers = signed_headers([secret_key(secret)], id_, int(time.time()), body)
    standardwebhooks.Webhook(secret).verify(body, headers, json_parse=False)


@given(SECRETS, st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), st.text())
def test_we_believe_the_oracle(secret: str, id_: str, text: str) -> None:
    now = datetime.now(UTC)
    headers = {
        "Webhook-Id": id_,
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": standardwebhooks.Webhook(secret).sign(id_, now, text),
    }
    assert verify([secret_key(secret)], headers, text.encode(), now.timestamp()) == id_


def test_while_a_secret_is_replaced_both_sides_may_be_ahead() -> None:
    old, new = secret_key(SECRET), secret_key(OTHER)
    now, body = int(time.time()), b"{}"
    both = signed_headers([new, old], "m1", now, body)
    standardwebhooks.Webhook(SECRET).verify(body, both)
    standardwebhooks.Webhook(OTHER).verify(body, both)
    for known in ([old], [new], [old, new]):
        assert verify(known, both, body, now) == "m1"
    assert verify([new, old], signed_headers([old], "m1", now, body), body, now) == "m1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"webhook-id": "m2"}, "no signature fits"),
        ({"webhook-timestamp": "1000001"}, "no signature fits"),
        ({"webhook-signature": "v1,AAAA"}, "no signature fits"),
        ({"webhook-signature": "v1a,é nonsense ,"}, "no signature fits"),
        ({"webhook-signature": ""}, "webhook-signature is missing"),
        ({"webhook-id": ""}, "webhook-id is missing"),
        ({"webhook-timestamp": "soon"}, "not a number"),
        ({"webhook-timestamp": "-5"}, "not a number"),
        ({"webhook-timestamp": "٣"}, "not a number"),
        ({"webhook-timestamp": "9" * 400}, "not a number"),
        ({"webhook-timestamp": "999699"}, "too old"),
        ({"webhook-timestamp": "1000301"}, "too new"),
    ],
)
def test_what_was_changed_is_not_believed(change: dict[str, str], reason: str) -> None:
    key, body = secret_key(SECRET), b'{"amount": 900}'
    headers = signed_headers([key], "m1", 1_000_000, body)
    assert verify([key], headers, body, 1_000_000) == "m1"
    with pytest.raises(SignatureError, match=reason):
        verify([key], headers | change, body, 1_000_000)


def test_another_body_or_secret_is_not_believed() -> None:
    headers = signed_headers([secret_key(SECRET)], "m1", 1_000_000, b"900")
    with pytest.raises(SignatureError, match="no signature fits"):
        verify([secret_key(SECRET)], headers, b"901", 1_000_000)
    with pytest.raises(SignatureError, match="no signature fits"):
        verify([secret_key(OTHER)], headers, b"900", 1_000_000)


def test_the_tolerance_is_five_minutes_both_ways() -> None:
    key = secret_key(SECRET)
    headers = signed_headers([key], "m1", 1_000_000, b"")
    assert verify([key], headers, b"", 1_000_300) == verify([key], headers, b"", 999_700) == "m1"
    assert verify([key], headers, b"", 2_000_000, tolerance=10**7) == "m1"


def test_without_a_secret_nothing_is_signed() -> None:
    assert signed_headers([], "m1", 1, b"") == {"webhook-id": "m1", "webhook-timestamp": "1"}


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_!!!!", "whsec_c2hvcnQ=", "whsec_" + "A" * 200, "pässword"]
)
def test_a_bad_secret_is_refused_without_being_told(secret: str) -> None:
    with pytest.raises(ValueError, match="a webhook secret") as caught:
        secret_key(secret)
    assert len(secret) < 7 or secret not in str(caught.value)


def test_a_secret_may_lack_prefix_and_padding() -> None:
    full = "whsec_" + base64.b64encode(b"x" * 32).decode()
    assert secret_key(full.removeprefix("whsec_").rstrip("=")) == secret_key(full) == b"x" * 32
