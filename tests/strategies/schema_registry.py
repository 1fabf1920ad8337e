"""A schema registry for tests: a real server on a free port, with Confluent's REST interface as far as it is
used to register schemas and to read them."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass
class SchemaRegistry:
    """Schemas by id, and by subject and version. `asked` has the paths that were asked for, `failing` the
    answers of so many requests to come."""

    user: tuple[str, str] | None = None
    schemas: list[dict[str, Any]] = field(default_factory=list)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    failing: list[int] = field(default_factory=list)
    address: str = ""

    def add(
        self,
        schema: str,
        kind: str = "AVRO",
        subject: str = "value",
        references: Sequence[tuple[str, str, int]] = (),
    ) -> int:
        """The id of a schema, registered as the next version of a subject."""
        refers = [dict(zip(("name", "subject", "version"), one, strict=True)) for one in references]
        self.schemas.append({"schema": schema, "schemaType": kind, "references": refers})
        self.subjects.setdefault(subject, []).append(len(self.schemas))
        return len(self.schemas)

    async def _by_id(self, request: Request) -> Response:
        return self._answer(request, int(request.path_params["id"]))

    async def _by_guid(self, request: Request) -> Response:
        guids = [str(guid_of(number)) for number in range(1, len(self.schemas) + 1)]
        guid = request.path_params["guid"]
        return self._answer(request, guids.index(guid) + 1 if guid in guids else 0)

    async def _by_version(self, request: Request) -> Response:
        ids = self.subjects.get(request.path_params["subject"], [])
        version = int(request.path_params["version"])
        return self._answer(request, ids[version - 1] if 0 < version <= len(ids) else 0)

    async def _types(self, request: Request) -> Response:
        return self._refusal(request) or JSONResponse(["AVRO", "PROTOBUF", "JSON"])

    def _answer(self, request: Request, id_: int) -> Response:
        if refusal := self._refusal(request):
            return refusal
        if not 0 < id_ <= len(self.schemas):
            return JSONResponse({"error_code": 40403, "message": "Schema not found"}, 404)
        one = self.schemas[id_ - 1]
        left = {"schemaType": "AVRO", "references": []}  # as the real one leaves out what is usual
        return JSONResponse({name: value for name, value in one.items() if left.get(name) != value})

    def _refusal(self, request: Request) -> Response | None:
        self.asked.append(request.url.path)
        if self.failing:
            return JSONResponse({"error_code": 50001, "message": "failing"}, self.failing.pop(0))
        if self.user is not None:
            both = base64.b64encode(":".join(self.user).encode()).decode()
            if request.headers.get("authorization") != f"Basic {both}":
                return JSONResponse({"error_code": 401, "message": "Unauthorized"}, 401)
        return None

    def app(self) -> Starlette:
        """The application."""
        return Starlette(
            routes=[
                Route("/schemas/types", self._types),
                Route("/schemas/ids/{id:int}", self._by_id),
                Route("/schemas/guids/{guid}", self._by_guid),
                Route("/subjects/{subject}/versions/{version:int}", self._by_version),
            ]
        )


def guid_of(id_: int) -> UUID:
    """The UUID of the schema with an id."""
    return uuid5(NAMESPACE_OID, str(id_))


@contextmanager
def serving(registry: SchemaRegistry, certificate: Path | None = None) -> Iterator[SchemaRegistry]:
    """The registry, reached at its `address` within the block; with a certificate, whose key lies beside it,
    under TLS."""
    tls = {} if certificate is None else {
        "ssl_certfile": str(certificate), "ssl_keyfile": str(certificate.with_name("key.pem"))
    }  # fmt: skip
    config = uvicorn.Config(registry.app(), "127.0.0.1", 0, log_level="error", **tls)  # type: ignore[arg-type]
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < until
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        registry.address = f"{'http' if certificate is None else 'https'}://127.0.0.1:{port}"
        yield registry
    finally:
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()
