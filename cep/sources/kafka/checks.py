"""Checks of a feed's options for the consumer: what it may not be told, and what needs something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cep.decode.formats import OF_REGISTRY
from cep.secrets import Secret
from cep.sources.kafka.options import KNOWN
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.suggest import did_you_mean

_PEM = "write PEM files: ssl.ca.location, ssl.certificate.location and ssl.key.location"
_OURS = "remove it: what is read is decided by the job"
REFUSED: Mapping[str, tuple[str, str]] = {
    "group.id": (
        "a job reads from where its state folder says, in no group",
        "remove it: how far a feed is says the job's page",
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
    "sasl.jaas.config": ("it would hold a password in a text", "write sasl.username and sasl.password"),
    "interceptor.classes": ("what a class does to records could not be done again at a replay", _OURS),
    "ssl.truststore.location": ("stores of Java are read by Java alone", _PEM),
    "ssl.keystore.location": ("stores of Java are read by Java alone", _PEM),
}
"""Options of a consumer that a feed may not have: why, and what to write."""
_SPARK = ("startingOffsets", "endingOffsets", "failOnDataLoss", "subscribe", "subscribePattern", "assign")


def option_mistakes(given: Mapping[str, object], options: Options) -> Iterator[Diagnostic]:
    """Every mistake in the options of a consumer."""
    for name, value in given.items():
        if name in REFUSED or name in _SPARK:
            why, help_ = REFUSED.get(name, ("how topics are read is decided by the job", _OURS))
            said = f"`{name}` may not be given: {why}"
            yield Diagnostic("CEP0750", "error", said, options.span("options", name), help=help_)
        elif name not in KNOWN:
            said = f"no consumer of this program has an option `{name}`"
            help_ = did_you_mean(name, KNOWN) or f"known here: {', '.join(KNOWN)}"
            yield Diagnostic("CEP0751", "error", said, options.span("options", name), help=help_)
        elif wrong := _unfit(name, value):
            said, help_ = wrong
            yield Diagnostic("CEP0751", "error", said, options.span("options", name), help=help_)
        elif KNOWN[name].hidden and isinstance(value, str) and not Secret(value, options.folder).refers:
            said = f"`{name}` stands in the job file, where whoever reads that sees it"
            help_ = f'write `{name} = "${{NAME}}"` for an environment variable, or "file:PATH"'
            yield Diagnostic("CEP0735", "error", said, options.span("options", name), help=help_)
    yield from _together({name: str(value) for name, value in given.items()}, options)


def _unfit(name: str, value: object) -> tuple[str, str] | None:
    """Message and help for a value that an option cannot have."""
    known = KNOWN[name]
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


def _together(given: Mapping[str, str], options: Options) -> Iterator[Diagnostic]:
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
            yield _pair(
                said, "security.protocol", f'write `{name} = "..."` in [feeds.STREAM.options]', options
            )
    for name in given:
        if (name.startswith("sasl.") and name in KNOWN and not sasl) or (
            name.startswith("ssl.") and name in KNOWN and not tls
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
