"""Where each key and value of a TOML text stands, which tomllib does not tell.

A scanner of TOML 1.0 (https://toml.io/en/v1.0.0) for texts that tomllib accepts: it finds ends, it
does not judge. Paths are tuples of key names, with numbers for items of arrays.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from rules.source import SourceFile, Span

KeyPath = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'''', re.DOTALL
)
_BARE = re.compile(r"[^,\]}#\r\n]*[^,\]}#\s]")


@dataclass(slots=True)
class Places:
    """Spans by path. `twice` has the keys and tables that a text gives more than once, in order."""

    file: SourceFile
    keys: dict[KeyPath, Span] = field(default_factory=dict)
    values: dict[KeyPath, Span] = field(default_factory=dict)
    twice: list[Span] = field(default_factory=list)

    def key(self, path: KeyPath) -> Span:
        """Where the key is written; where it is not, the closest table around that is."""
        while path and path not in self.keys:
            path = path[:-1]
        return self.keys.get(path) or Span(self.file, 0, 0)

    def value(self, path: KeyPath) -> Span:
        """Where the value is written, or its key."""
        return self.values.get(path) or self.key(path)

    def option(self, feed: str, *names: str) -> Span:
        """Where an option of a feed is written, of "" the feed; the name of one in a table may have dots."""
        return self.value(self.dotted(("feeds", feed, *filter(None, names))))

    def dotted(self, path: KeyPath) -> KeyPath:
        """The path of a key whose name has dots: as it is if it is written in quotes, else that of tables."""
        return path if path in self.keys else (*path[:-1], *str(path[-1]).split("."))


def places_of(file: SourceFile) -> Places:
    """The places of a text; of one that is no TOML, as far as it could be followed."""
    scanner = _Scanner(file.text, Places(file))
    with suppress(_LostError):  # what was found so far is right, and tomllib has said what is wrong
        scanner.document()
    return scanner.found


def places_in_table(file: SourceFile, start: int, table: KeyPath, end: int) -> Places:
    """The places of a text that is, between two characters, the inside of an inline table of that path."""
    scanner = _Scanner(file.text[:end], Places(file), start)
    with suppress(_LostError):
        scanner.inside(table)
    return scanner.found


class _LostError(Exception):
    """Something that is no TOML."""


@dataclass(slots=True)
class _Scanner:
    text: str
    found: Places
    at: int = 0
    arrays: dict[KeyPath, int] = field(default_factory=dict)
    tables: set[KeyPath] = field(default_factory=set)

    def document(self) -> None:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def inside(self, table: KeyPath) -> None:
        while self._skip(_BLANK) < len(self.text):
            self._pair(table)
            if self._skip(_BLANK) < len(self.text):
                self._expect(",")

    def _header(self) -> KeyPath:
        double = self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        path, span = self._dotted(())
        self._expect("]]" if double else "]")
        if double:
            path = path[:-1] if isinstance(path[-1], int) else path
            number = self.arrays.get(path, -1) + 1
            self.arrays[path] = number
            self.found.keys.setdefault(path, span)
            path = (*path, number)
        elif path in self.tables:
            self.found.twice.append(span)
        self.tables.add(path)
        self.found.keys[path] = span
        return path

    def _pair(self, table: KeyPath) -> None:
        path, span = self._dotted(table)
        self._expect("=")
        if path in self.found.values:
            self.found.twice.append(span)
        self.found.keys[path] = span
        self._skip(_SPACE)
        self._value(path)

    def _dotted(self, table: KeyPath) -> tuple[KeyPath, Span]:
        """A key, whose names in front are tables too; and the place of its last name."""
        path = table
        while True:
            self._skip(_SPACE)
            word = self._match(_KEY)
            span = Span(self.found.file, self.at - len(word), self.at)
            path = (*path, _name(word))
            if path in self.arrays:  # a name of an array of tables means its last table
                path = (*path, self.arrays[path])
            self.found.keys.setdefault(path, span)
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return path, span
            self.at += 1

    def _value(self, path: KeyPath) -> None:
        start = self.at
        match self.text[start : start + 1]:
            case '"' | "'":
                self._match(_STRING)
            case "[":
                self._items("]", lambda number: self._item((*path, number)))
            case "{":
                self._items("}", lambda _: self._pair(path))
            case _:
                self._match(_BARE)
        self.found.values[path] = Span(self.found.file, start, self.at)

    def _item(self, path: KeyPath) -> None:
        self._value(path)
        self.found.keys[path] = self.found.values[path]

    def _items(self, close: str, one: Callable[[int], None]) -> None:
        self.at += 1
        number = 0
        while not self.text.startswith(close, self._skip(_BLANK)):
            one(number)
            number += 1
            if self.text.startswith(",", self._skip(_BLANK)):
                self.at += 1
            elif not self.text.startswith(close, self.at):
                raise _LostError
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise _LostError
        self.at = found.end()
        return found[0]

    def _expect(self, mark: str) -> None:
        self._skip(_SPACE)
        if not self.text.startswith(mark, self.at):
            raise _LostError
        self.at += len(mark)


def _name(word: str) -> str:
    """The name that a key's text stands for."""
    if word[0] == '"':
        try:
            (name,) = tomllib.loads(f"{word} = 0")  # escapes as TOML has them
        except tomllib.TOMLDecodeError:
            raise _LostError from None
        return name
    return word.strip("'")
