"""CEP0303: a constant, a stream, a table or queries that nothing uses.

Step names are not looked at: an alert lists its events by them, so each is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules import syntax, typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning for every constant, table and set of queries that is not named, and every stream not read."""
    read, constants = subject.streams_read(), subject.declared.used_constants
    tables, queries = set(_tables(subject.pack)), set(_queries(subject.pack))
    for block in subject.blocks():
        match block:
            case syntax.Let(name) if name.text not in constants:
                message = f"constant `{name.text}` is never used"
            case syntax.Stream(name) if name.text not in read:
                message = f"no rule reads stream `{name.text}`"
            case syntax.Table(name) if name.text not in tables:
                message = f"no rule looks anything up in table `{name.text}`"
            case syntax.Queries(name) if name.text not in queries:
                message = f"no rule matches queries `{name.text}`"
            case _:
                continue
        yield warning("CEP0303", message, name.span, help_="remove it")


def _tables(pack: typed.Pack) -> Iterator[str]:
    return (p.table for rule in pack.rules for p in typed.walk(rule) if isinstance(p, typed.Lookup))


def _queries(pack: typed.Pack) -> Iterator[str]:
    return (s.origin.queries for s in pack.streams if isinstance(s.origin, typed.QueryHits))
