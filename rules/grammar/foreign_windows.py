"""Windows as EPL and its kin write them, `.win:time(5 min)`, and how they are written here."""

from __future__ import annotations

import re

from rules.grammar.foreign_times import interval_meant
from rules.grammar.phrases import UnexpectedToken

VIEW = r"(?:win\s*:\s*)?(?P<view>\w*time(?!s)\w*|\w*length\w*)\s*\((?P<of>[^)]*)\)?"
_DURATION = re.compile(r"[0-9.]+\s*[^\W\d]*")
_SECONDS = re.compile(r"[0-9]+\s*\Z")


def view_meant(found: UnexpectedToken) -> str:
    """The help for a view behind a stream's name; `following` is the text behind its dot."""
    view = re.match(VIEW, found.following, re.IGNORECASE)
    if view is None:
        return ""
    name, of = view["view"].lower(), view["of"].rpartition(",")[2].strip()
    if "length" in name:
        number = of if of.isdigit() else "n"
        return f"write `over {found.last} last {number} events`: it is evaluated at each event"
    if found.clause == "match":
        return f"a pattern is bounded by `within {_length(of)}`, behind its last step"
    return f"write `over {found.last} {'tumbling' if 'batch' in name else 'sliding'} {_length(of)}`"


def _length(written: str) -> str:
    """Our duration for one of EPL's; a number alone is seconds there."""
    if _SECONDS.match(written):
        return f"{written.strip()}s"
    meant = re.search(r"`([^`]+)`", interval_meant(written)) if _DURATION.match(written) else None
    return meant[1] if meant else "5 minutes"
