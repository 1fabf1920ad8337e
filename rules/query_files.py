"""The files of standing queries that a pack names: where they are, and a hash of what they hold.

The hash is part of the pack's revision. The lines are read by whoever checks or runs the queries: of a
file of a million lines nothing else is needed here, and a pack's texts travel without it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rules.diagnostics import Diagnostic
from rules.pack_files import RefusedError, opened
from rules.revisions import revision
from rules.typed import Pack, Queries

MOST_BYTES = 1 << 30
"""Bytes of a file of queries: a million of them have a fifth of that."""


def with_files(pack: Pack, folder: Path | None = None) -> tuple[Pack, list[Diagnostic]]:
    """The pack with the files of its queries found and hashed, and what cannot be read.

    Files are relative to the rule file that names them, and inside the folder that all rule files share; or
    relative to `folder`, and inside it, where the rules are in no file.
    """
    diagnostics: list[Diagnostic] = []
    inside = _folder(pack) if folder is None else folder
    found = tuple(
        _located(
            queries,
            Path(queries.span.file.name).parent if folder is None else folder,
            inside,
            diagnostics,
        )
        for queries in pack.queries
    )
    return _revised(replace(pack, queries=found)), diagnostics


def with_contents(pack: Pack, contents: Mapping[str, str]) -> Pack:
    """The pack whose queries, by name, have the content of these hashes, wherever their files are."""
    return _revised(
        replace(pack, queries=tuple(replace(q, content=contents.get(q.name, "")) for q in pack.queries))
    )


def contents_of(pack: Pack) -> dict[str, str]:
    """The contents that `with_contents` takes."""
    return {queries.name: queries.content for queries in pack.queries}


def _revised(pack: Pack) -> Pack:
    return replace(pack, revision=revision(pack.files, contents_of(pack)))


def _folder(pack: Pack) -> Path:
    """The folder that all rule files of the pack share."""
    return Path(os.path.commonpath([Path(name).absolute().parent for name, _ in pack.files]))


def _located(queries: Queries, folder: Path, inside: Path, diagnostics: list[Diagnostic]) -> Queries:
    path = folder / queries.file
    try:
        with opened(path, inside, MOST_BYTES) as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    except RefusedError as refused:
        message = f"`{path}` {refused}"
        diagnostics.append(Diagnostic("CEP0509", "error", message, queries.span, help=refused.help))
        return queries
    except FileNotFoundError:
        message = f"there is no file `{path}`"
        help_ = "paths are relative to the rule file that names them"
        diagnostics.append(Diagnostic("CEP0505", "error", message, queries.span, help=help_))
        return queries
    except (OSError, ValueError) as problem:
        reason = (getattr(problem, "strerror", None) or str(problem)).lower()
        message = f"cannot read `{path}`: {reason}"
        diagnostics.append(
            Diagnostic("CEP0506", "error", message, queries.span, help="let the user of this command read it")
        )
        return queries
    return replace(queries, path=str(path), content=content)
