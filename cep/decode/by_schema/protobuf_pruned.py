"""A message of Protobuf without the fields that nobody reads: they are passed over as unknown ones are.

Members of a oneof stay, since one that comes takes away another; what is in them is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from cep.decode.by_schema.avro_schema import SchemaError
from cep.decode.by_schema.protobuf_schema import DURATION, TIMESTAMP, WRAPPERS, is_map
from rules.types import ListOf, Record, Type

_NUMBERS = count()
_KNOWN = (TIMESTAMP, DURATION, *WRAPPERS)


def pruned(message: Descriptor, wanted: Mapping[str, Type]) -> Descriptor:
    """The message with its wanted fields alone, added to the pool of the message. Raises SchemaError.

    Each message is in a file of its own, so that what it holds may be of other syntax.
    """
    source = descriptor_pb2.FileDescriptorProto()
    message.file.CopyToProto(source)
    number = next(_NUMBERS)
    file = descriptor_pb2.FileDescriptorProto(
        name=f"cep/pruned/{number}.proto", package=f"cep_pruned_{number}"
    )
    if source.syntax:
        file.syntax = source.syntax
    if source.HasField("edition"):
        file.edition = source.edition
    if source.options.HasField("features"):
        file.options.features.CopyFrom(source.options.features)
    whole = descriptor_pb2.DescriptorProto()
    message.CopyToProto(whole)
    made = file.message_type.add(name=message.name)
    if whole.options.HasField("features"):
        made.options.features.CopyFrom(whole.options.features)
    kept = [one for one in message.fields if one.name in wanted and not is_map(one)]
    shared = {one.containing_oneof.name for one in kept if one.containing_oneof is not None}
    needed: set[str] = set()
    for one, proto in zip(message.fields, whole.field, strict=True):
        if one in kept or (one.containing_oneof is not None and one.containing_oneof.name in shared):
            field = made.field.add()
            field.CopyFrom(proto)
            _point(field, one, wanted.get(one.name), needed)
    _keep_oneofs(made, whole)
    file.dependency.extend(sorted(needed))
    try:
        message.file.pool.AddSerializedFile(file.SerializeToString())
        return message.file.pool.FindMessageTypeByName(f"{file.package}.{message.name}")
    except (TypeError, KeyError) as error:
        raise SchemaError(f"cannot be read in part: {' '.join(str(error).split())}") from None


def _point(field: FieldDescriptorProto, one: FieldDescriptor, type_: Type | None, needed: set[str]) -> None:
    """Let a copy of a field have its type where that is now."""
    if one.enum_type is not None:
        field.type_name = f".{one.enum_type.full_name}"
        needed.add(one.enum_type.file.name)
    elif type_ is None and one.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE):
        field.type = FieldDescriptorProto.TYPE_BYTES
        for name in ("default_value", "type_name"):
            field.ClearField(name)
    elif one.message_type is not None:
        inner = type_.element if one.is_repeated and isinstance(type_, ListOf) else type_
        parts = dict(inner.fields) if isinstance(inner, Record) else {}
        found = one.message_type if one.message_type.full_name in _KNOWN else pruned(one.message_type, parts)
        field.type_name = f".{found.full_name}"
        needed.add(found.file.name)


def _keep_oneofs(made: descriptor_pb2.DescriptorProto, whole: descriptor_pb2.DescriptorProto) -> None:
    """Give the oneofs that are left their new numbers, those that stand for `optional` last."""
    numbers = dict.fromkeys(one.oneof_index for one in made.field if one.HasField("oneof_index"))
    for new, old in enumerate(sorted(numbers)):
        made.oneof_decl.add().CopyFrom(whole.oneof_decl[old])
        numbers[old] = new
    for one in made.field:
        if one.HasField("oneof_index"):
            one.oneof_index = numbers[one.oneof_index]
