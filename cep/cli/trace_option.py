"""The option `--trace`, parsed: the runs to trace, the file for the trace, and its largest size."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, assert_never

from cep.batch.selection import KeyTest, Selection
from cep.cli.failure import UsageError
from rules.suggest import did_you_mean, meant
from rules.typed import Match, On, Over, Pack, Rule

MOST = 10_000
"""Records that a trace has if nobody says how many."""
_WORDS = ("rule", "key", "run", "most", "to")
_WORD = re.compile(r'\s*([\w-]+)(?:\.([^=,"]+))?=')
_TRACED = "rules with runs or windows"
_FORM = "write --trace rule=NAME,key=VALUE,run=NUMBER,to=FILE,most=NUMBER with those that you need"


@dataclass(frozen=True, slots=True)
class Asked:
    """The option as parsed, its names not yet looked up in the packs. `most` None: no limit."""

    file: str = "-"
    rules: tuple[str, ...] = ()
    keys: tuple[KeyTest, ...] = ()
    run: int | None = None
    most: int | None = MOST

    @property
    def narrow(self) -> bool:
        """True if it names a rule, a key or a run."""
        return bool(self.rules or self.keys or self.run is not None)


def asked(texts: Sequence[str]) -> Asked:
    """The option --trace parsed, from all its occurrences together. Raises UsageError.

    A text is a FILE, or words with commas between them: `rule=NAME` (again for each of several rules),
    `key=VALUE` for some field of the key, `key.FIELD=VALUE` for one, `run=NUMBER`, `to=FILE`, `most=NUMBER`
    or `most=all`. A value in double quotes is a JSON string.
    """
    found, given = Asked(), set()
    for text in texts:
        for word, of, value, quoted in _words(text):
            name = f"{word}.{of}" if of else word
            if name in given and word != "rule":
                _refuse(f"--trace says {name}= twice", "leave one of them out")
            given.add(name)
            match word:
                case "rule":
                    found = replace(found, rules=(*found.rules, value))
                case "key":
                    found = replace(found, keys=(*found.keys, KeyTest(of, value, quoted)))
                case "run":
                    found = replace(found, run=_number(word, value))
                case "most":
                    found = replace(found, most=None if value == "all" else _number(word, value))
                case _:
                    found = replace(found, file=value)
    return found


def _words(text: str) -> Iterator[tuple[str, str | None, str, bool]]:
    """Name, field and value of each word of a text, and whether it was quoted; a file is the word `to`."""
    begin = _WORD.match(text)
    if begin is None:
        yield "to", None, text, False
        return
    at = 0
    while (word := _WORD.match(text, at)) is not None:
        name, of = word[1], word[2]
        if name not in _WORDS or (of and name != "key"):
            guess = did_you_mean(name, _WORDS) or f"words are {', '.join(_WORDS)};"
            _refuse(f"--trace knows no `{word[0].strip()}`", f"{guess} a file of that name is to={text}")
        value, at, quoted = _value(text, word.end())
        yield name, of, value, quoted
        if at == len(text):
            return
        at += 1
    if at == len(text):
        _refuse(f"--trace {text}: a word is missing behind the last comma", _FORM)
    _refuse(
        f"--trace {text}: `{text[at:]}` is no word",
        """a value with a comma stands in double quotes: --trace 'key="a,b"'""",
    )


def _value(text: str, at: int) -> tuple[str, int, bool]:
    """The value that begins at a place, where it ends, and whether it was quoted."""
    if text[at : at + 1] != '"':
        end = text.find(",", at)
        end = len(text) if end < 0 else end
        if end == at:
            _refuse(f"--trace {text}: a value is missing", _FORM)
        return text[at:end], end, False
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except ValueError:
        _refuse(f"--trace {text}: a quote is not closed", """write --trace 'key="a,b"'""")
    if end < len(text) and text[end] != ",":
        _refuse(
            f"--trace {text}: a comma is missing behind the quotes", """write --trace 'key="a,b",run=1'"""
        )
    return value, end, True


def _number(word: str, value: str) -> int:
    if not value.isdecimal() or not int(value):
        _refuse(f"--trace {word}={value} is no number from 1 on", _FORM)
    return int(value)


def _refuse(message: str, fix: str) -> NoReturn:
    raise UsageError(message, fix)


def selection(asked_for: Asked, packs: Sequence[Pack]) -> Selection:
    """The runs that are asked for. Raises UsageError where there can be none such."""
    rules = [rule for pack in packs for rule in pack.rules]
    patterns = {rule.name: rule for rule in rules if _is_traced(rule)}
    for name in asked_for.rules:
        if all(rule.name != name for rule in rules):
            _refuse(
                f"--trace rule={name}: there is no such rule",
                meant(name, patterns, _TRACED),
            )
        if name not in patterns:
            told = meant(name, patterns, _TRACED)
            fix = f"a trace tells of the runs of patterns, and of windows; {told}"
            _refuse(f"--trace rule={name}: a rule with `on` has no runs", fix)
    named = asked_for.rules or tuple(patterns)
    chosen = [rule for rule in rules if rule.name in named and _is_traced(rule)]
    for test in asked_for.keys:
        chosen = _having(test, chosen)
    if asked_for.run is not None:
        chosen = [rule for rule in chosen if isinstance(rule.body, Match)]
        if not chosen and patterns:
            _refuse(f"--trace run={asked_for.run}: windows have no runs", "leave run= out to see all windows")
    if asked_for.run is not None and any(rule.by is not None and not asked_for.keys for rule in chosen):
        _refuse(
            f"--trace run={asked_for.run}: every key has a run of that number",
            f"name the key, too: --trace rule={chosen[0].name},key=VALUE,run={asked_for.run}",
        )
    if asked_for.run is not None and len(chosen) > 1 and not asked_for.rules:
        _refuse(
            f"--trace run={asked_for.run}: every rule has a run of that number",
            "name the rule, too; " + meant("", patterns, "rules with runs"),
        )
    every = not asked_for.rules and not asked_for.keys
    names = None if every else frozenset(rule.name for rule in chosen)
    return Selection(names, asked_for.keys, asked_for.run)


def _is_traced(rule: Rule) -> bool:
    """True of rules with runs or windows."""
    match rule.body:
        case Match() | Over():
            return True
        case On():
            return False
        case _:
            assert_never(rule.body)


def _having(test: KeyTest, rules: Sequence[Rule]) -> list[Rule]:
    """The rules whose partition key has the field of the test. Raises UsageError if there is none."""
    fields = {rule.name: rule.by.names if rule.by is not None else () for rule in rules}
    found = [
        rule
        for rule in rules
        if (fields[rule.name] if test.field is None else test.field in fields[rule.name])
    ]
    if not found:
        names = dict.fromkeys(name for of in fields.values() for name in of)
        what = "key" if test.field is None else f"key.{test.field}"
        said = f"--trace {what}={test.text}: "
        if not names:
            one = f"rule `{rules[0].name}` has" if len(rules) == 1 else "the rules have"
            _refuse(said + f"{one} no key", "leave it out: without `by` all runs are of one key")
        _refuse(
            said + f"there is no field `{test.field}` in the key", meant(test.field or "", names, "fields")
        )
    return found
