"""The trace of `--trace`: a second engine follows the runs asked for, beside the one that raises alerts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from alerts.notation import timestamp
from alerts.raised import Raised
from alerts.shown import shown
from cep.automata.plan import compile_plan
from cep.cli.output import error_text
from cep.cli.trace_option import Asked, selection
from cep.cli.trace_text import as_json, lines
from cep.counters import Counts
from cep.evaluate import Session
from cep.events import TIME, Events
from cep.inprocess.engines import Engine
from cep.matching.trace import Trace
from rules.nouns import counted
from rules.typed import Pack

_STEP = 5_000
_MOST_STEPS = 32
"""A bounded trace takes a batch in parts: of so many events at least, and in so many parts at most."""


@dataclass(slots=True)
class Tracing:
    """An engine, beside which another one follows the runs that are asked for.

    That one runs only the rules selected, and sees only events of the keys selected, so that a long stream
    costs little memory. It stops when the trace has all that it may have.
    """

    asked: Asked
    trace: Trace
    _engine: Engine
    _session: Session
    _times: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, asked: Asked, packs: Sequence[Pack], engine: Engine) -> Tracing:
        """Beside an engine of the packs. Raises UsageError where nothing can be told."""
        trace = Trace(selection(asked, packs), asked.most)
        wanted = [
            replace(p, rules=tuple(r for r in p.rules if trace.selection.has(r.name) or r.into is not None))
            for p in packs
        ]
        return cls(asked, trace, engine, Session(compile_plan(wanted, observed=True), trace=trace))

    @property
    def counts(self) -> Counts:
        """The counters of the engine that raises the alerts."""
        return self._engine.counts

    def feed(self, events: Sequence[Events], watermark: int) -> list[Raised]:
        """Alerts that the engine raises; the runs asked for are followed beside it."""
        if self.trace.left_out is None:
            self._follow(events, watermark)
            self._session.late.clear()
        return self._engine.feed(events, watermark)

    def finish(self) -> list[Raised]:
        """Alerts that the engine still holds back when the input ends."""
        return self._engine.finish()

    def _follow(self, events: Sequence[Events], watermark: int) -> None:
        """Let the runs go on; with a bound in steps of event time, until it is reached."""
        session, trace = self._session, self.trace
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

    def written(self, form: str) -> Iterator[bytes]:
        """The lines of the trace: what happened, what still waits, and what is left out."""
        records = [*self.trace.records, *self.trace.waiting()]
        if form == "json":
            texts = [json.dumps(as_json(record), ensure_ascii=False) for record in records]
            if self.trace.left_out is not None:
                left = {"kind": "left out", "time": timestamp(self.trace.left_out), "most": self.trace.most}
                texts.append(json.dumps(left))
        else:
            texts = [*map(shown, lines(records)), *self._left_out()]
        for text in texts:
            yield text.encode("utf-8", "backslashreplace") + b"\n"

    def told(self, form: str) -> list[str]:
        """Messages about the trace for standard error: that it is empty, or that a file has only a part."""
        if self.empty:
            why, fix = self._why_empty()
            return [error_text(f"the trace is empty: {why}", fix)]
        return self._left_out() if form == "text" and self.asked.file != "-" else []

    @property
    def empty(self) -> bool:
        """True if a rule, a key or a run was asked for and the trace has no record of it."""
        return self.asked.narrow and not self.trace.records

    def _left_out(self) -> list[str]:
        """A line on what is left out and how to get it; none if that is nothing."""
        if self.trace.left_out is None:
            return []
        told, since = counted(len(self.trace.records), "thing"), timestamp(self.trace.left_out)
        less = "" if self.trace.selection.keys else ", --trace rule=NAME,key=VALUE tells of less"
        left = f"left out is what happened from {since} on, and what waits in the end"
        return [f"trace: the first {told}; {left}: --trace most=all tells of it{less}"]

    def _why_empty(self) -> tuple[str, str]:
        """Reason and fix for an empty trace."""
        narrowed = self.trace.narrowed
        if self.trace.selection.keys and not narrowed.found:
            shown = [", ".join(json.dumps(v, ensure_ascii=False) for v in key) for key in narrowed.others]
            others = f"keys are such as {' and '.join(shown)}" if shown else "no event of these rules came"
            return "no event has that key", others
        if self.asked.run is not None:
            return f"there is no run {self.asked.run}", "leave run= out to see those that there are"
        return "no event came to these rules", "the counts tell what became of the events"
