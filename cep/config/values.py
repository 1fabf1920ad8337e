"""The single values of a job file but for feeds: each function gives back a value that can be used."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from alerts import calendars
from alerts.alert import SEVERITIES
from alerts.calendars import CalendarError
from alerts.grouping import Rate
from alerts.matchers import NAME, MatcherError
from alerts.matchers import matcher as parsed
from alerts.receivers.addresses import forbidden
from alerts.signing import secret_key
from cep.sources.values import UnfitError, path
from rules.instants import parse_duration
from rules.suggest import did_you_mean

_OUTBOX = "write sqlite:///state/outbox.db or postgresql://user@host/name"
_MASTER = re.compile(r"([\w.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}")
OTHER_CLUSTERS = ("yarn", "k8s")
"""Clusters that Spark knows, and no job of this version runs on."""
BUCKETS = ("s3a://", "s3://")
"""The beginnings of a place in a bucket."""
_BUCKET = re.compile(r"s3a?://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/[A-Za-z0-9!_.*'()/-]*)?")
_STATE = 'write "s3a://BUCKET/PREFIX/", or the path of a folder'
SHORTEST_TOKEN, LONGEST_TOKEN = 20, 500
"""Characters of the secret of a token."""


def no_path(text: str) -> str:
    """A name that goes into metrics, addresses and reports, and reads like a path in none of them."""
    if "/" in text or "\\" in text or not text.strip("."):
        raise UnfitError(f"`{text}` reads like a path", "write a name without `/` and `\\`")
    return text


def duration(text: str) -> str:
    """A duration as rules write it."""
    help_ = "write a number and a unit: `500ms`, `1 second`"
    if not text.strip():
        raise UnfitError("it is empty", help_)
    try:
        parse_duration(text)
    except ValueError as error:
        raise UnfitError(str(error), help_) from None
    return text


def severity(text: str) -> str:
    """A severity that a rule may have."""
    if text not in SEVERITIES:
        help_ = did_you_mean(text, SEVERITIES) or "write the least severe that this receiver is to get"
        raise UnfitError(f"it is one of {', '.join(SEVERITIES)}", help_)
    return text


def matcher(text: str) -> str:
    """A condition on what an alert says."""
    try:
        parsed(text)
    except MatcherError as error:
        raise UnfitError(str(error), error.help) from None
    return text


def matchers(given: object) -> object:
    """Conditions as a list of texts, also of a table: `{ severity = "high", rule = "=~ a.*" }`."""
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        return given
    return [_condition(str(name), value) for name, value in given.items()]


def _condition(name: str, value: str) -> str:
    """A condition of a table: the value is compared, unless it begins with another operator."""
    if value.startswith(("=~", "!=")):
        return f"{name} {value}"
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"


def master(text: str | None) -> str | None:
    """The address of a standalone cluster: `spark://HOST:PORT`, with several `spark://HOST:PORT,HOST:PORT`.

    Of another kind of cluster all that begins as it does.
    """
    if text is None:
        return text
    scheme, slashes, rest = text.partition("://")
    if scheme.partition("[")[0] in ("local", "local-cluster"):
        raise UnfitError(f"`{text}` is no cluster", "remove the line: the job then runs on this machine")
    if scheme in OTHER_CLUSTERS:
        return text
    if (scheme, slashes) != ("spark", "://") or not all(map(_MASTER.fullmatch, rest.split(","))):
        raise UnfitError(f"`{text}` is no address of a master", 'write "spark://HOST:PORT"')
    return text


def settings(given: dict[str, object]) -> dict[str, object]:
    """Settings of Spark by name, as texts: `true`, `4`, `0.5` also without quotes."""
    for name, value in given.items():
        if not isinstance(value, str | bool | int | float):
            raise UnfitError(f"`{name}` is no text", 'write the value in quotes: "4g"')
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}


def length(text: str) -> str:
    """A duration longer than nothing."""
    if parse_duration(duration(text)) == 0:
        raise UnfitError("it is no time at all", "give it a length: `1 hour`")
    return text


def keep(text: str) -> str:
    """The time for which something is kept; `0`: not at all."""
    keep_time(text)
    return text


def keep_time(text: str) -> int:
    """The same in nanoseconds. Raises UnfitError."""
    if text.strip() == "0":
        return 0
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UnfitError(str(error), 'write a number and a unit, `30 days`, or "0" to keep none') from None


def some_time(text: str) -> str:
    """A duration, which may be nothing: `0 seconds`."""
    return duration(text)


def label(text: str) -> str:
    """The name of a value of alerts: `rule`, `card_id`, `emit.country`."""
    if not re.fullmatch(NAME, text):
        raise UnfitError(
            f"`{text}` names no value of an alert", 'write names: "rule", "card_id", "emit.country"'
        )
    return text


def rate(text: str | None) -> str | None:
    """So many notifications in so long a time."""
    if text is not None:
        rate_of(text)
    return text


def rate_of(text: str) -> Rate:
    """The rate of a text: `30 per minute`, `5 per 10 seconds`. Raises UnfitError."""
    found = re.fullmatch(r"\s*([0-9]{1,9})\s+per\s+(\S.*?)\s*", text)
    help_ = 'write how many in how long: "30 per minute", "5 per 10 seconds"'
    if found is None or int(found[1]) == 0:
        raise UnfitError(f"`{text}` is no rate" if text.strip() else "it is empty", help_)
    written = found[2] if found[2][0].isdigit() else f"1 {found[2]}"
    try:
        period = parse_duration(written)
    except ValueError:
        period = 0
    if period == 0:
        raise UnfitError(f"`{found[2]}` is no length of time", help_)
    return Rate(int(found[1]), period, " ".join(text.split()))


def zone(text: str) -> str:
    """A zone of the IANA database."""
    zone_of(text)
    return text


def zone_of(text: str) -> ZoneInfo:
    """The zone of a name. Raises UnfitError."""
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        help_ = did_you_mean(text, sorted(available_timezones())) or "write one such as `Europe/Berlin`"
        raise UnfitError(f"there is no time zone `{text}`", help_) from None


def _of_calendar(text: str, read: Callable[[str], object]) -> str:
    try:
        read(text)
    except CalendarError as error:
        raise UnfitError(str(error), error.help) from None
    return text


def weekdays(text: str) -> str:
    """Days of the week."""
    return _of_calendar(text, calendars.weekdays)


def days(text: str) -> str:
    """Days of the month."""
    return _of_calendar(text, calendars.days)


def months(text: str) -> str:
    """Months."""
    return _of_calendar(text, calendars.months)


def hours(text: str) -> str:
    """Hours of the day."""
    return _of_calendar(text, calendars.hours)


def refers(text: str) -> bool:
    """True if the text only refers to the value: to an environment variable, or to a file."""
    return "${" in text or text.startswith("file:")


def outbox(text: str) -> str:
    """The address of an outbox, as far as it stands here."""
    return text if refers(text) and not text.startswith("sqlite") else outbox_address(text)


def outbox_address(text: str) -> str:
    """The address of a database that keeps what is written to it."""
    scheme, _, rest = text.partition("://")
    kind = scheme.split("+")[0]
    if not rest and kind != "sqlite":
        raise UnfitError("it is no address of a database", _OUTBOX)
    match kind:
        case "sqlite":
            _sqlite(rest)
        case "postgresql":
            host = re.split("[/?]", rest.rpartition("@")[2])[0]
            port = re.fullmatch(r"(?:\[.*\]|[^:]*)(?::(\d*))?", host)
            if port is None or int(port[1] or 0) > 65_535:
                raise UnfitError(
                    "its port is not a number up to 65535", "write postgresql://user@host:5432/name"
                )
        case _:
            raise UnfitError("an outbox is kept in SQLite or PostgreSQL", _OUTBOX)
    return text


def _sqlite(rest: str) -> None:
    file = rest.split("?")[0]
    if file.strip("/") in ("", ":memory:"):
        raise UnfitError(
            "an outbox in memory would lose its alerts", "name a file: sqlite:///state/outbox.db"
        )
    if not file.startswith("/"):
        raise UnfitError("the path of the file begins after three slashes", f"write sqlite:///{file}")
    if file.endswith("/"):
        raise UnfitError("it names a folder", f"name a file in it: sqlite://{file}outbox.db")


def webhook(text: str) -> str:
    """The address of a webhook, as far as it stands here."""
    return text if refers(text) else web_address(text)


def web_address(text: str) -> str:
    """The URL of a webhook. Raises UnfitError with what is wrong with it."""
    help_ = "write the whole address: https://desk.example/cep"
    if not text.strip():
        raise UnfitError("it is empty", help_)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UnfitError(f"it is no URL: {error}", help_) from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", text):
        raise UnfitError("a webhook's url begins with https:// or http:// and a host", help_)
    _reachable(host)
    return text


def mail_server(text: str | None) -> str | None:
    """`HOST` or `HOST:PORT` of a mail server."""
    if text is not None:
        mail_place(text, "starttls")
    return text


def mail_place(text: str, tls: str) -> tuple[str, int]:
    """Host and port of a mail server; without a port that of submission, RFC 8314. Raises UnfitError."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]/@]+)(?::([0-9]{1,5}))?", text)
    if found is None or not 0 < int(found[2] or 1) <= 65_535:
        raise UnfitError("it is not HOST or HOST:PORT", "write `mail.example:587`")
    host = found[1].strip("[]")
    _reachable(host)
    return host, int(found[2] or (465 if tls == "tls" else 587))


