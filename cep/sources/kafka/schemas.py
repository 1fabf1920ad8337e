"""The keys of [feeds.STREAM] by which records of Avro and Protobuf are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cep.decode.formats import BY_SCHEMA, Schemas
from cep.errors import ConfigurationError
from cep.sources.source import Options
from rules.diagnostics import Diagnostic

_EXAMPLE = {"avro": "payment.avsc", "protobuf": "payment.proto"}
_AVRO = "name a file with an Avro schema of a record"
_PROTOBUF = (
    "name a .proto file; or what protoc makes of it, where it finds all that it imports: "
    "protoc --include_imports --descriptor_set_out=payment.desc payment.proto"
)


def schemas_of(kind: str, schema: str | None, message: str, folder: Path) -> Schemas | None:
    """The schemas of a feed. Raises ConfigurationError where they cannot be read."""
    from cep.decode.by_schema.avro_schema import SchemaError
    from cep.decode.by_schema.schema_files import schemas_of_file

    if kind not in BY_SCHEMA or schema is None:
        return None
    path = folder / schema
    try:
        return schemas_of_file(path, kind, message)
    except SchemaError as error:
        help_ = _AVRO if kind == "avro" else _PROTOBUF
        raise ConfigurationError(f"the schema {path} {error}", help_, "CEP0766") from None


def schema_mistakes(
    kind: str, schema: str | None, message: str | None, options: Options
) -> Iterator[Diagnostic]:
    """Keys that do not go together, and a schema that cannot be read."""
    given = {"schema": schema, "message": message}
    if kind not in BY_SCHEMA:
        for name, value in given.items():
            if value is not None:
                said = f'`{name}` has no effect with format "{kind}"'
                help_ = 'write `format = "avro"` or "protobuf", or remove it'
                yield Diagnostic("CEP0765", "error", said, options.span(name), help=help_)
        return
    if message is not None and kind == "avro":
        said = '`message` has no effect with format "avro"'
        help_ = "remove it: an Avro schema is of one record"
        yield Diagnostic("CEP0765", "error", said, options.span("message"), help=help_)
    if schema is None:
        said = f'format "{kind}" needs the schema of the records'
        help_ = f'write `schema = "{_EXAMPLE[kind]}"`'
        yield Diagnostic("CEP0765", "error", said, options.span("format"), help=help_)
        return
    try:
        schemas_of(kind, schema, message or "", options.folder)
    except ConfigurationError as error:
        place = options.span("schema")
        yield Diagnostic("CEP0766", "error", error.message, place, help=error.help)
