"""Checks of the options for a client: what it may not be told, and what needs something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cep.decode.formats import OF_REGISTRY
from cep.secrets import Secret
from cep.sources.kafka.options import OF_CONSUMERS, OF_PRODUCERS, Known
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.suggest import did_you_mean

_PEM = "write PEM files: ssl.ca.location, ssl.certificate.location and ssl.key.location"
_OURS = "remove it: what is read is decided by the job"
_STORES = {
    "ssl.truststore.location": ("stores of Java are read by Java alone", _PEM),
    "ssl.keystore.location": ("stores of Java are read by Java alone", _PEM),
}
_JAAS = ("it would hold a password in a text", "write sasl.username and sasl.password")
_BY_THE_JOB = ("how topics are read is decided by the job", _OURS)
_READ: Mapping[str, tuple[str, str]] = {
    "group.id": (
        "a job reads from where its state folder says, in no group",
        'remove it; tools that show lag look at `group = "..."` in [feeds.STREAM]',
    ),
    "auto.offset.reset": (
        "an offset that is gone stops the job: nothing is passed over",
        'where a first start begins is said by `start = "earliest"` in [feeds.STREAM]',
    ),
    "enable.auto.commit": ("offsets that a consumer commits by itself may be of records not yet read", _OURS),
    "isolation.level": ("a job reads what is committed, and nothing else", _OURS),
    "bootstrap.servers": ("brokers have a key of their own", 'write `servers = "..."` in [feeds.STREAM]'),
    "key.deserializer": ("keys are decoded by the job", 'write `key = "FIELD"` in [feeds.STREAM]'),
    "value.deserializer": ("values are decoded by the job", 'write `format = "json"` in [feeds.STREAM]'),
    "sasl.jaas.config": _JAAS,
    "interceptor.classes": ("what a class does to records could not be done again at a replay", _OURS),
    **_STORES,
    **dict.fromkeys(
        ("startingOffsets", "endingOffsets", "failOnDataLoss", "subscribe", "subscribePattern", "assign"),
        _BY_THE_JOB,
    ),
}
_ONCE = "remove it: alerts are written in transactions, each once"
_WRITTEN: Mapping[str, tuple[str, str]] = {
    "transactional.id": ("it is that of the outbox and the receiver, by which others are kept out", _ONCE),
    "transaction.timeout.ms": ("it belongs to how long an attempt may take", _ONCE),
    "enable.idempotence": ("without it alerts could be there twice", _ONCE),
    "acks": ("an alert counts as delivered when all copies have it", _ONCE),
    "message.timeout.ms": ("it belongs to how long an attempt may take", _ONCE),
    "bootstrap.servers": ("brokers have a key of their own", 'write `servers = "..."` in [receivers.NAME]'),
    "key.serializer": ("keys are text", 'write `key = "{{ alert.rule }}"` in [receivers.NAME]'),
    "value.serializer": ("values are CloudEvents", 'write `mode = "binary"` for the alert alone'),
    "sasl.jaas.config": _JAAS,
    **_STORES,
}


@dataclass(frozen=True, slots=True)
class Client:
    """A client: what it may be told, what not (why, and what to write), the code of that, and its table."""

    noun: str
    known: Mapping[str, Known]
    refused: Mapping[str, tuple[str, str]]
    code: str
    table: str


CONSUMER = Client("consumer", OF_CONSUMERS, _READ, "CEP0750", "feeds.STREAM.options")
PRODUCER = Client("producer", OF_PRODUCERS, _WRITTEN, "CEP0755", "receivers.NAME.options")


def option_mistakes(
    given: Mapping[str, object], options: Options, client: Client = CONSUMER
) -> Iterator[Diagnostic]:
    """Every mistake in the options of a client."""
    for name, value in given.items():
        if name in client.refused:
            why, help_ = client.refused[name]
            said = f"`{name}` may not be given: {why}"
            yield Diagnostic(client.code, "error", said, options.span("options", name), help=help_)
        elif name not in client.known:
            said = f"no {client.noun} of this program has an option `{name}`"
            help_ = did_you_mean(name, client.known) or f"known here: {', '.join(client.known)}"
            yield Diagnostic("CEP0751", "error", said, options.span("options", name), help=help_)
        elif wrong := _unfit(name, value, client.known[name]):
            said, help_ = wrong
            yield Diagnostic("CEP0751", "error", said, options.span("options", name), help=help_)
        elif (
            client.known[name].hidden and isinstance(value, str) and not Secret(value, options.folder).refers
        ):
            said = f"`{name}` stands in the job file, where whoever reads that sees it"
            help_ = f'write `{name} = "${{NAME}}"` for an environment variable, or "file:PATH"'
            yield Diagnostic("CEP0735", "error", said, options.span("options", name), help=help_)
    yield from _together({name: str(value) for name, value in given.items()}, options, client)


def _unfit(name: str, value: object, known: Known) -> tuple[str, str] | None:
    """Message and help for a value that an option cannot have."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return f"`{name}` must be text in quotes", f'write `{name} = "..."`'
    text = str(value)
    if "${" in text or text.startswith("file:"):
        return None
    if known.choices and text not in known.choices:
        choices = ", ".join(known.choices)
        return f"`{name}` is one of {choices}, not `{text}`", did_you_mean(text, known.choices) or (
            f'write `{name} = "{known.choices[-1]}"`'
        )
    if known.number and not (text.isascii() and text.isdecimal() and int(text) > 0):
        return f"`{name}` is a whole number above 0, not `{text}`", f"write `{name} = 1048576`"
    return None if text.strip() else (f"`{name}` is empty", "remove it, or write its value")


