"""Tests of packs through the reference in place of the engine."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cep.inprocess.engines import Reference
from cep.inprocess.rows import typed_events
from rules.testing import Engine, Moment, Seen
from rules.typed import Pack


def reference_engine(pack: Pack) -> Engine:
    """Runs a timeline through the reference, without suppression."""

    def run(moments: Sequence[Moment], rules: tuple[str, ...]) -> list[Seen]:
        engine, number = Reference(pack, True), 0
        for moment in moments:
            events, refused = typed_events(pack, moment.arrivals, number)
            assert not refused
            engine.feed(events, moment.watermark)
            number += len(moment.arrivals)
        found = [Seen(one.time, json.loads(one.body)) for one in engine.finish()]
        return [seen for seen in found if seen.rule in rules]

    return run
