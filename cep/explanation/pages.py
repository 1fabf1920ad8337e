"""Every code that a user can meet, with its title and its page.

The pages are written in docs/errors and come with the package: `cep/error_pages` is a link to that folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def titles() -> Mapping[str, str]:
    """Title by code, over the tables of all parts, in order of code: CEP first, then PQ."""
    from alerts.codes import TITLES as OUTBOX
    from cep.codes import TITLES as JOB
    from cep.packs.unsupported import TITLES as NOT_EXECUTED
    from percolator.codes import TITLES as QUERIES
    from rules.codes import TITLES as LANGUAGE

    merged = {**LANGUAGE, **JOB, **OUTBOX, **NOT_EXECUTED, **{str(c): t for c, t in QUERIES.items()}}
    return MappingProxyType(dict(sorted(merged.items())))


def page(code: str) -> str:
    """The page of a code, as Markdown. Raises KeyError for a code that there is none of."""
    if code not in titles():
        raise KeyError(code)
    return files("cep").joinpath("error_pages", f"{code}.md").read_text(encoding="utf-8")


def address(code: str) -> str:
    """Where a page can be read: below the project's documentation, or the file that is installed here."""
    from importlib.metadata import PackageNotFoundError, metadata
    from urllib.parse import quote

    try:
        known = metadata("standing-rules").get_all("Project-URL") or []
    except PackageNotFoundError:
        known = []
    for entry in known:
        name, _, url = str(entry).partition(", ")
        if name.lower() == "documentation":
            return f"{url.rstrip('/')}/errors/{code}.md"
    return f"file://{quote(str(files('cep').joinpath('error_pages', f'{code}.md')))}"
