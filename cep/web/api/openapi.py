"""The description of all operations: OpenAPI 3.1, made of them and of the types that they return."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import metadata
from typing import Any, Literal

from cep.web.api import events
from cep.web.api.answering import adapter
from cep.web.api.known import OPERATIONS, PREFIX
from cep.web.api.operation import Operation
from cep.web.api.problems import MEDIA_TYPE, Problem

_REF = "#/components/schemas/{model}"
_OF_EVENTS = {
    "400": "lines are no JSON, the others are kept; or a CloudEvent is none (CEP0977)",
    "415": "the body is of another type (CEP0964)",
    "429": "too much waits to be read (CEP0976), or too many wrong tokens (CEP0963)",
    "507": "the events could not be written (CEP0978)",
}
_REFUSALS = {
    "400": "what was sent cannot be meant (CEP0964)",
    "401": "a token is needed, or there is none such (CEP0961)",
    "403": "the token may not do this (CEP0962)",
    "404": "there is nothing of that name or id (CEP0966)",
    "409": "it does not fit how things stand (CEP0967)",
    "410": "the alert was erased (CEP0969)",
    "413": "the body is too large (CEP0965)",
    "429": "too many wrong tokens (CEP0963)",
    "503": "the job, or its outbox, cannot answer now",
}


@cache
def description() -> dict[str, Any]:
    """The description, a JSON object."""
    paths: dict[str, dict[str, Any]] = {}
    components: dict[str, Any] = {}
    for one in OPERATIONS:
        paths.setdefault(PREFIX + one.path, {})[one.method.lower()] = _operation(one, components)
    schema_of(Problem, components)
    paths[PREFIX + events.PATH] = {"post": _events()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Standing rules: a job's alerts", "version": metadata.version("standing-rules")},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _events() -> dict[str, Any]:
    """The operation that takes events, whose bodies are no JSON of ours."""
    text, more = {"type": "string"}, {"taken": {"type": "integer"}}
    taken = {"type": "object", "properties": more, "required": ["taken"], "additionalProperties": False}
    return {
        "operationId": "take_events",
        "summary": "Takes events of a feed",
        "description": f"For tokens with scope `{events.SCOPE}`.",
        "security": [{"token": []}],
        "parameters": [{"name": "stream", "in": "path", "required": True, "schema": text}],
        "requestBody": {
            "required": True,
            "content": {kind: {"schema": text if kind in events.LINES else {}} for kind in events.TYPES},
        },
        "responses": {
            "202": {"description": "they are on disk", "content": {"application/json": {"schema": taken}}},
            **{status: _refusal(says) for status, says in {**_REFUSALS, **_OF_EVENTS}.items()},
        },
    }


def _operation(one: Operation, components: dict[str, Any]) -> dict[str, Any]:
    answer = schema_of(one.answer, components)
    if one.in_list:
        answer = {"type": "object", "properties": {one.in_list: answer}, "required": [one.in_list],
                  "additionalProperties": False}  # fmt: skip
    found: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.says,
        "description": f"For tokens with scope `{one.scope}`.",
        "security": [{"token": []}],
        "parameters": _parameters(one),
        "responses": {
            "200": {"description": one.says, "content": {"application/json": {"schema": answer}}},
            **{status: _refusal(says) for status, says in _REFUSALS.items()},
        },
    }
    if one.body is not None:
        body = schema_of(one.body, components)
        found["requestBody"] = {"content": {"application/json": {"schema": body}}}
    if one.scope == "read":
        found["security"].append({})  # on an address of the machine alone
    return found


def _parameters(one: Operation) -> Sequence[dict[str, Any]]:
    text: dict[str, Any] = {"type": "string"}
    inside = [{"name": name, "in": "path", "required": True, "schema": text} for name in one.inside]
    query = [
        {
            "name": parameter.name,
            "in": "query",
            "description": parameter.says,
            "schema": {"type": "array", "items": text} if parameter.many else text,
        }
        for parameter in one.query
    ]
    return [*inside, *query]


def _refusal(says: str) -> dict[str, Any]:
    return {"description": says, "content": {MEDIA_TYPE: {"schema": {"$ref": _REF.format(model="Problem")}}}}


def _put(components: dict[str, Any], name: str, schema: dict[str, Any]) -> None:
    """Puts a schema among the components, where no other may be under its name already."""
    before = components.setdefault(name, schema)
    assert before == schema, f"two types are called {name}: their schemas would be one"


def schema_of(kind: Any, components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; what it names goes to the components."""
    mode: Literal["validation", "serialization"]
    mode = "validation" if getattr(kind, "__module__", "").endswith(".bodies") else "serialization"
    found = adapter(kind).json_schema(ref_template=_REF, mode=mode)
    for name, inner in found.pop("$defs", {}).items():
        _put(components, name, inner)
    if found.get("type") != "object":
        return found
    _put(components, kind.__name__, found)
    return {"$ref": _REF.format(model=kind.__name__)}
