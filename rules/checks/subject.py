"""The subject of a lint: a pack without errors, and the texts that it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rules import syntax, typed
from rules.checks.conditions import Condition, conditions
from rules.diagnostics import Diagnostic, Label, Level
from rules.resolve.declared import Declared
from rules.source import Span


@dataclass(frozen=True, slots=True)
class Subject:
    """A typed pack, its syntax trees in order of file, what it declares, what is certain of conditions."""

    pack: typed.Pack
    files: Sequence[syntax.File]
    declared: Declared
    conditions: tuple[Condition, ...]
    _names: Mapping[tuple[type, str], Span]

    @staticmethod
    def of(pack: typed.Pack, files: Sequence[syntax.File], declared: Declared) -> Subject:
        """The subject, with the places of its names."""
        names = {
            (type(block), block.name.text): block.name.span
            for file in files
            for block in file.blocks
            if isinstance(block, syntax.Rule | syntax.Stream)
        }
        return Subject(pack, files, declared, tuple(conditions(pack)), names)

    def blocks(self) -> Iterator[syntax.Block]:
        """All blocks of all files, in order."""
        for file in self.files:
            yield from file.blocks

    def name_of(self, kind: type[syntax.Rule] | type[syntax.Stream], name: str) -> Span:
        """Where a rule or stream says its name. Raises KeyError."""
        return self._names[kind, name]

    def streams_read(self) -> set[str]:
        """The streams that some rule reads, documents of hits included."""
        read: set[str] = set()
        origins = {stream.name: stream.origin for stream in self.pack.streams}
        for rule in self.pack.rules:
            for name in rule.streams:
                origin = origins[name]
                read |= {name, origin.documents} if isinstance(origin, typed.QueryHits) else {name}
        return read


Labels = tuple[tuple[Span, str], ...]


def warning(
    code: str, message: str, span: Span, *, help_: str, note: str = "", labels: Labels = ()
) -> Diagnostic:
    """A finding of a lint: something that is probably not meant."""
    return _finding("warning", code, message, span, note, help_, labels)


def hint(
    code: str, message: str, span: Span, *, help_: str, note: str = "", labels: Labels = ()
) -> Diagnostic:
    """A finding of a lint that may well be meant, and is worth a thought."""
    return _finding("hint", code, message, span, note, help_, labels)


def _finding(
    level: Level, code: str, message: str, span: Span, note: str, help_: str, labels: Labels
) -> Diagnostic:
    places = tuple(Label(place, text) for place, text in labels)
    return Diagnostic(code, level, message, span, note, places, help=help_)
