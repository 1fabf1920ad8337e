"""Forms as the page sends them: few fields, none of them long, with the token against forms of others."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

from cep.web.desk.errors import MistakenError

LONGEST = 256 * 1024
"""Bytes of a form: 1,000 ids of episodes fit."""
_FIELDS = 1_100


class Form(dict[str, list[str]]):
    """The values of each field, in their order."""

    def one(self, name: str) -> str:
        """The last value of a field; empty if it is not there."""
        return self.get(name, [""])[-1]

    def every(self, name: str) -> list[str]:
        """Its values that are not empty."""
        return [value for value in self.get(name, []) if value]


async def form_of(request: Request) -> Form:
    """The form that a request carries. Raises MistakenError."""
    too_much = MistakenError(f"the form is larger than {LONGEST:,} bytes", "send less of it at a time")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST:
            raise too_much
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError as error:
        raise MistakenError("the form cannot be read", "send it from the page") from error
    form = Form()
    for name, value in fields:
        form.setdefault(name, []).append(value)
    return form


def local(address: str) -> str:
    """An address of this page, to go on to; the first page in place of any other."""
    inside = address.startswith("/") and not address.startswith("//")
    return address if inside and address.isprintable() and "\\" not in address else "/"


def query_of(values: Mapping[str, object]) -> str:
    """A query with those values that are there, with its question mark; empty without any."""
    from urllib.parse import urlencode

    given = {name: value for name, value in values.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""
