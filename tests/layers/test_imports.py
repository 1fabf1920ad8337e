"""Modules build on one another in one direction: no module needs itself by way of others.

Every import counts: at the head of a module, inside of a function, and for types alone. Importing a module
also runs the packages that it lies in; that is not followed here, as a package's head names what it offers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("cep", "rules", "percolator", "alerts", "kernels")
KNOWS = {
    "cep": {"rules", "percolator", "alerts", "kernels"},
    "rules": {"percolator"},
    "percolator": {"kernels"},
    "alerts": {"kernels"},
    "kernels": set(),
}
"""Which package may import which others (docs/architecture.md)."""
KNOWN_CYCLES: set[frozenset[str]] = set()
"""Cycles that are still there. An entry that is needed no longer fails the test: the list only shrinks."""

LAYERS = (
    # values that everything may name
    (
        "cep.ahead",
        "cep.allocator",
        "cep.codes",
        "cep.collector",
        "cep.counters",
        "cep.errors",
        "cep.events",
        "cep.files",
        "cep.secrets",
    ),
    ("cep.buckets", "cep.exact", "cep.hashing"),
    ("cep.folders",),
    ("cep.without_pandas",),
    # bytes to events, values of expressions, state as columns
    ("cep.decode.kernel",),
    ("cep.decode", "cep.expressions", "cep.losses", "cep.state", "cep.web"),
    ("cep.plan", "cep.sources"),
    # a batch as operators see it; compiled sets of standing queries
    ("cep.batch", "cep.config", "cep.standing"),
    ("cep.receivers_made", "cep.reference", "cep.resources", "cep.web.access"),
    # before the shuffle; the kinds of rules, which know nothing of one another
    ("cep.routing", "cep.operators.operator"),
    ("cep.operators.patterns.kernel", "cep.operators.windows.kernel"),
    ("cep.operators.single", "cep.operators.patterns.compile", "cep.operators.windows.compile"),
    ("cep.operators.patterns.runtime", "cep.operators.windows.runtime"),
    ("cep.operators.patterns", "cep.operators.windows"),
    ("cep.operators",),
    # packs to plans; behind the shuffle
    ("cep.packs", "cep.shard"),
    # who runs it: this process, or the job
    ("cep.explanation", "cep.inprocess", "cep.job.clocks", "cep.job.poison"),
    ("cep.job.state_folder",),
    ("cep.job.shipping",),
    # events that were accepted, kept for the pages of alerts
    ("cep.record",),
    ("cep.job.workers",),
    ("cep.job.spark",),
    ("cep.job.batches",),
    ("cep.web.desk",),
    ("cep.web.api", "cep.web.page"),
    ("cep.job.start",),
    ("cep.job.running",),
    ("cep.job",),
    # what a user calls
    ("cep.doctor", "cep.new_job"),
    ("cep.api",),
    ("cep",),
    ("cep.cli",),
)
"""The rooms of `cep`, from the ground up: a room imports only from those of layers below its own. A module
belongs to the room whose name is the longest that its own begins with."""

Graph = Mapping[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module of the packages, a package itself under its own name."""
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    parts = {file: file.relative_to(ROOT).with_suffix("").parts for file in files}
    return {".".join(p[:-1] if p[-1] == "__init__" else p): file for file, p in parts.items()}


def statements(of: ast.AST) -> Iterator[ast.AST]:
    """All statements within, however deep; an expression holds none."""
    for child in ast.iter_child_nodes(of):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)


def imported(text: str, known: Iterable[str]) -> tuple[set[str], set[str]]:
    """The known modules that a text imports when it runs, and those that it names for types alone."""
    every, known = list(statements(ast.parse(text))), set(known)
    types = {
        id(inner)
        for node in every
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for inner in (statement, *statements(statement))
    }
    running: set[str] = set()
    typing: set[str] = set()
    for node in every:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            whole = [f"{node.module}.{one.name}" for one in node.names]
            names = [name if name in known else str(node.module) for name in whole]
        (typing if id(node) in types else running).update(name for name in names if name in known)
    return running, typing


