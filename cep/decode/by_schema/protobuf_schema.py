"""Messages of Protobuf: their descriptors, and the Arrow types that their fields are read as.

SchemaError    what is wrong with a schema (cep.decode.by_schema.avro_schema)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.message import DecodeError

from cep.decode.by_schema.avro_schema import SchemaError
from cep.decode.timestamps import INSTANT
from rules.suggest import did_you_mean
from rules.types import ListOf, Record, Type

TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
WRAPPERS = tuple(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
"""Messages that are a value that may be missing."""
LAPSE = pa.duration("ns")
_MAP = pa.map_(pa.string(), pa.null())
_FLOATING = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)


def described(files: bytes) -> FileDescriptor:
    """The last file of a FileDescriptorSet, which those before it are imported by. Raises SchemaError."""
    pool = descriptor_pool.DescriptorPool()
    try:
        found = descriptor_pb2.FileDescriptorSet.FromString(files)
        for one in found.file:
            pool.AddSerializedFile(one.SerializeToString())
        if not found.file:
            raise SchemaError("has no file of messages in it")
        return pool.FindFileByName(found.file[-1].name)
    except DecodeError:
        raise SchemaError("is no FileDescriptorSet") from None
    except (TypeError, KeyError) as error:
        raise SchemaError(f"has files that do not go together: {' '.join(str(error).split())}") from None


def message_of(file: FileDescriptor, name: str) -> Descriptor:
    """A message by its full name, or the only one of a file if there is no name. Raises SchemaError."""
    known = {one.full_name: one for one in _messages(file.message_types_by_name.values())}
    if name:
        try:
            return file.pool.FindMessageTypeByName(name)
        except KeyError:
            pass
        raise SchemaError(f"has no message {name}: {did_you_mean(name, known) or ', '.join(sorted(known))}")
    if len(file.message_types_by_name) == 1:
        return next(iter(file.message_types_by_name.values()))
    raise SchemaError(f"has not one message but {', '.join(sorted(known)) or 'none'}")


def message_at(file: FileDescriptor, path: tuple[int, ...]) -> Descriptor:
    """The message at indexes: in the file, then in the message before. Raises SchemaError."""
    within = list(file.message_types_by_name.values())
    found = None
    for index in path:
        if not 0 <= index < len(within):
            break
        found = within[index]
        within = list(found.nested_types)
    else:
        if found is not None:
            return found
    raise SchemaError(f"has no message at {list(path)}")


def columns(message: Descriptor, wanted: Mapping[str, Type]) -> pa.Schema:
    """The Arrow types of the fields of a message that are wanted, by their names in it."""
    return pa.schema([(name, _type(one, wanted[name])) for name, one in _wanted(message, wanted)])


def parts(message: Descriptor, type_: Type) -> list[FieldDescriptor]:
    """The fields of a message within another that a type reads."""
    if not isinstance(type_, Record):
        return []
    return [one for _, one in _wanted(message, dict(type_.fields))]


def is_map(field: FieldDescriptor) -> bool:
    """True if a field is a map."""
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _wanted(message: Descriptor, wanted: Mapping[str, Type]) -> Iterator[tuple[str, FieldDescriptor]]:
    for name, one in message.fields_by_name.items():
        if name in wanted:
            yield name, one


def _messages(some: Any) -> Iterator[Descriptor]:
    for one in some:
        yield one
        yield from _messages(one.nested_types)


def _type(field: FieldDescriptor, type_: Type) -> pa.DataType:
    if is_map(field):
        return _MAP
    if not field.is_repeated:
        return single_type(field, type_)
    if not isinstance(type_, ListOf):
        return pa.list_(pa.null())
    return pa.list_(single_type(field, type_.element))


def single_type(field: FieldDescriptor, type_: Type) -> pa.DataType:
    """The Arrow type of one value of a field."""
    message = field.message_type
    if message is None:
        return _scalar(field)
    if message.full_name in WRAPPERS:
        return _scalar(message.fields_by_name["value"])
    if message.full_name in (TIMESTAMP, DURATION):
        return INSTANT if message.full_name == TIMESTAMP else LAPSE
    if not isinstance(type_, Record):
        return pa.struct([])
    inner = dict(type_.fields)
    return pa.struct([(one.name, _type(one, inner[one.name])) for one in parts(message, type_)])


def _scalar(field: FieldDescriptor) -> pa.DataType:
    if field.enum_type is not None:
        return pa.string()
    if field.cpp_type in _FLOATING:
        return pa.float64()
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return pa.bool_()
    if field.type == FieldDescriptor.TYPE_STRING:
        return pa.string()
    return pa.binary() if field.type == FieldDescriptor.TYPE_BYTES else pa.int64()
