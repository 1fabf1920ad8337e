"""The fields that a log's record gives: by its key, by its time, and as text that is all of its value."""

from __future__ import annotations

from collections.abc import Iterator

from cep.config.job import FeedOption
from cep.config.places import Places
from cep.sources.source import Feed
from rules.diagnostics import Diagnostic
from rules.suggest import did_you_mean
from rules.typed import Stream
from rules.types import Scalar

_TEXTS = (Scalar.STRING, Scalar.TEXT)


def check_record(feed: Feed | FeedOption, places: Places, stream: Stream) -> Iterator[Diagnostic]:
    """Everything that does not fit between what a record gives besides its value, and the stream."""
    written, at = feed.format, ("feeds", feed.name)
    types = {field.name: field.type for field in stream.fields}
    if written.key and written.key not in types:
        said = f"stream `{feed.name}` has no field `{written.key}`"
        help_ = did_you_mean(written.key, types) or f"its fields: {', '.join(types)}"
        yield Diagnostic("CEP0712", "error", said, places.value((*at, "key")), help=help_)
        return
    if written.key and types[written.key] not in (*_TEXTS, Scalar.LONG):
        said = f"`{written.key}` is a {types[written.key]}: a key gives a text or a whole number"
        help_ = "declare it as string or long, or read it from the value"
        yield Diagnostic("CEP0754", "error", said, places.value((*at, "key")), help=help_)
    if written.record_time and len(stream.time) > 1:
        said = f"the time of stream `{feed.name}` is `{'.'.join(stream.time)}`, within a record"
        help_ = "let the stream have a timestamp of its own, or remove `time`"
        yield Diagnostic("CEP0754", "error", said, places.value((*at, "time")), help=help_)
    yield from _twice(feed, places, stream)
    yield from _of_value(feed, places, stream)
    yield from _of_schema(feed, places, stream)


def _of_schema(feed: Feed | FeedOption, places: Places, stream: Stream) -> Iterator[Diagnostic]:
    """Fields that the schema of a feed's file cannot give."""
    if feed.format.schemas is None:
        return
    from cep.decode.by_schema.codecs import misfits

    for field, reason in misfits(stream, feed.format):
        place = ("feeds", feed.name, "fields", field)
        given = field in dict(feed.format.fields)
        at = places.value(place) if given else places.value(("feeds", feed.name, "schema"))
        help_ = "say in `fields` how the schema calls it, or declare the field as the schema has it"
        yield Diagnostic("CEP0767", "error", reason, at, help=help_)


def _twice(feed: Feed | FeedOption, places: Places, stream: Stream) -> Iterator[Diagnostic]:
    """A field that two of key, time, constants and source fields give."""
    written, at = feed.format, ("feeds", feed.name)
    given = [("key", written.key)] if written.key else []
    given += [("time", stream.time[0])] if written.record_time else []
    if len({name for _, name in given}) < len(given):
        said = f"`{written.key}` is the stream's time, which `time` gives"
        yield Diagnostic("CEP0754", "error", said, places.value((*at, "key")), help="remove one of them")
    for option, name in given:
        for table in ("fields", "constants"):
            if name in dict(getattr(written, table)):
                said = f"`{name}` is given by `{option}` and in `{table}`"
                place = places.key((*at, table, name))
                yield Diagnostic("CEP0754", "error", said, place, help="remove one of them")


def _of_value(feed: Feed | FeedOption, places: Places, stream: Stream) -> Iterator[Diagnostic]:
    """Values that would give no field, or one text for several."""
    written = feed.format
    if written.format != "raw" and not written.key and not written.record_time:
        return
    given = {written.key, *dict(written.constants)} | ({stream.time[0]} if written.record_time else set())
    left = [field for field in stream.fields if field.name not in given]
    if written.format != "raw":
        if not left:
            said = f"no field of stream `{feed.name}` is left for the value"
            place = places.key(("feeds", feed.name))
            yield Diagnostic("CEP0754", "error", said, place, help="read one from it, or write more fields")
        return
    if len(left) == 1 and left[0].type in _TEXTS:
        return
    names = ", ".join(f"`{field.name}` ({field.type})" for field in left) or "none is left"
    said = f'with format "raw" the value is the text of one field of stream `{feed.name}`: {names}'
    help_ = "let key, time and constants give the others, or declare one field of string or text"
    yield Diagnostic("CEP0754", "error", said, places.value(("feeds", feed.name, "format")), help=help_)
