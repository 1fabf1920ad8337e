"""Dead letters that a batch reads again, decoded by one mapper as if their bytes stood where they stood."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from cep.decode.formats import BY_SCHEMA, UnknownFormatError
from cep.decode.letters import DeadLetter, Decoded
from cep.decode.log_records import decode_values
from cep.events import Events

if TYPE_CHECKING:
    from cep.decode.blocks import Decoder
    from cep.job.state_folder.replayed import Again
    from cep.sources.source import Feed

DecoderOf = Callable[[str], "Decoder | None"]
"""The decoder of a stream; None where no pack that runs declares it."""


def decoded_again(
    letters: Iterable[Again], decoder_of: DecoderOf, feeds: Mapping[str, Feed]
) -> Iterator[Decoded]:
    """Outcomes of letters, sorted by place: an event or a dead letter each, at its place of before."""
    for (stream, file, why), some in groupby(letters, key=lambda one: (one.feed, one.file, one.why)):
        again = list(some)
        decoder, feed = decoder_of(stream), feeds.get(stream)
        if decoder is None or feed is None:
            yield _refused(again, f"no pack that runs declares stream `{stream}`")
        elif why:
            yield _refused(again, why)
        else:
            partition = feed.source.partition_of(stream, file)
            records = [(one.offset, one.data) for one in again]
            if decoder.feed.format in BY_SCHEMA:
                yield decode_values(decoder, records, file, partition)
                continue
            try:
                yield from decoder.decode_records(records, file, partition, again[0].columns)
            except UnknownFormatError as error:
                yield _refused(again, str(error))


def _refused(letters: Sequence[Again], reason: str) -> Decoded:
    dead = tuple(DeadLetter(one.feed, one.file, one.offset, "decode", reason, one.data) for one in letters)
    return Decoded(Events(letters[0].feed, "", pa.table({})), dead)
