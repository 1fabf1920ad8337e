"""Packs that are to run: read and checked by the front end, then by what the engine and their queries need.

A folder whose files name several packs in their headers is taken apart by those headers, so that a job's
folder of packs, or a folder of examples, can be checked and tested as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rules.diagnostics import Allowed, Diagnostic, has_errors, in_order
from rules.pack_files import RefusedError, opened, rule_files
from rules.packs import MOST_BYTES, SUFFIX, Loaded, load, load_texts, read_texts
from rules.typed import Pack

if TYPE_CHECKING:
    from cep.plan.plan import HitStream
    from cep.standing.kept import KeptQueries

    Earlier = Callable[[HitStream], KeptQueries]

_HEADER = re.compile(
    r'\ufeff?(?:\s|(?:#|//|--)[^\n]*\n)*(?P<header>pack\s+(?P<name>`[^`\n]+`|\w+)(?:\s+version\s*"[^"\n]*")?)'
)
_RULE = re.compile(r"^[ \t]*rule\s+(`[^`\n]+|\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checked:
    """A pack with everything that is to be said of it; None with errors. `rules` names those written.

    `allowed` are the findings that comments silence, `of_queries` those of the diagnostics that are about its
    standing queries: a line that is refused is left out of every run.
    """

    pack: Pack | None
    diagnostics: tuple[Diagnostic, ...]
    rules: tuple[str, ...]
    allowed: tuple[Allowed, ...] = ()
    of_queries: tuple[Diagnostic, ...] = ()


def checked_in(path: Path, *, to_run: bool = True, earlier: Earlier | None = None) -> list[Checked]:
    """The pack of a file, or the packs of a folder, with what the engine cannot run yet.

    Such a finding is an error where the pack is `to_run`, else a hint. `earlier` gives sets of standing
    queries from which those of the packs may be made.
    """
    inside = path if path.is_dir() else None
    return [
        _examined(load(files, inside), partial(_texts, files, inside), to_run, earlier)
        for files in _packs_in(path)
    ]


def checked_text(name: str, text: str, folder: Path, *, to_run: bool = True) -> Checked:
    """The pack of a text, checked as those of `checked_in`; `name` stands for its file in diagnostics.

    Files that it names are relative to the folder.
    """
    from rules.query_files import with_files

    loaded = load_texts([(name, text)])
    if loaded.pack is not None and loaded.pack.queries:
        pack, missing = with_files(loaded.pack, folder)
        told = tuple(in_order((*loaded.diagnostics, *missing)))
        loaded = Loaded(None if missing else pack, told, loaded.allowed)
    return _examined(loaded, lambda: [text], to_run, None)


def runnable(one: Checked) -> Pack | None:
    """The pack if it can be run."""
    return None if has_errors(one.diagnostics) else one.pack


def _packs_in(path: Path) -> list[list[Path]]:
    """The files of each pack; a folder in which there is nothing to take apart stays whole."""
    if not path.is_dir():
        return [[path]]
    groups: list[tuple[str, set[str], list[Path]]] = []
    try:
        for file in rule_files(path, SUFFIX):
            found = _HEADER.match(_text(file, path))
            name, header = (
                (found["name"].strip("`"), " ".join(found["header"].split())) if found else ("", "")
            )
            for other, headers, files in groups:
                # Another version in the same folder is a mistake, in another folder another revision.
                if other == name and (header in headers or any(file.parent == f.parent for f in files)):
                    headers.add(header)
                    files.append(file)
                    break
            else:
                groups.append((name, {header}, [file]))
    except OSError:
        return [[path]]  # loading will say which file cannot be read
    return [files for _, _, files in groups] if len(groups) > 1 else [[path]]


def _examined(
    loaded: Loaded, texts: Callable[[], Sequence[str]], to_run: bool, earlier: Earlier | None
) -> Checked:
    if loaded.pack is None:
        return Checked(None, loaded.diagnostics, _written(texts()))
    from cep.operators.patterns.compile.too_many import OF_AUTOMATA
    from cep.packs.unsupported import unsupported

    refused = unsupported(loaded.pack)
    if not to_run:
        refused = [f if f.code in OF_AUTOMATA else replace(f, level="hint") for f in refused]
    of_queries: list[Diagnostic] = []
    if loaded.pack.queries:
        from cep.standing.findings import findings

        of_queries = findings(loaded.pack, earlier) if earlier else findings(loaded.pack)
    found = tuple(in_order((*loaded.diagnostics, *refused, *of_queries)))
    names = tuple(rule.name for rule in loaded.pack.rules)
    return Checked(loaded.pack, found, names, loaded.allowed, tuple(of_queries))


def _written(texts: Sequence[str]) -> tuple[str, ...]:
    """The rules of a pack that cannot be read as a whole."""
    return tuple(found[1].strip("`") for text in texts for found in _RULE.finditer(text))


def _text(file: Path, folder: Path) -> str:
    """The text of a file of a folder; empty where it is refused, as loading will say. Raises OSError."""
    try:
        with opened(file, folder, MOST_BYTES) as opening:
            return opening.read().decode("utf-8", "replace")
    except RefusedError:
        return ""


def _texts(paths: Sequence[Path], inside: Path | None) -> list[str]:
    found, _ = read_texts(paths, inside)
    return [text for _, text in found]
