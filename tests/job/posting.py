"""Events sent to a job's port, by HTTP."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from job_folder import PATIENCE

TOKEN = "shop-0123456789-0123456789"


def by_http(streams: Iterable[str], port: int) -> str:
    """What a job file says of feeds by HTTP; the token is in its environment, as `SHOP`."""
    feeds = "".join(f'[feeds.{stream}]\nsource = "http"\n' for stream in streams)
    return (
        f'{feeds}[http]\nlisten = "127.0.0.1:{port}"\n'
        '[tokens.shop]\nsecret = "${SHOP}"\nscopes = ["ingest"]\n'
    )


def send(port: int, stream: str, events: Sequence[object]) -> int:
    """The status of the answer; 0 where none came."""
    body = b"".join(json.dumps(one).encode() + b"\n" for one in events)
    headers = {"content-type": "application/x-ndjson", "authorization": f"Bearer {TOKEN}"}
    with suppress(OSError, http.client.HTTPException):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", f"/api/v1/events/{stream}", body, headers)
        return connection.getresponse().status
    return 0


def until_taken(port: int, stream: str, events: Sequence[object]) -> None:
    """Sends them until they are taken."""
    deadline = time.monotonic() + PATIENCE
    while send(port, stream, events) != 202:
        assert time.monotonic() < deadline
        time.sleep(0.05)
