"""A store that speaks S3's protocol, on loopback: moto's, which keeps objects in this process's memory."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from cep.buckets import Bucket

REGION, KEY, SECRET = "eu-central-1", "KEY-OF-TESTS", "SECRET-OF-TESTS"

_NUMBERS = count()


class _InTurn:
    """The store's application, for a request at a time: it keeps objects in dictionaries without locks."""

    def __init__(self) -> None:
        self._application = DomainDispatcherApplication(create_backend_app)
        self._lock = threading.Lock()
        self.asked = 0
        self.gate: tuple[threading.Barrier, str] | None = None
        self.delay = 0.0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        if self.gate is not None and environ["PATH_INFO"].endswith(self.gate[1]):
            self.gate[0].wait(60)
        if self.delay:
            time.sleep(self.delay)
        with self._lock:
            self.asked += 1
            return list(self._application(environ, start_response))


@dataclass
class ObjectStore:
    """A store with one bucket, at a port that was free."""

    port: int = 0
    _application: _InTurn = field(default_factory=_InTurn)
    _server: BaseWSGIServer | None = None

    @property
    def asked(self) -> int:
        """The number of requests so far."""
        return self._application.asked

    @contextmanager
    def answering_together(self, number: int, suffix: str) -> Iterator[None]:
        """Within, requests for such names wait until there are so many, and fail after a minute without."""
        self._application.gate = threading.Barrier(number), suffix
        try:
            yield
        finally:
            self._application.gate = None

    def set_delay(self, seconds: float) -> None:
        """Each request waits so long from here on, as at a store that is far away."""
        self._application.delay = seconds

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def begin(self) -> None:
        """Answers from here on, with the objects that it had."""
        self._server = make_server(
            "127.0.0.1", self.port, self._application, threaded=True, request_handler=MotoRequestHandler
        )
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def end(self) -> None:
        """Answers no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def bucket(self) -> Bucket:
        """A place in the bucket that nobody else uses."""
        return Bucket(f"s3a://states/job-{next(_NUMBERS)}", self.endpoint, REGION, KEY, SECRET)

    def names(self, of: Bucket) -> list[str]:
        """The names of the objects of a place, sorted."""
        prefix = of.url.removeprefix("s3a://states/") + "/"
        pages = self._client().get_paginator("list_objects_v2").paginate(Bucket="states", Prefix=prefix)
        return sorted(one["Key"].removeprefix(prefix) for page in pages for one in page.get("Contents", ()))

    def make(self) -> None:
        """Makes the bucket, unless a store of this process, whose objects moto keeps, made it before."""
        client = self._client()
        if any(one["Name"] == "states" for one in client.list_buckets()["Buckets"]):
            return
        client.create_bucket(Bucket="states", CreateBucketConfiguration={"LocationConstraint": REGION})

    def _client(self):  # type: ignore[no-untyped-def]  # boto3 has no types
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name=REGION,
            aws_access_key_id=KEY, aws_secret_access_key=SECRET,
        )  # fmt: skip


def section(of: Bucket) -> str:
    """What a job file says of the store of a bucket; the secret is in its environment."""
    return (
        f'[s3]\nendpoint = "{of.endpoint}"\nregion = "{of.region}"\n'
        f'access_key = "{of.access_key}"\nsecret_key = "${{S3_SECRET}}"\n'
    )


@contextmanager
def running() -> Iterator[ObjectStore]:
    """A store for the block."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = ObjectStore()
    store.begin()
    try:
        store.make()
        yield store
    finally:
        store.end()
