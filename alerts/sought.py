"""Values that somebody asks to have erased, by the names of key fields and emitted values.

In an alert they stand under their names. In a text that people or strangers wrote, which has no names, a
value stands where no letter, digit or `_` is before or behind it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from alerts.notation import plain

Fields = Mapping[str, tuple[tuple[str, ...], ...]]
"""The paths of a stream's fields by the name that alerts have for them; others are called as alerts say."""
IN_ITS_PLACE = "[erased]"
"""Stands in a text where a value was."""


@dataclass(frozen=True, slots=True)
class Sought:
    """The `values`, of which an alert has to have all: texts, numbers, booleans.

    A text also means the number, the boolean or the time that is written so. No value is an empty text.
    """

    values: Mapping[str, str | int | float | bool]
    _patterns: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        made = (rf"(?<!\w)(?:{'|'.join(map(re.escape, _forms(one)))})(?!\w)" for one in self.values.values())
        object.__setattr__(self, "_patterns", tuple(map(re.compile, made)))

    @property
    def needles(self) -> tuple[str, ...]:
        """Texts of which one stands in the JSON of whatever has the first value."""
        return _forms(next(iter(self.values.values())))

    def is_of(self, alert: Mapping[str, object]) -> bool:
        """True for an alert that has each value under its name, in its key or among what it emits."""
        return all(
            any(
                isinstance(part := alert.get(where), Mapping) and name in part and self.fits(name, part[name])
                for where in ("key", "emit")
            )
            for name in self.values
        )

    def is_of_event(self, event: Mapping[str, object], fields: Fields) -> bool:
        """True for an event that has each value in one of the fields that alerts name so."""
        return all(
            any(self.fits(name, _at(event, path)) for path in fields.get(name, ((name,),)))
            for name in self.values
        )

    def fits(self, name: str, found: object) -> bool:
        """True if a value is the one sought under that name, or a list or record that holds it."""
        if isinstance(found, Mapping):
            return any(self.fits(name, one) for one in found.values())
        if isinstance(found, list | tuple):
            return any(self.fits(name, one) for one in found)
        wanted = self.values[name]
        if isinstance(wanted, str):
            return wanted == (found if isinstance(found, str) else "" if found is None else plain(found))
        if isinstance(wanted, bool) or isinstance(found, bool):
            return found is wanted
        return isinstance(found, int | float) and found == wanted

    def stands_in(self, text: str) -> bool:
        """True if a text holds every value."""
        return all(one.search(text) for one in self._patterns)

    def blanked(self, text: str) -> str:
        """The text without the values."""
        for one in self._patterns:
            text = one.sub(IN_ITS_PLACE, text)
        return text


def _at(event: object, path: tuple[str, ...]) -> object:
    for name in path:
        event = event.get(name) if isinstance(event, Mapping) else None
    return event


def _forms(value: str | float) -> tuple[str, ...]:
    """A value as it may stand in texts and in JSON, each once."""
    if not isinstance(value, str):
        return (plain(value),)
    inside = (json.dumps(value, ensure_ascii=only)[1:-1] for only in (False, True))
    return tuple(dict.fromkeys((value, *inside)))
