"""The test blocks of a pack, run by the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duel import as_alert

from alerts.notation import json_value
from cep.reference import HitLookup, decided
from cep.reference.text_conditions import text_predicate
from rules.testing.compare import Seen
from rules.testing.run import Engine, Result, run_test
from rules.testing.timeline import Moment
from rules.typed import Pack


def results(pack: Pack, hits: HitLookup | None = None) -> list[Result]:
    """The result of each test, suppression left out. `hits` percolates documents."""
    return [run_test(pack, test, _engine(pack, hits), json_value) for test in pack.tests]


def _engine(pack: Pack, hits: HitLookup | None) -> Engine:
    rules = {rule.name: rule for rule in pack.rules}

    def run(moments: Sequence[Moment], names: tuple[str, ...]) -> list[Seen]:
        some = replace(pack, rules=tuple(rules[name] for name in names))
        came = [(a.stream, str(a.id), a.values) for m in moments for a in m.arrivals if not a.late]
        found = decided(some, came, moments[-1].watermark, text_predicate(pack), hits)
        return [
            Seen(one.time, {**as_alert(pack, one), "severity": rules[one.rule].severity}) for one in found
        ]

    return run
