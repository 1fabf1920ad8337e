"""The trace of `--trace` as it is written, and what is said of one that is empty or cut short."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alerts.notation import timestamp
from alerts.shown import shown
from cep.batch.trace import Trace
from cep.cli.output import error_text
from cep.cli.trace_option import Asked, selection
from cep.cli.trace_text import as_json, lines
from cep.inprocess.engines import Engine
from cep.inprocess.following import Following
from rules.nouns import counted
from rules.typed import Pack


@dataclass(frozen=True, slots=True)
class Tracing:
    """The trace that is asked for, and the engine that fills it."""

    asked: Asked
    engine: Following

    @classmethod
    def of(cls, asked: Asked, packs: Sequence[Pack], engine: Engine) -> Tracing:
        """Beside an engine of the packs. Raises UsageError where nothing can be told."""
        return cls(asked, Following.of(engine, packs, Trace(selection(asked, packs), asked.most)))

    @property
    def trace(self) -> Trace:
        """The trace as far as it was filled."""
        return self.engine.trace

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
