"""The client of a schema registry (Confluent's REST interface): schemas by their ids, which never change.

NotRegisteredError    the registry does not know an id, or a version; the text is a predicate

A registry that does not answer is waited for; then the batch fails, and the job goes on where it stopped when
it is started again. No record is taken for malformed since a network was down.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import UUID

import httpcore

from cep.decode.formats import OF_REGISTRY, Registry
from cep.errors import ConfigurationError, OutsideError
from cep.secrets import SecretError

NO_ANSWER, NOT_ADMITTED = "CEP0875", "CEP0876"
PATIENCE = 300.0
"""Seconds for a registry to come back before the batch fails."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between questions; the last again and again."""
_TIMEOUT = {"connect": 5.0, "read": 10.0, "write": 10.0, "pool": 10.0}
_LARGEST = 4 << 20
"""Bytes of an answer."""
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_MANY = 200
"""References of a schema, those of references included."""


class NotRegisteredError(Exception):
    """There is no such schema."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema as a registry has it: `kind` is AVRO, PROTOBUF or JSON, `before` has the texts of what it
    refers to by the name that it has there, in the order in which they need one another."""

    kind: str
    text: str
    before: Mapping[str, str]


class Client:
    """Asks one registry. Its connections are kept; several threads may ask."""

    def __init__(
        self, registry: Registry, environ: Mapping[str, str] | None = None, patience: float = PATIENCE
    ) -> None:
        """Raises ConfigurationError where an option's value is not there, or cannot be used."""
        self._address, self._patience = registry.address, patience
        told = _revealed(registry, os.environ if environ is None else environ)
        self._headers = [("accept", _ACCEPT), ("user-agent", "cep")]
        if "username" in told:
            both = base64.b64encode(f"{told['username']}:{told['password']}".encode()).decode()
            self._headers.append(("authorization", f"Basic {both}"))
        self._pool = httpcore.ConnectionPool(ssl_context=_context(registry, told), max_connections=4)

    def schema(self, id_: int | UUID) -> Registered:
        """The schema of an id. Raises NotRegisteredError, OutsideError."""
        kind = "guids" if isinstance(id_, UUID) else "ids"
        found = self._object(f"/schemas/{kind}/{id_}", f"schema {id_}")
        before: dict[str, str] = {}
        self._follow(found, before)
        return Registered(_text(found, "schemaType", "AVRO"), _text(found, "schema"), before)

    def check(self) -> None:
        """Raises OutsideError where the registry does not answer now, or not to this user."""
        self._asked("/schemas/types", 0.0)

    def close(self) -> None:
        """Closes its connections."""
        self._pool.close()

    def _follow(self, schema: Mapping[str, Any], before: dict[str, str]) -> None:
        """Adds what a schema refers to, what that refers to first."""
        for one in schema.get("references") or ():
            name, subject, version = _text(one, "name"), _text(one, "subject"), one.get("version")
            if name in before:
                continue
            if len(before) >= _MANY or not isinstance(version, int):
                raise NotRegisteredError(f"refers to {name} in a way that cannot be followed")
            before[name] = ""  # one that refers to itself is followed once
            path = f"/subjects/{quote(subject, safe='')}/versions/{version}"
            found = self._object(path, f"version {version} of subject {subject}")
            self._follow(found, before)
            del before[name]
            before[name] = _text(found, "schema")

    def _object(self, path: str, what: str) -> Mapping[str, Any]:
        """The registry's answer about something. Raises NotRegisteredError, OutsideError."""
        status, body = self._asked(path, self._patience)
        if status == 404:
            raise NotRegisteredError(f"the registry {self._address} has no {what}")
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if status != 200 or not isinstance(found, dict) or "schema" not in found:
            said = f"what answers at {self._address}{path} is no schema registry: HTTP {status}"
            raise OutsideError(said, "correct `registry` in [feeds.STREAM]", NO_ANSWER)
        return found

    def _asked(self, path: str, patience: float) -> tuple[int, bytes]:
        """Status and body of an answer. Raises OutsideError."""
        until, asked = time.monotonic() + patience, 0
        while True:
            try:
                status, body = self._get(path)
                if status in (401, 403):
                    self._refused(status)
                if status < 500 and status != 429:
                    return status, body
                why = f"HTTP {status}"
            except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
                why = str(error) or type(error).__name__
            if time.monotonic() >= until:
                said = f"the schema registry {self._address} does not answer: {why}"
                help_ = "see whether it runs and the address is right; then start the job again: it goes on"
                raise OutsideError(said, help_, NO_ANSWER)
            time.sleep(min(_PAUSES[min(asked, len(_PAUSES) - 1)], max(until - time.monotonic(), 0.0)))
            asked += 1

    def _refused(self, status: int) -> None:
        """Raises OutsideError."""
        said = f"the schema registry {self._address} does not let the job in: HTTP {status}"
        help_ = f"correct {OF_REGISTRY}username and {OF_REGISTRY}password; the user needs to read schemas"
        raise OutsideError(said, help_, NOT_ADMITTED)

    def _get(self, path: str) -> tuple[int, bytes]:
        extensions = {"timeout": _TIMEOUT}
        with self._pool.stream(
            "GET", self._address + path, headers=self._headers, extensions=extensions
        ) as answer:
            found = bytearray()
            for chunk in answer.iter_stream():
                found += chunk
                if len(found) > _LARGEST:
                    raise httpcore.ProtocolError(f"an answer of more than {_LARGEST:,} bytes")
            return answer.status, bytes(found)


_CLIENTS: dict[Registry, Client] = {}
_MAKING = threading.Lock()


def client_of(registry: Registry, made: Callable[[Registry], Client] = Client) -> Client:
    """The client of a registry that this process has. Raises ConfigurationError."""
    with _MAKING:
        if registry not in _CLIENTS:
            _CLIENTS[registry] = made(registry)
        return _CLIENTS[registry]


def _revealed(registry: Registry, environ: Mapping[str, str]) -> dict[str, str]:
    """The options by their names behind OF_REGISTRY. Raises ConfigurationError."""
    try:
        return {name.removeprefix(OF_REGISTRY): secret.reveal(environ) for name, secret in registry.options}
    except SecretError as error:
        raise ConfigurationError(str(error), error.help, "CEP0708") from error


def _context(registry: Registry, told: Mapping[str, str]) -> ssl.SSLContext | None:
    """The certificates that count; those of the machine where no other are named."""
    if urlsplit(registry.address).scheme != "https":
        return None
    authorities = told.get("ssl.ca.location")
    try:
        found = ssl.create_default_context(cafile=authorities)
        if (certificate := told.get("ssl.certificate.location")) is not None:
            found.load_cert_chain(certificate, told["ssl.key.location"])
    except (OSError, ssl.SSLError) as error:
        said = f"the certificates of the schema registry {registry.address} cannot be used: {error}"
        help_ = f"name PEM files in {OF_REGISTRY}ssl.ca.location and the others"
        raise ConfigurationError(said, help_, "CEP0752") from error
    return found


def _text(found: Any, key: str, otherwise: str | None = None) -> str:
    """A text of an answer. Raises NotRegisteredError where it is none."""
    value = found.get(key, otherwise) if isinstance(found, dict) else None
    if not isinstance(value, str):
        raise NotRegisteredError(f"the registry gives no {key} for it")
    return value