def _together(given: Mapping[str, str], options: Options, client: Client) -> Iterator[Diagnostic]:
    """Options that need others, or have no effect without them."""
    yield from _in_pairs(given, options)
    protocol = given.get("security.protocol", "PLAINTEXT")
    if "${" in protocol or protocol.startswith("file:"):
        return
    sasl, tls = protocol.startswith("SASL"), protocol.endswith("SSL")
    needed = ["sasl.mechanism", "sasl.username", "sasl.password"] if sasl else []
    for name in needed:
        if name not in given:
            said = f"security.protocol {protocol} needs `{name}`"
            yield _pair(said, "security.protocol", f'write `{name} = "..."` in [{client.table}]', options)
    for name in given:
        if (name.startswith("sasl.") and name in client.known and not sasl) or (
            name.startswith("ssl.") and name in client.known and not tls
        ):
            fitting = "SASL_SSL" if name.startswith("sasl.") or sasl else "SSL"
            said = f"`{name}` has no effect with security.protocol {protocol}"
            yield _pair(said, name, f'write `security.protocol = "{fitting}"`, or remove it', options)


def _in_pairs(given: Mapping[str, str], options: Options) -> Iterator[Diagnostic]:
    """Options that come in pairs."""
    for one, other in (
        ("ssl.certificate.location", "ssl.key.location"),
        ("ssl.key.location", "ssl.certificate.location"),
        ("ssl.key.password", "ssl.key.location"),
        (f"{OF_REGISTRY}username", f"{OF_REGISTRY}password"),
        (f"{OF_REGISTRY}password", f"{OF_REGISTRY}username"),
        (f"{OF_REGISTRY}ssl.certificate.location", f"{OF_REGISTRY}ssl.key.location"),
        (f"{OF_REGISTRY}ssl.key.location", f"{OF_REGISTRY}ssl.certificate.location"),
    ):
        if one in given and other not in given:
            example = "client.pem" if "ssl" in other else "..."
            yield _pair(f"`{one}` needs `{other}`", one, f'write `{other} = "{example}"`', options)


def _pair(said: str, name: str, help_: str, options: Options) -> Diagnostic:
    return Diagnostic("CEP0752", "error", said, options.span("options", name), help=help_)