def _reachable(host: str) -> None:
    if forbidden(host):
        raise UnfitError(
            f"{host} is no address of a receiver: link-local, multicast, unspecified or a cloud's own",
            "write the receiver's own address or name",
        )


def mail_address(text: str) -> str:
    """One address of mail, without a name beside it."""
    if not re.fullmatch(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]*[A-Za-z0-9]", text):
        raise UnfitError("it is no address of mail", "write it without a name: `night@desk.example`")
    return text


def template(text: str) -> str:
    """The text of a template, or `file:PATH`."""
    if not text.strip():
        raise UnfitError("it is empty", "write a text, or remove the line")
    return text


def file(text: str | None) -> str | None:
    """The path of a file that is to be written."""
    if text is None:
        return text
    path(text)
    if text.endswith("/") or text.rpartition("/")[2] in (".", ".."):
        raise UnfitError("it names a folder", "name a file in it: `alerts.jsonl`")
    return text


def present(text: str) -> str:
    """A secret that is there and has no line end or control character in it. The error does not repeat it."""
    if not text.strip() or not text.isprintable():
        raise UnfitError("it is empty, or holds a sign that cannot be seen", "give the value alone")
    return text


def access_token(text: str) -> str:
    """The secret of a token, as a header carries it. The error does not repeat it."""
    if not re.fullmatch(rf"[A-Za-z0-9._~+/=-]{{{SHORTEST_TOKEN},{LONGEST_TOKEN}}}", text):
        raise UnfitError(
            f"a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits and -._~+/=",
            "make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return text


def mask_key(text: str) -> str:
    """The key that hashes of secret fields are made with. The error does not repeat it."""
    if not re.fullmatch(rf"[!-~]{{{SHORTEST_TOKEN},{LONGEST_TOKEN}}}", text):
        raise UnfitError(
            f"a mask key has {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits and signs",
            "make one: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return text


def signing_secret(text: str) -> str:
    """The secret that a webhook's messages are signed with. The error does not repeat it."""
    try:
        secret_key(text)
    except ValueError as error:
        raise UnfitError(str(error), "docs/alerts.md shows how one is made") from None
    return text


def listen(text: str) -> str:
    """`HOST:PORT`."""
    listen_address(text)
    return text


def listen_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`. Raises UnfitError."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\s\[\]/]+):([0-9]{1,5})", text)
    if found is None or int(found[2]) > 65_535:
        port = re.fullmatch(r"[:*]*(\d{1,5})", text)
        raise UnfitError(
            "it is not HOST:PORT",
            f"write `127.0.0.1:{port[1] if port else 8090}`, or `0.0.0.0` for every address",
        )
    return found[1].strip("[]"), int(found[2])


def state(text: str) -> str:
    """The place of a state: a path, or one in a bucket as `s3a://BUCKET/PREFIX`."""
    path(text)
    scheme, sign, _ = text.partition("://")
    if not sign:
        return text
    if not text.startswith(BUCKETS):
        raise UnfitError(f"a state lies in a folder or in a bucket, and not under `{scheme}:`", _STATE)
    found = _BUCKET.fullmatch(text)
    if found is None or ".." in text:
        raise UnfitError("this names no bucket and prefix", _STATE)
    if not (found[2] or "").strip("/"):
        help_ = f'write a prefix: "s3a://{found[1]}/fraud/"'
        raise UnfitError("a state does not fill a whole bucket", help_)
    return text


def endpoint(text: str) -> str:
    """The address of a store."""
    if not re.fullmatch(r"https?://[^/?#\s@]+/?", text):
        help_ = 'write endpoint = "https://minio:9000"; without it the bucket is at Amazon'
        raise UnfitError("a store's address is https:// or http://, a host, and a port", help_)
    return text.rstrip("/")
