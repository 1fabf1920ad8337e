"""A job file against the packs that it is to run: streams, fields, constants, rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from cep.config.job import Feed, FeedOption, Job
from cep.config.places import Places
from rules.diagnostics import Diagnostic, in_order
from rules.instants import parse_instant
from rules.suggest import did_you_mean
from rules.typed import Match, On, Pack, Stream
from rules.types import Scalar, Type


def check_feeds(job: Job, packs: Sequence[Pack], fed: Collection[str] = ()) -> list[Diagnostic]:
    """Everything that does not fit between the job file and its packs, in order of place.

    `fed` are streams whose events come from elsewhere, and so need no feed.
    """
    streams = {stream.name: stream for pack in packs for stream in pack.fed}
    return in_order(
        [
            *streams_without_feed(job, packs, fed),
            *(found for feed in job.feeds for found in check_format(feed, job.places, streams)),
            *_receivers(job, packs),
        ]
    )


def streams_without_feed(job: Job, packs: Sequence[Pack], fed: Collection[str] = ()) -> Iterator[Diagnostic]:
    """The streams that some rule reads and no feed brings, nor anything else (`fed`)."""
    streams = {stream.name: stream for pack in packs for stream in pack.fed}
    feeds = {*fed, *(feed.name for feed in job.feeds)}
    read: dict[str, str] = {}
    for pack in packs:
        for rule in pack.rules:
            match rule.body:
                case On(stream=name):
                    read.setdefault(name, rule.name)
                case Match(streams=names):
                    for name in names:
                        read.setdefault(name, rule.name)
    for name, rule_name in read.items():
        if name not in feeds and name in streams:
            yield Diagnostic(
                "CEP0711",
                "error",
                f"stream `{name}`, which rule `{rule_name}` reads, has no feed in {job.places.file.name}",
                streams[name].span,
                help=f"add [feeds.{name}] with source and path",
            )


def check_format(
    feed: Feed | FeedOption, places: Places, streams: Mapping[str, Stream]
) -> Iterator[Diagnostic]:
    """Everything that does not fit between a feed, written in those places, and the streams of the packs."""
    at = ("feeds", feed.name)
    stream = streams.get(feed.name)
    if stream is None:
        yield Diagnostic(
            "CEP0710",
            "error",
            f"no pack declares a stream `{feed.name}`",
            places.key(at),
            help=did_you_mean(feed.name, streams) or f"streams: {', '.join(sorted(streams)) or 'none'}",
        )
        return
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


def _receivers(job: Job, packs: Sequence[Pack]) -> Iterator[Diagnostic]:
    rules = [rule.name for pack in packs for rule in pack.rules]
    for receiver in job.receivers:
        for number, name in enumerate(receiver.rules or ()):
            if name not in rules:
                yield Diagnostic(
                    "CEP0714",
                    "error",
                    f"no pack has a rule `{name}`",
                    job.places.value(("receivers", receiver.name, "rules", number)),
                    help=did_you_mean(name, rules) or f"rules: {', '.join(rules)}",
                )
