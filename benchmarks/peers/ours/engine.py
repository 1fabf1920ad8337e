"""Our engine in one process: events to alerts in a file, with the state stored after every batch.

    python -m peers.ours.engine      in the folder `benchmarks`

The stages are those of the job: decode, classify, match and write alerts by column, put in order, store.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from alerts import patience
from alerts.raised_columns import RaisedColumns
from cep.allocator import keep_freed
from cep.batch.clock import BatchStart, clock_of, next_start
from cep.collector import paused
from cep.decode import Decoder, decoder
from cep.decode.compiled import load as load_decoding
from cep.events import Events
from cep.inprocess.session import StoredShard
from cep.operators.patterns.runtime.compiled import load as load_patterns
from cep.operators.windows.runtime.compiled import load as load_windows
from cep.packs.compile import compile_plan
from cep.resources.resource import Resources
from cep.routing.classify import classify
from cep.shard.advance import MatchOptions, match_shard
from cep.shard.memory import NOTHING
from cep.sources.files.reading import read
from cep.sources.files.splits import splits
from cep.sources.source import BATCH_BYTES, BLOCK
from peers.ours.answering import Stopwatch, hold
from rules.packs import load_texts

COMPILED = MatchOptions(compiled=True)


class Engine:
    """A pack over events of its one stream `e`, batch by batch, in one shard: there is one core."""

    def __init__(self, pack: str) -> None:
        self.plan = compile_plan([load_texts([("bench.rules", pack)]).need()])
        self.decoder: Decoder = decoder(self.plan.streams["e"])
        self._start, self._memory, self._resources = BatchStart(), NOTHING, Resources()
        self._stored = StoredShard()

    def batches(self, path: Path, batch: int = BATCH_BYTES) -> Iterator[list[Events]]:
        """The events of a file of JSON lines, in batches of so many bytes, read and decoded in parts as in a
        job."""
        waiting: list[Events] = []
        begin, length = 0, path.stat().st_size
        for part in splits(str(path), length, min(BLOCK, batch)):
            end = length if part.end < 0 else part.end
            for decoded in read(part, self.decoder):
                if decoded.dead:
                    raise SystemExit(f"not read: {decoded.dead[0]}")
                waiting.append(decoded.events)
            if end - begin >= batch or end == length:
                yield waiting
                waiting, begin = [], end

    def advance(self, events: Sequence[Events], out: BinaryIO) -> int:
        """One batch: writes its alerts in their order, stores the state; how many alerts."""
        with paused():  # as in the job's workers
            found = classify(self.plan, 1, events, self._start.watermark, self._resources)
            clock = clock_of(self._start, self.plan, found.seen)
            payloads = [found.payloads[0]] if 0 in found.payloads else []
            outcome = match_shard(self.plan, self._memory, payloads, clock, COMPILED)
            raised = RaisedColumns.ordered(outcome.parts)
            self._memory = outcome.memory
            self._stored.put(outcome.memory)
            self._start = next_start(self._start, clock, found.seen)
            out.writelines(raised.lines())
        return len(raised)


class Commands:
    """set_up, json, load, parsed, alone."""

    engine: Engine
    loaded: list[list[Events]]

    def set_up(self, pack: str) -> dict[str, object]:
        """Compiles a pack; the kernels' machine code is read from the cache that `make setup` fills."""
        watch = Stopwatch()
        load_patterns()
        load_windows()
        load_decoding()
        patience.load()
        self.engine = Engine(pack)
        return watch.answer()

    def json(self, path: str, out: str) -> dict[str, object]:
        """A file of JSON lines to a file of alerts."""
        watch, alerts = Stopwatch(), 0
        with Path(out).open("wb") as written:
            for events in self.engine.batches(Path(path)):
                alerts += self.engine.advance(events, written)
        return watch.answer(alerts=alerts)

    def load(self, path: str) -> dict[str, object]:
        """Reads events that `parsed` then takes."""
        self.loaded = list(self.engine.batches(Path(path)))
        return {"events": sum(part.table.num_rows for batch in self.loaded for part in batch)}

    def parsed(self, out: str) -> dict[str, object]:
        """Events in Arrow to a file of alerts."""
        watch, alerts = Stopwatch(), 0
        with Path(out).open("wb") as written:
            for events in self.loaded:
                alerts += self.engine.advance(events, written)
        return watch.answer(alerts=alerts)

    def alone(self, path: str, out: str) -> dict[str, object]:
        """Each line of a file as a batch: from its bytes until its alerts, if any, are in their file."""
        taken, offset, decoder = [], 0, self.engine.decoder
        with Path(path).open("rb") as lines, Path(out).open("wb") as written:
            for line in lines:
                begin = time.perf_counter_ns()
                decoded = decoder.decode_block(line, path, offset, decoder.stream.name)
                self.engine.advance([decoded.events], written)
                written.flush()
                taken.append((time.perf_counter_ns() - begin) / 1e3)
                offset += len(line)
        return {"microseconds": taken}


def main() -> None:
    """Answers until the input ends."""
    keep_freed()  # both as the job's workers
    pa.set_memory_pool(pa.system_memory_pool())
    commands = Commands()
    hold({name: getattr(commands, name) for name in ("set_up", "json", "load", "parsed", "alone")})


if __name__ == "__main__":
    main()
