"""An engine beside which another one follows the runs that a trace asks for.

The one that follows runs only the rules selected, and sees only events of the keys selected, so that a long
stream costs little memory. It stops when the trace has all that it may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from alerts.raised_columns import RaisedColumns
from cep.batch.trace import Trace
from cep.counters import Counts
from cep.events import TIME, Events
from cep.inprocess.engines import Engine
from cep.inprocess.session import Session
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.typed import Pack

_STEP = 5_000
_MOST_STEPS = 32
"""A bounded trace takes a batch in parts: of so many events at least, and in so many parts at most."""


@dataclass(slots=True)
class Following:
    """An `engine`, whose alerts and counters these are, and a `session` that fills the `trace` meanwhile."""

    engine: Engine
    session: Session
    trace: Trace
    _times: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, engine: Engine, packs: Sequence[Pack], trace: Trace) -> Following:
        """Beside an engine of the packs."""
        wanted = [
            replace(p, rules=tuple(r for r in p.rules if trace.selection.has(r.name) or r.into is not None))
            for p in packs
        ]
        return cls(
            engine, Session(compile_plan(wanted, observed=True), options=MatchOptions(trace=trace)), trace
        )

    @property
    def counts(self) -> Counts:
        """The counters of the engine."""
        return self.engine.counts

    @property
    def waiting(self) -> int:
        """The number of events that the watermark has not passed yet."""
        return len(self._times)

    def feed(self, events: Sequence[Events], watermark: int) -> RaisedColumns:
        """Alerts that the engine raises; the runs asked for are followed beside it."""
        if self.trace.left_out is None:
            self._follow(events, watermark)
            self.session.late.clear()
        return self.engine.feed(events, watermark)

    def finish(self) -> RaisedColumns:
        """Alerts that the engine still holds back when the input ends."""
        return self.engine.finish()

    def _follow(self, events: Sequence[Events], watermark: int) -> None:
        """Let the runs go on; with a bound in steps of event time, until it is reached."""
        session, trace = self.session, self.trace
        if trace.most is None:
            session.feed(events, watermark)
            trace.settle()
            return
        session.feed(events, session.watermark)
        came = [part.table.column(TIME).to_numpy() for part in events]
        times = np.sort(np.concatenate((self._times, *came)))
        passed = int(np.searchsorted(times, watermark, side="right"))
        step = max(_STEP, passed // _MOST_STEPS)
        self._times = times[passed:]
        for until in [*times[step - 1 : passed : step].tolist(), watermark]:
            session.feed([], until)
            trace.settle()
            if trace.left_out is not None:
                self._times = times[:0]
                session.memories.clear()
                return
