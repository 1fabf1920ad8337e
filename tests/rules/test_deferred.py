"""Classes whose methods come later are dataclasses all the same: the standard library's are the judge."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import deferred, syntax, typed

DECORATORS = (dataclasses.dataclass(frozen=True, slots=True), deferred.dataclass(frozen=True, slots=True))
VALUES = st.none() | st.integers(0, 2) | st.sampled_from(["", "a"]) | st.tuples(st.integers(0, 1))
NAMES = st.lists(st.sampled_from(["a", "b", "span", "_c", "name", "value", "cls"]), unique=True, max_size=5)


def classes(names: list[str], defaults: dict[str, object], unseen: set[str]) -> tuple[type[Any], type[Any]]:
    """The same class made by the standard library and by ours."""
    body: dict[str, object] = {"__annotations__": dict.fromkeys(names, "object"), "__doc__": "A node."}
    for name in names:
        if name in unseen and name in defaults:
            body[name] = dataclasses.field(default=defaults[name], compare=False, repr=False)
        elif name in defaults:
            body[name] = defaults[name]
    first, second = (make(type("Node", (), dict(body))) for make in DECORATORS)
    return first, second


def outcome(work: Callable[[], object]) -> object:
    """What comes of it: the value, or the exception's kind and words."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error)


@st.composite
def made(draw: st.DrawFn) -> tuple[type[Any], type[Any], list[str], list[object], list[object]]:
    names = draw(NAMES)
    first_default = draw(st.integers(0, len(names)))
    defaults = {name: draw(VALUES) for name in names[first_default:]}
    unseen = draw(st.sets(st.sampled_from(names))) if names else set()
    theirs, ours = classes(names, defaults, unseen)
    count = draw(st.integers(max(first_default - 1, 0), len(names) + 1))
    return (
        theirs,
        ours,
        names,
        draw(st.lists(VALUES, min_size=count, max_size=count)),
        draw(st.lists(VALUES, min_size=len(names), max_size=len(names))),
    )


@given(made())
def test_a_class_does_what_the_standard_librarys_does(
    case: tuple[type[Any], type[Any], list[str], list[object], list[object]],
) -> None:
    theirs, ours, names, some, whole = case
    assert [repr(f) for f in dataclasses.fields(ours)] == [repr(f) for f in dataclasses.fields(theirs)]
    assert (ours.__match_args__, ours.__slots__) == (theirs.__match_args__, theirs.__slots__)
    assert outcome(lambda: repr(ours(*some))) == outcome(lambda: repr(theirs(*some)))
    seen = []
    for cls in (theirs, ours):
        one, other = cls(*whole), cls(**dict(zip(names, whole, strict=True)))
        another = cls(*reversed(whole))
        shown = [
            one == other,
            one == another,
            hash(one),
            hash(another),
            repr(another),
            one == 1,
            one != another,
        ]
        shown += [repr(dataclasses.replace(one, **dict.fromkeys(names[:1], 7))), repr(copy.copy(one))]
        for name in names:
            shown += [outcome(lambda: setattr(one, name, 1)), outcome(lambda: delattr(one, name))]  # noqa: B023
        assert one is not other
        assert {one: 1}[other] == 1
        seen.append(shown)
    assert seen[0] == seen[1]


def test_a_node_that_nobody_compared_is_pickled() -> None:
    node = typed.Literal(1, None, None, None)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(node))
    assert again == node
    assert hash(again) == hash(node)


def test_several_threads_may_be_the_first() -> None:
    for _ in range(50):
        _, ours = classes(["a", "b"], {}, set())
        ready, found = threading.Barrier(4), []

        def build(cls: type[Any] = ours, ready: threading.Barrier = ready, found: list[Any] = found) -> None:
            ready.wait()
            found.append(hash(cls(1, 2)))

        threads = [threading.Thread(target=build) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [hash((1, 2))] * 4


@pytest.mark.parametrize(
    "body",
    [
        {"__annotations__": {"a": "list"}, "a": dataclasses.field(default_factory=list)},
        {"__annotations__": {"a": "int"}, "a": dataclasses.field(default=1, init=False)},
        {"__annotations__": {"a": "int"}, "a": dataclasses.field(kw_only=True)},
        {"__annotations__": {"self": "int"}},
        {"__annotations__": {"a": "int"}, "__post_init__": print},
        {"__annotations__": {"a": "int"}, "__eq__": print},
    ],
)
def test_what_it_does_not_do_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="write `from dataclasses import dataclass`"):
        DECORATORS[1](type("Node", (), body))


def test_every_node_of_both_trees_is_such_a_class() -> None:
    for module in (syntax, typed):
        kinds = [value for value in vars(module).values() if isinstance(value, type)]
        nodes = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
        assert len(nodes) > 40
        assert all(vars(kind)["__setattr__"] is deferred._set for kind in nodes)


def test_a_field_that_is_missing_is_told_of_with_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"^Tags\.__init__\(\) missing 1 required .*: 'span'$"):
        syntax.Tags(())  # type: ignore[call-arg]
    assert syntax.Tags.__init__.__module__ == "rules.syntax.rule"
