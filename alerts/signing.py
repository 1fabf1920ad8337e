"""Signatures of Standard Webhooks 1.0: who sent a body, unchanged, and when.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

SignatureError      a message that is not to be believed, and why
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Mapping, Sequence

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"

TOLERANCE = 300
"""Seconds that a message's timestamp may be away from the receiver's clock."""

_PREFIX = "whsec_"
_VERSION = "v1"


class SignatureError(Exception):
    """A message without a valid signature."""


def new_secret() -> str:
    """A secret of 32 random bytes."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def secret_key(secret: str) -> bytes:
    """The key of a secret: `whsec_` and base64, of 24 to 64 bytes (the prefix may be left out).

    Raises ValueError with a sentence that does not repeat the secret.
    """
    text = secret.strip().removeprefix(_PREFIX)
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a webhook secret is whsec_ followed by the base64 of 24 to 64 bytes") from None
    if not 24 <= len(key) <= 64:
        raise ValueError(
            f"a webhook secret is whsec_ followed by the base64 of 24 to 64 bytes, this one has {len(key)}"
        )
    return key


def signature(key: bytes, id_: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; `timestamp` in seconds since 1970."""
    digest = hmac.digest(key, f"{id_}.{timestamp}.".encode() + body, "sha256")
    return f"{_VERSION},{base64.b64encode(digest).decode()}"


def signed_headers(keys: Sequence[bytes], id_: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a message, with one signature for every key, in their order.

    While a secret is replaced, sign with the new and the old. Without keys there is no signature.
    """
    headers = {ID: id_, TIMESTAMP: str(timestamp)}
    if keys:
        headers[SIGNATURE] = " ".join(signature(key, id_, timestamp, body) for key in keys)
    return headers


def verify(
    keys: Sequence[bytes], headers: Mapping[str, str], body: bytes, now: float, tolerance: float = TOLERANCE
) -> str:
    """The id of a message that was signed with one of the keys within `tolerance` seconds of `now`.

    Names of headers are compared without case. Raises SignatureError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in (ID, TIMESTAMP, SIGNATURE) if not given.get(name)]
    if missing:
        raise SignatureError(f"the header {missing[0]} is missing")
    if not (given[TIMESTAMP].isascii() and given[TIMESTAMP].isdigit() and len(given[TIMESTAMP]) < 16):
        raise SignatureError(f"{TIMESTAMP} is not a number of seconds")
    timestamp = int(given[TIMESTAMP])
    if abs(now - timestamp) > tolerance:
        age = "old" if timestamp < now else "new"
        raise SignatureError(f"{TIMESTAMP} is too {age}, by more than {tolerance:g} seconds")
    expected = [signature(key, given[ID], timestamp, body).encode() for key in keys]
    # every pair is compared, so that the time taken does not reveal which key it was
    matches = [
        hmac.compare_digest(one, offered.encode()) for offered in given[SIGNATURE].split() for one in expected
    ]
    if not any(matches):
        raise SignatureError("no signature fits the body and a known secret")
    return given[ID]
