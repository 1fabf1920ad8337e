"""Queries -> a segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from percolator.branches import Rarity, branches, guessed
from percolator.checks import check
from percolator.code import Coder
from percolator.compile import Compiler
from percolator.entries import entries_of, fuzzy_of, spaces_of
from percolator.expressions import Expression, all_of, any_of
from percolator.leaves import METADATA, LeafTable
from percolator.matching.compiled import at_hand, load
from percolator.matching.documents import Column
from percolator.matching.kernel import layout
from percolator.matching.matcher import Matcher
from percolator.nodes import NodeTable
from percolator.parts import Parts, Text
from percolator.query.tree import Node
from percolator.ranges import add_ranges
from percolator.schema import Schema
from percolator.segment import QuerySegment, Regex
from percolator.trie import Trie, trie_of

Ints = npt.NDArray[np.int32]

COMPILE_AFTER = 5000
"""So many words are entered with the interpreted kernel, before it waits for the compiled one."""


@dataclass(slots=True)
class SegmentBuilder:
    """Takes in queries one by one; `segment` makes the arrays.

    `add` raises QueryError for a query that the schema cannot answer and leaves the builder as it was, but
    for leaves that nobody asks for.
    """

    schema: Schema
    ids: list[str] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    compiler: Compiler = field(init=False)

    def __post_init__(self) -> None:
        self.compiler = Compiler.over(self.schema)

    def add(self, id_: str, node: Node, allowed: Mapping[str, Sequence[str]] | None = None) -> None:
        """One query more; equal ids are allowed, they differ by their place in the segment.

        `allowed` is the query's filter: by key of the metadata the values of which a document needs one.
        """
        check(node, self.schema)
        expression = self.compiler.expression(node)
        if allowed:
            value = self.compiler.leaves.value
            filters = [
                any_of([value(METADATA + key, text) for text in texts]) for key, texts in allowed.items()
            ]
            expression = all_of([*filters, expression])
        self.ids.append(id_)
        self.expressions.append(expression)

    def segment(self, sample: Mapping[str, Column] | None = None) -> QuerySegment:
        """The segment of all queries so far.

        `sample` are documents in columns, as for `Matcher.match_batch`: which words are rare in them decides
        where a query is found, never whether. Without it short words are believed to be common.
        """
        compiler = self.compiler
        rarity = guessed(compiler.leaves)
        if sample is not None:
            # One query a leaf: its hits in the sample are counted.
            every = list(range(compiler.leaves.count))
            matcher = Matcher(self.schema, [assembled([""] * len(every), every, compiler, rarity)])
            size = max(len(column) for column in sample.values())
            counts = np.bincount(matcher.match_batch(sample).query, minlength=len(every))
            rarity = ((counts + np.array(rarity)) / (size + 1)).tolist()
        return assembled(self.ids, self.expressions, compiler, rarity)


def build(queries: Iterable[tuple[str, Node]], schema: Schema) -> QuerySegment:
    """A segment of (id, query). Raises QueryError for a query that the schema does not allow."""
    builder = SegmentBuilder(schema)
    for id_, node in queries:
        builder.add(id_, node)
    return builder.segment()


def assembled(
    ids: Sequence[str], expressions: Sequence[Expression], compiler: Compiler, rarity: Rarity
) -> QuerySegment:
    """The arrays of a segment."""
    leaves, nodes = compiler.leaves, compiler.nodes
    head = np.zeros(layout.HEAD, np.int64)
    head[layout.H_LEAVES], head[layout.H_QUERIES], head[layout.H_NODES] = (
        leaves.count,
        len(ids),
        len(nodes.nodes),
    )
    parts, text = Parts(), Text()
    found = _posted(expressions, rarity, leaves.count)
    trie = trie_of(leaves.phrases)
    head[layout.H_POSTINGS], head[layout.H_POSTED] = parts.add(found.starts), parts.add(found.pairs)
    head[layout.H_CODE], head[layout.H_USE] = parts.add(found.code), parts.add(_uses(leaves, found, trie))
    head[layout.H_TRIE_FIRST], head[layout.H_TRIE_LEAF] = parts.add(trie.first), parts.add(trie.entered)
    head[layout.H_TRIE_ACCEPT], head[layout.H_ROOTS] = parts.add(trie.accepts), trie.first[1]
    entries = entries_of(leaves, text)
    fuzzy = fuzzy_of(leaves, text)
    slots = 16
    while slots < 2 * len(entries):
        slots *= 2
    table = np.zeros(2 * slots, np.int32)
    engine = load() if len(entries) > COMPILE_AFTER else at_hand()
    engine.enter(entries.ravel(), table, text.array(), len(entries))
    head[layout.H_TABLE], head[layout.H_MASK] = parts.add(table), slots - 1
    head[layout.H_ENTRY], head[layout.H_FUZZY] = parts.add(entries[:, : layout.ENTRY]), parts.add(fuzzy)
    head[layout.H_NODE] = _add_nodes(parts, nodes)
    names = _field_names(leaves)
    fields = np.zeros((len(names), layout.FIELD), np.int32)
    for number, name in enumerate(names):
        fields[number, layout.FIELD_PRESENT] = leaves.present.get(name, -1)
        fields[number, layout.FIELD_SPACES] = parts.add(np.array(leaves.spaces_of(name), np.int32))
        fields[number, layout.FIELD_SPACES_END] = parts.size
    spaces = spaces_of(leaves, entries, fuzzy).ravel()
    points = add_ranges(leaves.ranges, names, fields, parts, layout.HEAD + len(spaces))
    head[layout.H_FIELDS], head[layout.H_FIELD] = len(names), parts.add(fields)
    head[layout.H_SPACE] = layout.HEAD
    units = any(node.kind == layout.NODE_TOGETHER for node in nodes.nodes)
    head[layout.H_UNITS] = units
    encoded = [id_.encode("utf-8", "surrogatepass") for id_ in ids]
    regexes = [Regex(*test) for test in leaves.regexes]
    return QuerySegment(
        np.concatenate((head, spaces, points)),
        parts.array(),
        text.array(),
        np.cumsum([len(id_) for id_ in encoded], dtype=np.int64),
        np.frombuffer(b"".join(encoded), np.uint8),
        tuple(names),
        leaves.schema.text,
        tuple(regexes),
        units,
    )


@dataclass(frozen=True, slots=True)
class _Posted:
    """`pairs` are (second leaf, query or -1 - code), those of a first leaf between two `starts`.

    `tests` are the leaves that are looked at in pairs and code.
    """

    starts: Ints
    pairs: Ints
    code: Ints
    tests: npt.NDArray[np.bool_]


def _posted(expressions: Sequence[Expression], rarity: Rarity, leaves: int) -> _Posted:
    first: list[int] = []
    second: list[int] = []
    targets: list[int] = []
    code: list[int] = []
    coder = Coder(rarity, leaves)
    for query, expression in enumerate(expressions):
        for pairs, rest in branches(expression, rarity):
            target = query
            if rest:
                target = -1 - len(code)
                code.append(query)
                code.extend(coder.code(rest, len(code)))
            for one, other in pairs:
                first.append(one)
                second.append(other)
                targets.append(target)
    ones, others = np.array(first, np.int64), np.array(second, np.int64)
    order = np.lexsort((others, ones))
    pairs_array = np.stack((others[order], np.array(targets, np.int64)[order]), axis=1).astype(np.int32)
    starts = np.concatenate(([0], np.cumsum(np.bincount(ones, minlength=leaves)))).astype(np.int32)
    tests = np.zeros(leaves, np.bool_)
    tests[ones] = True
    tests[others] = True
    tests[list(coder.tested)] = True
    return _Posted(starts, pairs_array, np.array(code, np.int32), tests)


def _uses(leaves: LeafTable, posted: _Posted, trie: Trie) -> Ints:
    """The uses that the list of a word must name for a leaf."""
    uses = np.where(posted.tests, layout.USE_TRUE, 0).astype(np.int32)
    depth_one = int(trie.first[1])
    uses[trie.entered[1:depth_one]] |= layout.USE_START
    uses[trie.entered[depth_one:]] |= layout.USE_CONTINUE
    uses[list(leaves.placed)] |= layout.USE_PLACES
    return uses


def _add_nodes(parts: Parts, nodes: NodeTable) -> int:
    rows = np.zeros((len(nodes.nodes), layout.NODE), np.int32)
    for number, node in enumerate(nodes.nodes):
        first = parts.add(np.array(node.operands, np.int32))
        rows[number] = (node.kind, first, len(node.operands), node.a, node.b, number in nodes.inner)
    return parts.add(rows)


def _field_names(leaves: LeafTable) -> list[str]:
    names = [name for scope, _ in leaves.spaces for name in scope]
    return list(dict.fromkeys([*names, *leaves.present, *(test.field for test in leaves.ranges)]))
