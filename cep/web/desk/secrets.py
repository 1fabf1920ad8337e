"""Secret values as people give them: the clear text, or the hash that pages show; alerts have the hash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from alerts.masking import DIGITS, Mask
from alerts.matchers import Matcher, Matchers
from alerts.outbox import Wanted
from cep.web.desk.desk import JobDesk
from cep.web.desk.packs import running
from rules.typed import Pack

_HASH = re.compile(f"[0-9a-f]{{{DIGITS}}}")


def secret_names(packs: Iterable[Pack]) -> frozenset[str]:
    """The names under which alerts of these packs have hashes."""
    found: set[str] = set()
    for rule in (rule for pack in packs for rule in pack.rules):
        timeouts = getattr(rule.body, "on_timeout", None) or ()
        found.update(one.name for one in (*rule.emit, *timeouts) if one.secret)
        found.update(() if rule.by is None else rule.by.secrets)
    return frozenset(found)


def hashed(value: object, mask: Mask) -> object:
    """The hash of a text, also where it is given already."""
    return mask(value) if isinstance(value, str) and not _HASH.fullmatch(value) else value


def shown(desk: JobDesk, wanted: Wanted) -> Wanted:
    """The alerts wanted by a key, which is asked for as they show it. Raises OutboxError and SecretError."""
    if wanted.key is None or (mask := desk.job.mask(desk.environ)) is None:
        return wanted
    names = secret_names(running(desk).values())
    key = {name: hashed(value, mask) if name in names else value for name, value in wanted.key.items()}
    return replace(wanted, key=key)


def shown_filter(written: Mapping[str, str], asked: Wanted, found: Wanted) -> Mapping[str, str]:
    """A filter as it may be written down: where the key was hashed, with that."""
    return written if asked.key == found.key else {**written, "key": json.dumps(found.key)}


def shown_by(desk: JobDesk, matchers: Matchers) -> Matchers:
    """Matchers with hashes of secret values; an expression is compared with the hash as it stands.

    Raises OutboxError and SecretError.
    """
    if (mask := desk.job.mask(desk.environ)) is None:
        return matchers
    names = secret_names(running(desk).values())
    return Matchers(tuple(_shown(one, names, mask) for one in matchers.all))


def _shown(one: Matcher, names: frozenset[str], mask: Mask) -> Matcher:
    name = one.name.removeprefix("key.").removeprefix("emit.")
    if name not in names or one.operator == "=~" or not one.value:
        return one
    return replace(one, value=str(hashed(one.value, mask)))


def variants(
    key: Mapping[str, object], names: frozenset[str], mask: Mask | None
) -> tuple[Mapping[str, object], ...]:
    """A key as it is given, and as alerts show it where that differs: alerts of before a field was secret
    have the clear text, and so has what people wrote."""
    if mask is None:
        return (key,)
    other = {name: hashed(value, mask) if name in names else value for name, value in key.items()}
    return (key,) if other == key else (key, other)
