"""The bytes of a Protobuf message to the values of the fields that are read.

A field that knows whether it is there is null where it is not, or what its schema says with `default`; any
other has the default of its type. Fields that the schema does not know are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from cep.decode.by_schema.protobuf_schema import DURATION, TIMESTAMP, WRAPPERS, is_map, parts
from cep.decode.malformed import Malformed
from rules.types import ListOf, Type

_BILLION = 10**9
_INSIDE = 1 << 63


def values_of(
    message: Descriptor, wanted: Mapping[str, Type], name: str
) -> Callable[[bytes, int], dict[str, Any]]:
    """A function that makes values by field of a message's bytes, from a place on. Raises Malformed.

    `name` is what users call the message.
    """
    made = GetMessageClass(message)
    fields = [(one, wanted[one.name]) for one in message.fields if one.name in wanted]

    def values(data: bytes, begin: int) -> dict[str, Any]:
        try:
            found = made.FromString(data[begin:] if begin else data)
        except DecodeError as error:
            why = str(error).partition(": ")[2] or str(error)
            raise Malformed(f"no message {name}: {_lower(why)}") from None
        if not found.IsInitialized():
            missing = ", ".join(f"`{one}`" for one in found.FindInitializationErrors())
            raise Malformed(f"lacks what its schema requires: {missing}")
        return {one.name: _value(found, one, type_, one.name) for one, type_ in fields}

    return values


def _value(message: Message, field: FieldDescriptor, type_: Type, name: str) -> Any:
    if is_map(field):
        return None
    if field.is_repeated:
        if not isinstance(type_, ListOf):
            return None
        several = getattr(message, field.name)
        return [_single(one, field, type_.element, f"{name}[{place}]") for place, one in enumerate(several)]
    if field.has_presence and not message.HasField(field.name) and not field.has_default_value:
        return None
    return _single(getattr(message, field.name), field, type_, name)


def _single(value: Any, field: FieldDescriptor, type_: Type, name: str) -> Any:
    message = field.message_type
    if message is None:
        return _scalar(value, field, name)
    if message.full_name in WRAPPERS:
        return _scalar(value.value, message.fields_by_name["value"], name)
    if message.full_name in (TIMESTAMP, DURATION):
        return _nanoseconds(value, message.full_name == TIMESTAMP, name)
    inner = dict(getattr(type_, "fields", ()))
    return {
        one.name: _value(value, one, inner[one.name], f"{name}.{one.name}") for one in parts(message, type_)
    }


def _scalar(value: Any, field: FieldDescriptor, name: str) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        if known is None:
            raise Malformed(f"`{name}`: its enum has no value {value}")
        return known.name
    if field.type == FieldDescriptor.TYPE_STRING and isinstance(value, bytes):
        raise Malformed(f"`{name}`: not valid UTF-8")
    if field.cpp_type == FieldDescriptor.CPPTYPE_UINT64 and value >= _INSIDE:
        raise Malformed(f"`{name}` does not fit into 64 bits: {value}")
    return value


def _nanoseconds(value: Any, instant: bool, name: str) -> int:
    """The nanoseconds of a Timestamp since 1970, or of a Duration. Raises Malformed."""
    least = 0 if instant else -_BILLION + 1
    signs = instant or value.seconds * value.nanos >= 0
    if not least <= value.nanos < _BILLION or not signs:
        raise Malformed(f"`{name}` has {value.nanos} nanoseconds beside {value.seconds} seconds")
    whole: int = value.seconds * _BILLION + value.nanos
    if not -_INSIDE <= whole < _INSIDE:
        said = "is not between 1677 and 2262" if instant else "is a duration of more than 292 years"
        raise Malformed(f"`{name}` {said}: {value.seconds} seconds")
    return whole


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
