"""Style, scripts and pictures of the page, each under an address that has the digest of its content.

So a browser keeps them for ever, and asks for a new one as soon as there is one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FOR_EVER = "public, max-age=31536000, immutable"
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    digest: str


class StaticFiles:
    """The files beside this module, read once."""

    def __init__(self) -> None:
        folder = files("cep.web.page") / "static"
        self._files = {name: _read(folder / name) for name in _names(folder)}

    @property
    def route(self) -> Route:
        """The route that serves them."""
        return Route("/static/{digest}/{name:path}", self._serve, name="static")

    def address(self, name: str) -> str:
        """The address of a file. Raises KeyError."""
        return f"/static/{self._files[name].digest}/{name}"

    async def _serve(self, request: Request) -> Response:
        wanted: Mapping[str, str] = request.path_params
        found = self._files.get(wanted["name"])
        if found is None or found.digest != wanted["digest"]:
            return Response("there is no such file\n", 404, media_type="text/plain")
        return Response(found.content, media_type=found.media_type, headers={"cache-control": _FOR_EVER})


def _names(folder: Traversable) -> list[str]:
    own = [one.name for one in folder.iterdir() if one.is_file()]
    others = [f"vendored/{one.name}" for one in (folder / "vendored").iterdir()]
    return [name for name in own + others if _ending(name) in _TYPES]


def _ending(name: str) -> str:
    return f".{name.rpartition('.')[2]}"


def _read(file: Traversable) -> _File:
    content = file.read_bytes()
    return _File(content, _TYPES[_ending(file.name)], hashlib.sha256(content).hexdigest()[:_DIGITS])
