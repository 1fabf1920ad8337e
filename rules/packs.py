"""Packs: rule files, or their texts -> a checked pack, or diagnostics.

The one door to the front end. A pack is a file, or all files of a folder; the driver hands the texts on
to workers, who come to the same pack by `load_texts`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rules.diagnostics import Allowed, Diagnostic, DiagnosticsError, has_errors, in_order
from rules.hidden import beginning
from rules.pack_files import RefusedError, opened, rule_files
from rules.revisions import revision
from rules.source import SourceFile, Span
from rules.typed import Pack

SUFFIX = ".rules"
_BLOCK = re.compile(r"(?<!\w)(?:pack|stream|table|queries|let|rule|test)\s")
MOST_BYTES = 64 << 20
"""Bytes that are read of a rule file: more than its 16 million characters can have (CEP0111)."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A pack, or None where some diagnostic is an error; with all diagnostics, in order of place.

    `allowed` are the findings that comments in the files silence.
    """

    pack: Pack | None
    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Allowed, ...] = ()

    def need(self) -> Pack:
        """The pack. Raises DiagnosticsError where there is none."""
        if self.pack is None:
            raise DiagnosticsError(self.diagnostics)
        return self.pack


def load(paths: Sequence[Path], inside: Path | None = None) -> Loaded:
    """The pack that files and folders hold together; of a folder all `*.rules` files, at any depth.

    Files that were found in a folder, `inside`, have to lie in it. Names in diagnostics are paths as given.
    """
    from rules.query_files import with_files

    found, diagnostics = read_texts(paths, inside)
    if diagnostics:
        checked = load_texts(found).diagnostics if found else ()
        return Loaded(None, tuple(in_order((*diagnostics, *checked))))
    loaded = load_texts(found)
    if loaded.pack is None or not loaded.pack.queries:
        return loaded
    pack, missing = with_files(loaded.pack)
    reported = tuple(in_order((*loaded.diagnostics, *missing)))
    return Loaded(None if missing else pack, reported, loaded.allowed)


def read_texts(
    paths: Sequence[Path], inside: Path | None = None
) -> tuple[list[tuple[str, str]], list[Diagnostic]]:
    """Name and text of every file, with folders and `inside` as for `load`, and what cannot be read."""
    found: list[tuple[str, str]] = []
    diagnostics: list[Diagnostic] = []
    for path in paths:
        for file, folder in _files(path, inside, diagnostics):
            text = _text(file, folder, diagnostics)
            if text is not None:
                found.append((str(file), text))
    return found, diagnostics


def load_texts(files: Sequence[tuple[str, str]]) -> Loaded:
    """The pack of files given as (name, text)."""
    if not files:
        return Loaded(
            None,
            (
                Diagnostic(
                    "CEP0508",
                    "error",
                    "no rule file was given",
                    help=f"name a {SUFFIX} file, or a folder that holds some",
                ),
            ),
        )
    from rules.checks import check
    from rules.grammar import parse
    from rules.resolve import resolve
    from rules.resolve.findings import Findings
    from rules.structure import with_structures

    findings = Findings()
    trees = []
    for name, text in files:
        broken = _not_unicode(name, text)
        if broken is not None:
            return Loaded(None, (broken,))
        tree, problems = parse(_source(name, text.removeprefix("\ufeff")))
        trees.append(tree)
        findings.diagnostics.extend(problems)
    pack, declared = resolve(trees, findings)
    if has_errors(findings.diagnostics):
        return Loaded(None, tuple(in_order(findings.diagnostics)))
    pack = replace(with_structures(pack), revision=revision(files), files=tuple(sorted(files)))
    found, allowed = check(pack, trees, declared)
    return Loaded(pack, tuple(in_order(found)), tuple(allowed))


def _source(name: str, text: str) -> SourceFile:
    """The text as a file. One in which no block begins is no rule file: messages do not repeat it."""
    return SourceFile(name, text) if _BLOCK.search(text) else SourceFile(name, text, drawn=beginning(text))


def _not_unicode(name: str, text: str) -> Diagnostic | None:
    """A text from JSON may hold half a character, which no file and no alert could."""
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        span = Span(SourceFile(name, text), problem.start, problem.start + 1)
        return Diagnostic(
            "CEP0507",
            "error",
            "this is half of a UTF-16 pair, not a character",
            span,
            help="write the character itself, or both halves of it",
        )
    return None


def _files(path: Path, inside: Path | None, diagnostics: list[Diagnostic]) -> list[tuple[Path, Path | None]]:
    """The file, or the rule files of the folder by name; with each the folder that it has to lie in."""
    try:
        if not path.is_dir():
            return [(path, inside)]
        files = rule_files(path, SUFFIX)
    except OSError as problem:
        diagnostics.append(_unreadable(Path(problem.filename or path), problem))
        return []
    if not files:
        message = f"there is no {SUFFIX} file in `{path}`"
        diagnostics.append(
            Diagnostic(
                "CEP0508", "error", message, help="name the folder that holds the rule files, or a file"
            )
        )
    return [(file, path) for file in files]


def _text(path: Path, folder: Path | None, diagnostics: list[Diagnostic]) -> str | None:
    """The text of a file. One that is found in a folder lies in it; one that is named may be anywhere."""
    try:
        with path.open("rb") if folder is None else opened(path, folder, MOST_BYTES) as file:
            return file.read(MOST_BYTES).decode("utf-8")
    except RefusedError as refused:
        message = f"`{path}` {refused}"
        diagnostics.append(Diagnostic("CEP0509", "error", message, help=refused.help))
    except FileNotFoundError:
        diagnostics.append(
            Diagnostic(
                "CEP0505",
                "error",
                f"there is no file `{path}`",
                help="correct the path; it is relative to the folder where the command runs",
            )
        )
    except UnicodeDecodeError as problem:
        message = f"`{path}` is not UTF-8: byte {problem.start} cannot be read"
        diagnostics.append(Diagnostic("CEP0507", "error", message, help="save the file as UTF-8"))
    except (OSError, ValueError) as problem:
        diagnostics.append(_unreadable(path, problem))
    return None


def _unreadable(path: Path, problem: OSError | ValueError) -> Diagnostic:
    message = f"cannot read `{path}`: {_reason(problem)}"
    return Diagnostic("CEP0506", "error", message, help="let the user of this command read it")


def _reason(problem: OSError | ValueError) -> str:
    return (getattr(problem, "strerror", None) or str(problem)).lower()
