"""The feeds of a job file against the packs that it is to run: streams, fields, constants."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal, InvalidOperation

from cep.config.job import FeedOption, Job
from cep.config.places import Places
from cep.config.record_fields import check_record
from cep.sources.source import Feed
from rules.diagnostics import Diagnostic, in_order
from rules.instants import parse_instant
from rules.suggest import closest, did_you_mean, meant
from rules.typed import Derived, Fed, Pack, QueryHits, Stream
from rules.types import Scalar, Type


def check_feeds(
    job: Job, packs: Sequence[Pack], ever_read: Collection[str] = (), fed: Collection[str] = ()
) -> list[Diagnostic]:
    """Everything that does not fit between the feeds and the packs, in order of place.

    A feed that was `ever_read` into a state folder has to stay, also where no rule wants it any more. Streams
    that are `fed` by something else need no feed.
    """
    streams = {stream.name: stream for pack in packs for stream in pack.fed}
    readers = _readers(packs)
    known = {*fed, *(feed.name for feed in job.feeds)}
    lacking = [name for name in readers if name not in known]
    strange = [feed for feed in job.feeds if feed.name not in streams and feed.name not in ever_read]
    misnamed = _misnamed([feed.name for feed in strange], lacking)
    found: list[Diagnostic] = []
    for feed in job.feeds:
        if feed.name in streams:
            found.extend(check_format(feed, job.places, streams[feed.name]))
            if feed.name not in readers and feed.name not in ever_read:
                found.append(_unread(job, feed))
    for feed in strange:
        if feed.name in misnamed:
            name = misnamed[feed.name]
            found.append(_misnamed_feed(job, feed, streams[name], readers[name]))
        else:
            found.append(_strange(job, feed, streams))
    found.extend(
        _without_feed(job, streams[name], readers[name]) for name in lacking if name not in misnamed.values()
    )
    return in_order(found)


def unfed(job: Job, packs: Sequence[Pack], fed: Collection[str]) -> list[Diagnostic]:
    """The streams that some rule reads and no feed brings, nor anything else (`fed`)."""
    streams = {stream.name: stream for pack in packs for stream in pack.fed}
    known = {*fed, *(feed.name for feed in job.feeds)}
    readers = _readers(packs)
    return [_without_feed(job, streams[name], readers[name]) for name in readers if name not in known]


def _readers(packs: Sequence[Pack]) -> dict[str, str]:
    """The streams of feeds that rules read, in the order of the rules, each with the first of its rules."""
    found: dict[str, str] = {}
    for pack in packs:
        for rule in pack.rules:
            for name in rule.streams:
                for fed in _fed(pack, name):
                    found.setdefault(fed, rule.name)
    return found


def _fed(pack: Pack, name: str) -> Iterator[str]:
    """The streams of feeds that a stream is made of."""
    match pack.stream(name).origin:
        case Fed():
            yield name
        case QueryHits(documents=documents):
            yield from _fed(pack, documents)
        case Derived(rule=maker):
            for rule in pack.rules:
                if rule.name == maker:
                    for source in rule.streams:
                        yield from _fed(pack, source)


def _misnamed(strange: Sequence[str], unfed: Sequence[str]) -> dict[str, str]:
    """Feeds that no pack knows, with the streams without a feed that they were to be called after."""
    found: dict[str, str] = {}
    for name in strange:
        left = [stream for stream in unfed if stream not in found.values()]
        guess = closest(name, left)
        if guess is None and len(strange) == len(left) == 1:
            guess = left[0]
        if guess is not None:
            found[name] = guess
    return found


def _misnamed_feed(job: Job, feed: Feed, stream: Stream, reader: str) -> Diagnostic:
    return Diagnostic(
        "CEP0710",
        "error",
        f"no pack declares a stream `{feed.name}`, and stream `{stream.name}`, which rule `{reader}` reads, "
        "has no feed",
        job.places.key(("feeds", feed.name)),
        help=f"did you mean `{stream.name}`?",
    )


def _strange(job: Job, feed: Feed, streams: dict[str, Stream]) -> Diagnostic:
    return Diagnostic(
        "CEP0710",
        "warning",
        f"no pack declares a stream `{feed.name}`, so that this feed is not read",
        job.places.key(("feeds", feed.name)),
        help=meant(feed.name, streams, "streams"),
    )


def _unread(job: Job, feed: Feed) -> Diagnostic:
    return Diagnostic(
        "CEP0717",
        "warning",
        f"no rule reads stream `{feed.name}`: its events are read and thrown away",
        job.places.key(("feeds", feed.name)),
        help="remove the feed before the first start, or write a rule that reads the stream",
    )


def _without_feed(job: Job, stream: Stream, reader: str) -> Diagnostic:
    return Diagnostic(
        "CEP0711",
        "error",
        f"stream `{stream.name}`, which rule `{reader}` reads, has no feed in {job.places.file.name}",
        stream.span,
        help=f"add [feeds.{stream.name}] with source and path",
    )


def check_format(feed: Feed | FeedOption, places: Places, stream: Stream) -> Iterator[Diagnostic]:
    """Everything that does not fit between a feed, written in those places, and its stream."""
    at = ("feeds", feed.name)
    types = {field.name: field.type for field in stream.fields}
    for table, pairs in (("fields", feed.format.fields), ("constants", feed.format.constants)):
        for name, value in pairs:
            place = (*at, table, name)
            if name not in types:
                yield Diagnostic(
                    "CEP0712",
                    "error",
                    f"stream `{feed.name}` has no field `{name}`",
                    places.key(place),
                    help=_meant(name, value, types),
                )
            elif table == "constants" and (said := _misfit(value, types[name])):
                yield Diagnostic(
                    "CEP0713",
                    "error",
                    f"`{name}` {said}",
                    places.value(place),
                    help="write a value of the type that the stream declares",
                )
    both = dict(feed.format.fields).keys() & dict(feed.format.constants).keys()
    for name in sorted(both):
        yield Diagnostic(
            "CEP0712",
            "error",
            f"`{name}` is a constant and a source field at once",
            places.key((*at, "constants", name)),
            help="remove one of them",
        )
    yield from check_record(feed, places, stream)
    yield from _shared(feed, places, types)


def _shared(feed: Feed | FeedOption, places: Places, types: dict[str, Type]) -> Iterator[Diagnostic]:
    """One source field for several fields must mean one type."""
    constants = dict(feed.format.constants)
    first: dict[str, str] = {}
    for name, type_ in types.items():
        if name in constants:
            continue
        source = feed.format.source(name)
        other = first.setdefault(source, name)
        if types[other] != type_ and {types[other], type_} != {Scalar.STRING, Scalar.TEXT}:
            place = places.value(("feeds", feed.name, "fields", name))
            said = f"`{source}` cannot be both `{other}` ({types[other]}) and `{name}` ({type_})"
            yield Diagnostic(
                "CEP0715",
                "error",
                said,
                place,
                help="read one of them from another field, or declare both with one type",
            )


def _meant(name: str, value: object, types: dict[str, Type]) -> str:
    if value in types:
        return f'the stream\'s field stands first: {value} = "{name}"'
    return did_you_mean(name, types) or f"its fields: {', '.join(types)}"


def _misfit(value: object, type_: Type) -> str:
    """Why a constant is not of a type, or nothing."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match type_:
        case Scalar.STRING | Scalar.TEXT:
            fits = isinstance(value, str)
        case Scalar.LONG:
            fits = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        case Scalar.DOUBLE:
            fits = number and abs(float(str(value))) < float("inf")
        case Scalar.DECIMAL:
            fits = (number or isinstance(value, str)) and _decimal(str(value))
        case Scalar.BOOLEAN:
            fits = isinstance(value, bool)
        case Scalar.TIMESTAMP:
            fits = isinstance(value, str) and _timestamp(value)
            return "" if fits else f"is a timestamp: write it as ISO 8601, not `{value}`"
        case Scalar.DURATION:
            fits = (
                isinstance(value, str)
                and re.fullmatch(r"-?P(?=.)(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?", value)
                is not None
            )
            return "" if fits else f"is a duration: write it as ISO 8601, such as PT5M, not `{value}`"
        case _:
            return f"is a {type_}: only single values can be constants"
    return "" if fits else f"is a {type_}, which `{value}` is not"


def _decimal(text: str) -> bool:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return False
    exponent = value.normalize().as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -18 and value.adjusted() < 20


def _timestamp(text: str) -> bool:
    zoned = text if re.search(r"[T ].*(Z|[+-]\d\d:?\d\d)$", text) else None
    try:
        parse_instant(zoned or (text if re.search("[T ]", text) else text + "T00:00") + "Z")
    except ValueError:
        return False
    return True
