"""The options of clients: as a job file has them, as ours take them, and as Spark's connector does.

Spark's connector is Kafka's own client in Java; our reader and our writer are librdkafka. Options have the
names that the second gives them, which are those of the first but for keys and passwords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cep.decode.formats import OF_REGISTRY
from cep.secrets import Secret

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
COMPRESSIONS = ("none", "gzip", "snappy", "zstd", "lz4")
PARTITIONERS = ("consistent_random", "fnv1a_random", "random", "murmur2_random")
_MODULES = {"PLAIN": "plain.PlainLoginModule"}
_SCRAM = "scram.ScramLoginModule"


@dataclass(frozen=True, slots=True)
class Known:
    """An option that a client may be told: `choices` if it is one of some, and what it holds."""

    choices: tuple[str, ...] = ()
    number: bool = False
    file: bool = False
    hidden: bool = False


_OF_ALL: Mapping[str, Known] = MappingProxyType(
    {
        "security.protocol": Known(PROTOCOLS),
        "sasl.mechanism": Known(MECHANISMS),
        "sasl.username": Known(),
        "sasl.password": Known(hidden=True),
        "ssl.ca.location": Known(file=True),
        "ssl.certificate.location": Known(file=True),
        "ssl.key.location": Known(file=True),
        "ssl.key.password": Known(hidden=True),
        "ssl.endpoint.identification.algorithm": Known(("https", "none")),
        "client.id": Known(),
        "metadata.max.age.ms": Known(number=True),
        "reconnect.backoff.ms": Known(number=True),
        "reconnect.backoff.max.ms": Known(number=True),
    }
)
OF_CONSUMERS: Mapping[str, Known] = MappingProxyType(
    {
        **_OF_ALL,
        "client.rack": Known(),
        "fetch.max.bytes": Known(number=True),
        "max.partition.fetch.bytes": Known(number=True),
        f"{OF_REGISTRY}username": Known(),
        f"{OF_REGISTRY}password": Known(hidden=True),
        f"{OF_REGISTRY}ssl.ca.location": Known(file=True),
        f"{OF_REGISTRY}ssl.certificate.location": Known(file=True),
        f"{OF_REGISTRY}ssl.key.location": Known(file=True),
    }
)
OF_PRODUCERS: Mapping[str, Known] = MappingProxyType(
    {
        **_OF_ALL,
        "batch.size": Known(number=True),
        "compression.type": Known(COMPRESSIONS),
        "linger.ms": Known(number=True),
        "message.max.bytes": Known(number=True),
        "partitioner": Known(PARTITIONERS),
    }
)
_OF_READER = (
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
)

Options = tuple[tuple[str, Secret], ...]
"""Options by name, with values that may stand elsewhere."""


def revealed(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The options with their values; paths are absolute. Raises SecretError."""
    return {name: _value(name, secret, environ) for name, secret in options}


def _value(name: str, secret: Secret, environ: Mapping[str, str]) -> str:
    value = secret.reveal(environ)
    return str(secret.folder / value) if name in _OF_ALL and _OF_ALL[name].file else value


def for_spark(options: Mapping[str, str], read: Callable[[str], str]) -> dict[str, str]:
    """The options of Spark's connector for revealed ones; `read` gives the text of a file."""
    found = {name: value for name, value in options.items() if name not in _OF_READER}
    if options.get("ssl.endpoint.identification.algorithm") == "none":
        found["ssl.endpoint.identification.algorithm"] = ""
    if "sasl.username" in options:
        module = _MODULES.get(options["sasl.mechanism"], _SCRAM)
        user, password = (_quoted(options[name]) for name in ("sasl.username", "sasl.password"))
        found["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module} required username={user} password={password};"
        )
    if (authorities := options.get("ssl.ca.location")) is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authorities}
    if (certificate := options.get("ssl.certificate.location")) is not None:
        found |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": read(certificate),
            "ssl.keystore.key": read(options["ssl.key.location"]),
        }
    return {f"kafka.{name}": value for name, value in found.items()}


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def named(given: Mapping[str, object], folder: Path) -> Options:
    """The options of a job file for consumers, in the order of their names."""
    return tuple(one for one in _all(given, folder) if not one[0].startswith(OF_REGISTRY))


def of_registry(given: Mapping[str, object], folder: Path) -> Options:
    """Those for the client of a schema registry; paths of files are absolute."""
    found = (one for one in _all(given, folder) if one[0].startswith(OF_REGISTRY))
    return tuple((name, _absolute(secret) if OF_CONSUMERS[name].file else secret) for name, secret in found)


def _absolute(secret: Secret) -> Secret:
    return secret if secret.refers else Secret(str(secret.folder / secret.written), secret.folder)


def _all(given: Mapping[str, object], folder: Path) -> Options:
    return tuple((name, Secret(str(value), folder)) for name, value in sorted(given.items()))


def flat(table: object) -> object:
    """A table in which `a.b = 1` stands for a table `a` that has `b`, as TOML reads it, by whole names."""
    return dict(_flat(table, "")) if isinstance(table, dict) else table


def _flat(table: Mapping[str, object], before: str) -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
