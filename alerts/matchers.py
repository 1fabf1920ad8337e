"""Matchers: conditions on what an alert says, as routes, silences and inhibitions write them.

    severity = high        the value is this
    card_id != c1          it is another, or there is none
    rule =~ "card_.*"      the whole of it fits a regular expression of RE2

A name is `pack`, `rule`, `severity`, `kind`, `tags`, or else that of a key field or of an emitted value;
`key.NAME` and `emit.NAME` mean one of the two alone. A value is compared as summaries show it. One that is
not there, or null, is the empty text, as it is for Alertmanager. Of several tags one has to fit, and of `!=`
none may be it.

MatcherError    a text that is no matcher: what is wrong with it, and what to write
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, cast

from alerts.notation import plain

if TYPE_CHECKING:
    import re2

Operator = Literal["=", "!=", "=~"]
OF_EVERY_ALERT = ("pack", "rule", "severity", "kind", "tags")
"""The names that every alert has; whatever else is named is a key field or an emitted value."""
OF_A_RULE = frozenset(("pack", "rule", "severity"))
"""The names whose values all alerts of one rule share."""
LONGEST = 1_000
"""Characters of a value."""

_MEMORY = 8 << 20
_KEPT = 200
"""Characters of a value of which it is kept whether it fits."""
NAME = r"(?:key\.|emit\.)?[^\W\d]\w*"
"""A name of a value of alerts, as an expression."""
_WRITTEN = re.compile(rf"\s*({NAME})\s*(=~|!=|!~|==|=|~)(.*)", re.DOTALL)
_HOW = "write a name, `=`, `!=` or `=~`, and a value: `severity = high`"


class MatcherError(ValueError):
    """The text says what is wrong with a matcher, `help` what to write."""

    def __init__(self, said: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(said)
        self.help = help


class Labels(dict[str, tuple[str, ...]]):
    """The values of an alert by name, as texts: one, but for tags; worked out when they are asked for."""

    __slots__ = ("alert",)

    def __init__(self, alert: Mapping[str, object]) -> None:
        self.alert = alert

    def __missing__(self, name: str) -> tuple[str, ...]:
        found = self[name] = _values(self.alert, name)
        return found


def _values(alert: Mapping[str, object], name: str) -> tuple[str, ...]:
    if name == "tags":
        return tuple(map(str, cast(Iterable[object], alert["tags"]))) or ("",)
    if name in OF_EVERY_ALERT:
        return (str(alert[name]),)
    place, dot, rest = name.partition(".")
    if dot:
        return (_text(cast(Mapping[str, object], alert[place]).get(rest)),)
    key, emit = (cast(Mapping[str, object], alert[part]) for part in ("key", "emit"))
    return (_text(key[name] if name in key else emit.get(name)),)


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else plain(value)


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition. Raises MatcherError for a value that is no regular expression where one has to be."""

    name: str
    operator: Operator
    value: str

    def __post_init__(self) -> None:
        if len(self.value) > LONGEST:
            raise MatcherError(f"a value has {LONGEST:,} characters at most", "shorten it")
        if self.operator == "=~":
            _expression(self.value)

    def matches(self, labels: Labels) -> bool:
        """True for an alert of these values."""
        found = labels[self.name]
        if self.operator == "=":
            return self.value in found
        if self.operator == "!=":
            return self.value not in found
        if len(found) == 1:
            return _fits(self.value, found[0])
        return any(_fits(self.value, one) for one in found)

    def __str__(self) -> str:
        value = self.value
        bare = bool(value) and value == value.strip() and not value.startswith('"') and value.isprintable()
        return f"{self.name} {self.operator} {value if bare else json.dumps(value, ensure_ascii=False)}"


def _fits(pattern: str, value: str) -> bool:
    """True if the whole value fits the expression; values come again, and asking RE2 costs some us."""
    return _known_fits(pattern, value) if len(value) <= _KEPT else _asked(pattern, value)


def _asked(pattern: str, value: str) -> bool:
    return _expression(pattern).fullmatch(_storable(value)) is not None


_known_fits = lru_cache(1 << 16)(_asked)


def _storable(text: str) -> str:
    """The text without lone surrogates, which RE2 cannot read."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


@cache
def _expression(pattern: str) -> re2._Regexp:
    import re2  # only where there is one

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    help_ = "the syntax is RE2's: `card_.*`, `critical|high`"
    try:
        return re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise MatcherError("half of a surrogate pair in a regular expression", help_) from None
    except re2.error as error:
        reason = error.args[0]
        shown = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise MatcherError(f"this regular expression cannot be used: {shown}", help_) from None


def matcher(text: str) -> Matcher:
    """The matcher of a text, whose value may stand in quotes as in JSON. Raises MatcherError."""
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise MatcherError(f"`{text}` is no matcher" if text.strip() else "it is empty", _HOW)
    name, operator, rest = found[1], found[2], found[3].strip()
    if operator not in ("=", "!=", "=~"):
        meant = {"==": "=", "~": "=~"}.get(operator)
        said = f"there is no operator `{operator}`"
        raise MatcherError(said, f"write `{name} {meant} {rest}`" if meant else _HOW)
    return Matcher(name, cast(Operator, operator), _value(rest))


def _value(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        raise MatcherError(f"`{text}` is no text in quotes", 'write it as in JSON: `"a \\"b\\""`') from None
    assert isinstance(value, str)
    return value


@dataclass(frozen=True, slots=True)
class Matchers:
    """Conditions that all have to hold; none: they hold for every alert."""

    all: tuple[Matcher, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str]) -> Matchers:
        """Those of some texts. Raises MatcherError."""
        return cls(tuple(map(matcher, texts)))

    @classmethod
    def equal(cls, values: Mapping[str, str]) -> Matchers:
        """Those that ask for these values by name."""
        return cls(tuple(Matcher(name, "=", value) for name, value in values.items()))

    @property
    def of_a_rule(self) -> bool:
        """True if they hold for all alerts of a rule or for none."""
        return all(one.name in OF_A_RULE for one in self.all)

    def parted(self) -> tuple[Matchers, Matchers]:
        """Those that hold for all alerts of a rule or for none, and the others."""
        shared = tuple(one for one in self.all if one.name in OF_A_RULE)
        return Matchers(shared), Matchers(tuple(one for one in self.all if one.name not in OF_A_RULE))

    def matches(self, labels: Labels) -> bool:
        """True for an alert of these values."""
        return all(one.matches(labels) for one in self.all)

    def against(self, labels: Labels) -> Matcher | None:
        """The first that does not hold; None if all do."""
        return next((one for one in self.all if not one.matches(labels)), None)

    def __str__(self) -> str:
        return ", ".join(map(str, self.all)) or "every alert"
