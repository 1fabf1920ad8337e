"""The silences that somebody would want who looks at an alert or an episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from alerts.matchers import LONGEST, MatcherError, Matchers
from alerts.notation import plain
from cep.web.page.forms import query_of


def silences_for(pack: str, rule: str, key: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """Each in words, and as lines of matchers; the one that holds back least comes first."""
    of_rule = {"pack": pack, "rule": rule}
    of_key = {f"key.{name}": _value(value) for name, value in key.items()}
    said = ", ".join(f"{name} {_value(value) or 'null'}" for name, value in key.items())
    choices = [(f"rule {rule}", of_rule)]
    if key:
        choices.insert(0, (f"rule {rule} for {said}", of_rule | of_key))
        choices.append((f"every rule for {said}", of_key))
    found = ((said, _lines(values)) for said, values in choices)
    return [(said, lines) for said, lines in found if lines is not None]


def silence_address(pack: str, rule: str, key: Mapping[str, object]) -> str:
    """The address of the form for the first of these."""
    choices = silences_for(pack, rule, key)
    return f"/silences{query_of({'matchers': choices[0][1]})}" if choices else "/silences"


def _lines(values: Mapping[str, str]) -> str | None:
    """Matchers that ask for these values, a line each; None for values that no matcher can have."""
    if any(len(value) > LONGEST for value in values.values()):
        return None
    if not all(map(_usable, values)):
        return None
    return "\n".join(str(one) for one in Matchers.equal(values).all)


@lru_cache(1_000)
def _usable(name: str) -> bool:
    """True for a name that a matcher can have, such as the rule language's."""
    try:
        return Matchers.of([f"{name} = x"]) == Matchers.equal({name: "x"})
    except MatcherError:
        return False


def _value(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else plain(value)
