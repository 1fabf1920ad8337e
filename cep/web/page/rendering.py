"""Templates, and how values look in them.

Everything that a template writes is escaped; what would move a terminal's cursor or turn the direction of
writing is shown as what it is; and no text is longer than `LONGEST`, whoever wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from alerts.notation import timestamp
from alerts.shown import shown, shown_lines
from cep.web.page.silencing import silence_address
from rules.instants import parse_instant

LONGEST = 20_000
"""Characters of one text on a page."""
MOST = 10_000
"""Episodes in a state that are counted: to count all that there are takes longer than a page may."""
_SECOND = 10**9
_FRACTION = re.compile(r"\.\d+")


def environment(address: Any) -> Environment:
    """The templates; `address` gives the address of a static file."""
    made = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = address
    made.filters |= {
        "moment": moment,
        "ago": ago,
        "count": count,
        "cut": cut,
        "pairs": pairs,
        "plain": plain,
        "silencing": silencing,
        "seconds": seconds,
    }
    return made


def _template(name: str) -> str | None:
    file = files("cep.web.page") / "templates" / name
    return file.read_text("utf-8") if file.is_file() else None


def _written(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return shown_lines(cut(value, LONGEST))
    return value


def cut(text: str, most: int) -> str:
    """The beginning of a text that is longer than `most`, and how long it is."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def count(number: float | None) -> str:
    """A number for people: `12,345`; a dash for none."""
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.1f}"


def up_to(number: int) -> str:
    """A number that was counted up to `MOST`."""
    return f"over {MOST:,}" if number > MOST else count(number)


def moment(at: int | str | None) -> str | Markup:
    """A moment, in ns or as text, with its day and second, exact in its attribute; a dash for none."""
    if at is None:
        return "–"
    try:
        exact = at if isinstance(at, str) else timestamp(at)
    except ValueError:
        return "–"
    text = _FRACTION.sub("", exact).replace("T", " ").removesuffix("Z")
    return Markup('<time datetime="{}">{}</time>').format(exact, shown(cut(text, 40)))


def ago(at: int | str | None, now: int) -> str:
    """The time since, or until, a moment: `3 min ago`, `in 2 h`."""
    if at is None:
        return "–"
    ns = parse_instant(at) if isinstance(at, str) else at
    text = seconds(abs(now - ns) / _SECOND)
    return f"{text} ago" if ns <= now else f"in {text}"


def seconds(length: float) -> str:
    """A length of time in one unit that suits it."""
    for unit, of, least in (("days", 86_400, 172_800), ("h", 3_600, 7_200), ("min", 60, 120)):
        if length >= least:
            return f"{length / of:,.0f} {unit}"
    return f"{length:,.1f}".removesuffix(".0") + " s"


def silencing(alert: Mapping[str, Any]) -> str:
    """The address of the form that silences the rule and key of an alert or an episode."""
    return silence_address(str(alert["pack"]), str(alert["rule"]), alert["key"])


def pairs(values: Mapping[str, object] | None) -> str:
    """Names and values on one line: `card_id c1, n 3`."""
    return ", ".join(f"{name} {plain(value)}" for name, value in (values or {}).items())


def plain(value: object) -> str:
    """A JSON value as people read it; what is nested as JSON."""
    if isinstance(value, str):
        return shown(value)
    return json.dumps(value, ensure_ascii=False)