def graph() -> dict[str, set[str]]:
    found = modules()
    edges = {name: set().union(*imported(file.read_text("utf-8"), found)) for name, file in found.items()}
    return {name: others - {name} for name, others in edges.items()}


def cycles(edges: Graph) -> set[frozenset[str]]:
    """The sets of modules that need each other, each as large as it is."""
    needs = {name: reached(name, edges) for name in edges}
    rings = (frozenset(one for one in needs[name] if name in needs[one]) for name in edges)
    return {ring for ring in rings if ring}


def reached(name: str, edges: Graph) -> set[str]:
    """All modules that a module needs, at first or second hand."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = edges[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}


def room_of(name: str) -> str:
    """The room of `cep` that a module belongs to; the head of a folder that has rooms belongs to none."""
    parts = name.split(".")
    heads = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next(head for head in heads if head in LEVELS)


@pytest.fixture(scope="module")
def edges() -> Graph:
    return graph()


@pytest.mark.slow
def test_no_module_needs_itself(edges: Graph) -> None:
    found = cycles(edges)
    new = [sorted(one) for one in found - KNOWN_CYCLES]
    assert not new, f"these modules import each other: {new}"
    gone = [sorted(one) for one in KNOWN_CYCLES - found]
    assert not gone, f"no cycle any more, take it out of KNOWN_CYCLES: {gone}"


def test_packages_know_only_those_below_them(edges: Graph) -> None:
    crossing = {
        (name, other)
        for name, others in edges.items()
        for other in others
        if (own := name.partition(".")[0]) != (its := other.partition(".")[0]) and its not in KNOWS[own]
    }
    assert crossing == set()


def test_rooms_know_only_those_below_them(edges: Graph) -> None:
    upwards = {
        f"{name} imports {other}: {room_of(name)} is not above {room_of(other)}"
        for name, others in edges.items()
        for other in others
        if name.startswith("cep") and other.startswith("cep") and room_of(name) != room_of(other)
        if LEVELS[room_of(name)] <= LEVELS[room_of(other)]
    }
    assert upwards == set()


def test_every_room_is_there(edges: Graph) -> None:
    """A module in a new folder of `cep`, or beside the folders, is given its layer."""
    rooms = {room_of(name) for name in edges if name.startswith("cep.")} | {"cep"}
    assert rooms == LEVELS.keys()
    at_root = {name for name in edges if name.startswith("cep.") and room_of(name) == "cep"}
    assert at_root == set()


def test_sources_know_nothing_of_who_reads_them(edges: Graph) -> None:
    readers = ("cep.job", "cep.config", "cep.inprocess", "cep.cli", "cep.api")
    own = {name for name in edges if name.startswith("cep.sources")}
    assert {(n, o) for n in own for o in edges[n] if o.startswith(readers)} == set()


@pytest.mark.parametrize(
    ("text", "running", "typing"),
    [
        ("import a.b", {"a.b"}, set()),
        ("from a import b, c", {"a.b", "a"}, set()),
        ("def f():\n    from a.b import name", {"a.b"}, set()),
        ("if TYPE_CHECKING:\n    from a.b import name\nelse:\n    import a", {"a"}, {"a.b"}),
        ("if typing.TYPE_CHECKING:\n    if x:\n        import a.b", set(), {"a.b"}),
        ("import numpy\nfrom os import path", set(), set()),
    ],
)
def test_imports_are_found_wherever_they_stand(text: str, running: set[str], typing: set[str]) -> None:
    assert imported(text, {"a", "a.b"}) == (running, typing)


@pytest.mark.parametrize(
    ("edges_", "found"),
    [
        ({"a": {"b"}, "b": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [{"a", "b"}]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [{"a", "b", "c"}]),
        ({"a": {"b"}, "b": {"a", "c"}, "c": {"b"}}, [{"a", "b", "c"}]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c", "a"}}, [{"a", "b"}, {"c", "d"}]),
        ({"a": {"b"}, "b": {"a", "c"}, "c": {"a"}}, [{"a", "b", "c"}]),
    ],
)
def test_cycles_are_found(edges_: dict[str, set[str]], found: list[set[str]]) -> None:
    assert cycles(edges_) == {frozenset(one) for one in found}
