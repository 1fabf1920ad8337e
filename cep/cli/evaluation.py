"""One case of `cep eval --cases`: its pack checked, its events run to the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from alerts.raised import Raised
from cep.cli.cases import Case, Prepared
from cep.inprocess.engines import Name
from cep.inprocess.listed import of_list
from cep.operators.patterns.compile.too_many import TOO_MANY_STATES
from cep.packs.read import checked_text
from rules.diagnostics import has_errors
from rules.typed import Pack


def prepared(name: Name, folder: Path) -> Callable[[str], Prepared]:
    """Checks the text of a pack for an engine. Texts that come again are not read again.

    Files that a pack names are relative to the folder.
    """

    @lru_cache(maxsize=256)
    def load(text: str) -> Prepared:
        one = checked_text("case.rules", text, folder)
        found = tuple(d for d in one.diagnostics if name == "compiled" or d.code != TOO_MANY_STATES)
        return (None if has_errors(found) else one.pack), found

    return load


def evaluated(name: Name) -> Callable[[Pack, Case], tuple[list[Raised], list[tuple[int, str]]]]:
    """Runs a case: its alerts in order, and number and reason of the events that are none."""

    def evaluate(pack: Pack, case: Case) -> tuple[list[Raised], list[tuple[int, str]]]:
        found = of_list(name, pack, case.events, case.times)
        return found.alerts, found.rejected

    return evaluate
