"""CEP0319: a name that mixes scripts, or that looks like another one of the pack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from percolator.query.unseen import described, mixes, skeleton
from rules import syntax, typed
from rules.checks.subject import Subject, warning
from rules.diagnostics import Diagnostic
from rules.source import Span


def check(subject: Subject) -> Iterator[Diagnostic]:
    """A warning at the first place of every such name."""
    if all(file.source.text.isascii() for file in subject.files):
        return
    names = _names(subject)
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(skeleton(name), []).append(name)
    for name, span in names.items():
        if name.isascii():
            continue
        others = [other for other in alike[skeleton(name)] if other != name]
        if mixes(name):
            odd = next((char for char in name if not char.isascii() and char.isalpha()), name[0])
            message = f"`{name}` mixes letters of different scripts: `{odd}` is {described(odd)}"
            yield warning("CEP0319", message, span, help_="write all of its letters in one script")
        elif others:
            message = f"`{name}` looks like `{others[0]}` and is another name"
            labels = ((names[others[0]], "the other one"),)
            help_ = "rename one of them; if they are meant to be one, write both alike"
            yield warning("CEP0319", message, span, labels=labels, help_=help_)


def _names(subject: Subject) -> Mapping[str, Span]:
    """All names of a pack, each with its first place."""
    found: dict[str, Span] = {}
    for block in subject.blocks():
        for part in typed.walk(block):
            if isinstance(part, syntax.Name):
                found.setdefault(part.text, part.span)
    return found
