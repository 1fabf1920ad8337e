"""One operation, answered: its body checked, done, and what it returns as JSON values."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cep.web.api.operation import Asked, Operation
from cep.web.desk.errors import MistakenError
from cep.web.desk.filters import told

LONGEST_PARAMETER = 2_000


def answer(operation: Operation, asked: Asked, raw: bytes) -> dict[str, Any]:
    """The answer as a JSON object; `raw` is the body as it came.

    Raises DeskError, OutboxError and SecretError.
    """
    _check(operation, asked)
    body = None if operation.body is None else _body(operation.body, raw)
    if operation.body is None and raw.strip():
        raise MistakenError("this takes no body", "send none")
    return plain(operation, operation.do(replace(asked, body=body)))


def plain(operation: Operation, found: object) -> dict[str, Any]:
    """The result of an operation, as a JSON object."""
    if operation.in_list:
        assert isinstance(found, tuple)
        return {operation.in_list: [asdict(one) for one in found]}
    assert is_dataclass(found)
    assert not isinstance(found, type)
    return asdict(found)


def _check(operation: Operation, asked: Asked) -> None:
    known = {one.name: one for one in operation.query}
    for name in asked.query:
        if name not in known:
            may = ", ".join(f"`{one}`" for one in known) or "none"
            raise MistakenError(f"there is no parameter `{told(name)}`", f"parameters of this: {may}")
    texts = [(name, text) for name, some in asked.query.items() for text in some]
    for name, text in (*texts, *asked.path.items()):
        if len(text) > LONGEST_PARAMETER:
            said = f"`{name}` has {len(text):,} characters"
            raise MistakenError(said, f"at most {LONGEST_PARAMETER:,}")
        if "\0" in text:
            raise MistakenError(f"`{name}` holds NUL", "leave it out")


def _body(kind: Any, raw: bytes) -> object:
    if b"\\u0000" in raw:  # what PostgreSQL takes in no text
        raise MistakenError("the body holds NUL", "leave it out")
    try:
        return adapter(kind).validate_json(raw.strip() or b"{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise MistakenError("the body is no JSON", "send a JSON object in UTF-8") from None
        where = ".".join(told(str(part)) for part in first["loc"])
        said = f"`{where}`: {first['msg']}" if where else first["msg"]
        raise MistakenError(f"the body cannot be used: {said}", "/api/v1/openapi.json describes it") from None


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """The checks of a kind of value, made once."""
    return TypeAdapter(kind)
