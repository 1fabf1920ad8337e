"""`@dataclass(frozen=True, slots=True)` for classes of which a run needs few: methods come when first called.

The standard library has six functions compiled for every class at import, a quarter of a millisecond a class:
that was half of `cep check` (docs/decisions/0015). Here a class gets fields and slots at once, its `__init__`
with its first instance, and what compares and prints, which is the standard library's, when first asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as at_once
from typing import TYPE_CHECKING, TypeVar

Class = TypeVar("Class")
Method = Callable[..., object]

_COMPARING = ("__eq__", "__hash__", "__repr__")
_IN_CLASS = frozenset({"__dict__", "__weakref__"})
_OURS = frozenset({"self", "_set"})
"""Names in the text of an `__init__`."""


def _deferred(cls: type[Class]) -> type[Class]:
    """The class with the fields, slots and pickling of a frozen dataclass, and methods that are yet to come.

    Raises TypeError for a field or a method that only the standard library's decorator knows.
    """
    written = {name: value for name, value in vars(cls).items() if name not in _IN_CLASS}
    made = at_once(init=False, repr=False, eq=False, slots=True)(cls)
    parts = fields(made)  # type: ignore[arg-type]
    later = any(p.kw_only or not p.init or p.default_factory is not MISSING for p in parts)
    ours = {p.name for p in parts} & _OURS
    if later or ours or written.keys() & {"__init__", "__post_init__", *_COMPARING}:
        raise TypeError(f"{cls.__name__}: write `from dataclasses import dataclass`")
    for name, method in _FROZEN.items():
        setattr(made, name, method)
    vars_of = {"__init__": _building(made)} | {name: _comparing(made, written, name) for name in _COMPARING}
    for name, method in vars_of.items():
        setattr(made, name, method)
    return made


def _building(made: type) -> Method:
    """An `__init__` that makes the real one."""

    def make(self: object, *arguments: object, **named: object) -> None:
        parts = fields(made)
        given = ", ".join(p.name if p.default is MISSING else f"{p.name}=_{p.name}" for p in parts)
        body = "".join(f"\n _set(self, {p.name!r}, {p.name})" for p in parts) or " pass"
        space: dict[str, object] = {"_set": object.__setattr__}
        space |= {f"_{p.name}": p.default for p in parts}
        exec(f"def __init__(self, {given}):{body}", space)
        _put(made, "__init__", space["__init__"])
        made.__init__(self, *arguments, **named)  # type: ignore[misc]

    return make


def _comparing(made: type, written: dict[str, object], name: str) -> Method:
    """One of the other methods, which makes all of them first."""

    def make(self: object, *others: object) -> object:
        whole: type = at_once(frozen=True, init=False)(type(made.__name__, made.__bases__, dict(written)))
        for each in _COMPARING:
            _put(made, each, vars(whole)[each])
        return getattr(made, name)(self, *others)

    return make


def _put(made: type, name: str, method: object) -> None:
    method.__qualname__ = f"{made.__qualname__}.{name}"  # type: ignore[attr-defined]
    method.__module__ = made.__module__
    setattr(made, name, method)


def _set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, part.name) for part in fields(self)]  # type: ignore[arg-type]


def _take_state(self: object, state: list[object]) -> None:
    for part, value in zip(fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, part.name, value)


_FROZEN: dict[str, Method] = {
    "__setattr__": _set,
    "__delattr__": _delete,
    "__getstate__": _state,
    "__setstate__": _take_state,
}

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen, slots):
        """The decorator. Raises TypeError but for a frozen class with slots."""
        if not (frozen and slots):
            raise TypeError("write `from dataclasses import dataclass`")
        return _deferred
