"""`cep fmt`: rule files in their one layout."""

from __future__ import annotations

import argparse
import json
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import FINDINGS, OK, UsageError

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from rules.diagnostics import Diagnostic

STDIN = "<stdin>"

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is and as it should be; `after` None: it has errors and stays as it is."""

    name: str
    before: str
    after: str | None

    @property
    def changes(self) -> bool:
        """True if the file has not the layout."""
        return self.after is not None and self.after != self.before


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "fmt",
        help="lay out rule files in the one way",
        description="Rewrite rule files in their one layout. Only blanks and line ends change; a file with a "
        "syntax error is left as it is. Exit code 1 if there is one, and with --check or --diff if a "
        "file would change.",
    )
    parser.set_defaults(
        usual="cep fmt PATH..., or cep fmt - from standard input",
        elsewhere=dict.fromkeys(
            ("--write", "-w", "-i", "--in-place"),
            "leave it out: files are written",
        ),
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a rule file, a folder of rule files, or `-`: from standard input to standard output",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name the files that would change"
    )
    parser.add_argument("--diff", action="store_true", help="write nothing; show what would change")


def run(arguments: argparse.Namespace) -> int:
    """Lay out the files and say which were changed; returns the exit code."""
    from cep.cli.output import diagnostics_text

    piped = "-" in arguments.paths
    if piped and len(arguments.paths) > 1:
        raise UsageError("`-` stands alone: standard input goes to standard output", "leave the others out")
    files, diagnostics = _read_stdin() if piped else _read([Path(path) for path in arguments.paths])
    files, problems = _laid_out(files)
    diagnostics += problems
    writes = not (arguments.check or arguments.diff)
    if writes and not piped:
        for file in files:
            _write(file)
    if arguments.format == "json":
        print(_json(files, diagnostics, arguments, piped))
    else:
        print(diagnostics_text(diagnostics, sys.stderr), end="", file=sys.stderr)
        if piped and writes:
            _put(files[0].after or "" if files else "")
        else:
            _tell(files, arguments)
    would = not writes and any(file.changes for file in files)
    return FINDINGS if diagnostics or would else OK


def _read(paths: Sequence[Path]) -> tuple[list[File], list[Diagnostic]]:
    from cep.cli.named_paths import check_rule_paths
    from rules.packs import read_texts

    check_rule_paths(paths)
    found, diagnostics = read_texts(paths)
    return [File(name, text, None) for name, text in dict(found).items()], diagnostics


def _read_stdin() -> tuple[list[File], list[Diagnostic]]:
    from rules.diagnostics import Diagnostic

    try:
        return [File(STDIN, sys.stdin.buffer.read().decode("utf-8"), None)], []
    except UnicodeDecodeError as problem:
        message = f"standard input is not UTF-8: byte {problem.start} cannot be read"
        return [], [Diagnostic("CEP0507", "error", message, help="save the text as UTF-8")]


def _laid_out(files: Sequence[File]) -> tuple[list[File], list[Diagnostic]]:
    from rules.format import formatted
    from rules.source import SourceFile

    done: list[File] = []
    diagnostics: list[Diagnostic] = []
    for file in files:
        after, problems = formatted(SourceFile(file.name, file.before.removeprefix("\ufeff")))
        diagnostics += problems
        done.append(File(file.name, file.before, after))
    return done, diagnostics


def _write(file: File) -> None:
    """The file in its layout, where its name leads to, with the permissions it has."""
    from cep.files import write_whole

    if file.changes and file.after is not None:
        path = Path(file.name).resolve()
        write_whole(path, file.after.encode(), stat.S_IMODE(path.stat().st_mode))


def _tell(files: Sequence[File], arguments: argparse.Namespace) -> None:
    """Names or differences to stdout, how many to stderr."""
    from cep.cli.output import paint
    from rules.nouns import counted

    for file in files:
        if file.changes:
            _put(_difference(file) if arguments.diff else f"{file.name}\n")
    changed = sum(file.changes for file in files)
    refused = sum(file.after is None for file in files)
    verb = "would change" if arguments.check or arguments.diff else "changed"
    kept = len(files) - changed - refused
    were = "it was" if kept == 1 else "they were"
    total = f"{counted(changed, 'file')} {verb}, {counted(kept, 'file')} as {were}"
    if refused:
        total += f", {counted(refused, 'file')} with errors"
    colour = "red" if refused else "yellow" if changed else "green"
    print(paint(total, colour, sys.stderr), file=sys.stderr)


def _difference(file: File) -> str:
    """The changes as a unified difference; a line without its end is marked as diff marks it."""
    from difflib import unified_diff

    before, after = (_LINE.findall(text) for text in (file.before, file.after or ""))
    lines = unified_diff(before, after, file.name, file.name)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _json(
    files: Sequence[File], diagnostics: Sequence[Diagnostic], arguments: argparse.Namespace, piped: bool
) -> str:
    from cep.cli.output import diagnostics_json

    told: list[dict[str, object]] = []
    for file in files:
        entry: dict[str, object] = {"file": file.name, "changed": file.changes, "errors": file.after is None}
        if arguments.diff:
            entry["diff"] = _difference(file) if file.changes else ""
        if piped:
            entry["text"] = file.after
        told.append(entry)
    found = {"files": told, "changed": sum(file.changes for file in files)}
    return json.dumps({**found, "diagnostics": diagnostics_json(diagnostics)}, ensure_ascii=False)


def _put(text: str) -> None:
    """Text to standard output as it is, whatever the terminal's encoding: it may go to a file."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()
