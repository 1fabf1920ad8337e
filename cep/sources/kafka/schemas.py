"""The keys of [feeds.STREAM] by which records of Avro and Protobuf are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from cep.decode.formats import BY_SCHEMA, OF_REGISTRY, Kind, Registry, Schemas
from cep.errors import ConfigurationError
from cep.secrets import Secret
from cep.sources.source import Options
from cep.sources.values import UnfitError
from rules.diagnostics import Diagnostic

_EXAMPLE = {"avro": "payment.avsc", "protobuf": "payment.proto"}
_AVRO = "name a file with an Avro schema of a record"
_PROTOBUF = (
    "name a .proto file; or what protoc makes of it, where it finds all that it imports: "
    "protoc --include_imports --descriptor_set_out=payment.desc payment.proto"
)


@dataclass(frozen=True, slots=True)
class SchemaKeys:
    """The keys of a feed about its format and its schemas."""

    format: Kind
    schema: str | None
    message: str | None
    registry: str | None


def registry_address(text: str | None) -> str | None:
    """The address of a schema registry, without a slash behind it."""
    if text is None:
        return None
    help_ = 'write `registry = "https://registry:8081"`'
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UnfitError(f"it is no address: {error}", help_) from None
    if parts.scheme not in ("http", "https") or not host or not text.isprintable() or " " in text:
        raise UnfitError("it begins with https:// or http:// and a host", help_)
    if parts.username is not None or parts.password is not None:
        user = f'write `{OF_REGISTRY}username` and `{OF_REGISTRY}password = "${{NAME}}"` in its options'
        raise UnfitError("it holds a user name or password", user)
    if parts.query or parts.fragment:
        raise UnfitError("it has something behind its path", help_)
    return text.rstrip("/")


def schemas_of(
    keys: SchemaKeys, folder: Path, options: tuple[tuple[str, Secret], ...] = ()
) -> Schemas | None:
    """The schemas of a feed. Raises ConfigurationError where they cannot be read."""
    from cep.decode.by_schema.avro_schema import SchemaError
    from cep.decode.by_schema.schema_files import schemas_of_file

    registry = None if keys.registry is None else Registry(keys.registry, options)
    if keys.format not in BY_SCHEMA or (keys.schema is None and registry is None):
        return None
    if keys.schema is None:
        return Schemas(message=keys.message or "", registry=registry)
    path = folder / keys.schema
    try:
        found = schemas_of_file(path, keys.format, keys.message or "")
    except SchemaError as error:
        help_ = _AVRO if keys.format == "avro" else _PROTOBUF
        raise ConfigurationError(f"the schema {path} {error}", help_, "CEP0766") from None
    return Schemas(found.text, found.message, registry)


def schema_mistakes(keys: SchemaKeys, given: Mapping[str, object], options: Options) -> Iterator[Diagnostic]:
    """Keys that do not go together, and a schema that cannot be read."""
    without_effect = list(_without_effect(keys, given))
    for name, said, help_ in without_effect:
        place = options.span("options", name) if name.startswith(OF_REGISTRY) else options.span(name)
        yield Diagnostic("CEP0765", "error", said, place, help=help_)
    if keys.format not in BY_SCHEMA:
        return
    if keys.schema is None and keys.registry is None:
        said = f'format "{keys.format}" needs the schema of the records'
        help_ = f'write `schema = "{_EXAMPLE[keys.format]}"`, or `registry = "https://registry:8081"`'
        yield Diagnostic("CEP0765", "error", said, options.span("format"), help=help_)
        return
    try:
        schemas_of(keys, options.folder)
    except ConfigurationError as error:
        place = options.span("schema")
        yield Diagnostic("CEP0766", "error", error.message, place, help=error.help)


def _without_effect(keys: SchemaKeys, given: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Keys and options that would change nothing, each with message and help."""
    if keys.format not in BY_SCHEMA:
        for name in ("schema", "registry", "message"):
            if getattr(keys, name) is not None:
                said = f'`{name}` has no effect with format "{keys.format}"'
                yield name, said, 'write `format = "avro"` or "protobuf", or remove it'
    elif keys.message is not None and keys.format == "avro":
        help_ = "remove it: an Avro schema is of one record"
        yield "message", '`message` has no effect with format "avro"', help_
    elif keys.message is not None and keys.schema is None and keys.registry is not None:
        help_ = "remove it: each record says which message it is; or name a file in `schema`"
        yield "message", "`message` has no effect without `schema`", help_
    for name in given:
        if name.startswith(OF_REGISTRY) and keys.registry is None:
            help_ = 'write `registry = "https://registry:8081"` in [feeds.STREAM], or remove it'
            yield name, f"`{name}` has no effect without `registry`", help_
