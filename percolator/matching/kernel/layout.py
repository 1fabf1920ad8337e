"""A segment's arrays: what stands where in `longs`, `ints` and `text`. Written by `percolator.build`."""

from __future__ import annotations

# The head, in `longs`: sizes, and places of the parts in `ints` or `longs`.
(
    H_LEAVES, H_QUERIES, H_NODES, H_FIELDS,
    H_POSTINGS, H_POSTED, H_CODE, H_USE,
    H_TABLE, H_MASK, H_ENTRY, H_SPACE, H_FIELD, H_FUZZY,
    H_TRIE_FIRST, H_TRIE_LEAF, H_TRIE_ACCEPT, H_ROOTS,
    H_NODE, H_OPERANDS, H_UNITS,
    HEAD,
) = range(22)  # fmt: skip

# A space is the words of some fields under one analyser: which kinds of entries it has, the lengths of
# their keys as bits, its fuzzy words.
SPACE_KINDS, SPACE_PREFIXES, SPACE_SUFFIXES, SPACE_INFIXES, SPACE_FUZZY, SPACE_FUZZY_END, SPACE = range(7)

# A field: the leaf of its presence, its spaces (in `ints`), its tree of ranges.
(
    FIELD_PRESENT, FIELD_SPACES, FIELD_SPACES_END, FIELD_POINTS, FIELD_POINT_COUNT, FIELD_TREE,
    FIELD_TREE_SIZE, FIELD,
) = range(8)  # fmt: skip

# How an entry is found: by its whole text, or by a piece of its pattern.
KIND_WORD, KIND_EXACT, KIND_PREFIX, KIND_SUFFIX, KIND_INFIX, KIND_ANY = range(6)
KINDS = 8
ENTRY_WHERE, ENTRY_TEXT, ENTRY_LENGTH, ENTRY_LEAF, ENTRY = range(5)
LONGEST_PREFIX = 62
LONGEST_INFIX = 6
STAR, QUESTION = 0xFF, 0xFE  # bytes that UTF-8 never has

FUZZY_SIZE, FUZZY_LOW, FUZZY_HIGH, FUZZY_DISTANCE, FUZZY_TEXT, FUZZY_LENGTH, FUZZY_LEAF, FUZZY = range(8)

# What the list of a word says of a leaf.
USE_TRUE, USE_START, USE_CONTINUE, USE_PLACES = 1, 2, 4, 8

# A positional node and its parameters; operands are a slice of a list.
(
    NODE_LEAF, NODE_OR, NODE_NEAR, NODE_SLOP, NODE_NOT_NEAR, NODE_AT_LEAST, NODE_FIRST, NODE_TOGETHER,
) = range(8)  # fmt: skip
N_KIND, N_FIRST, N_COUNT, N_A, N_B, N_INNER, NODE = range(7)
SENTENCE, PARAGRAPH = 0, 1

# Jump code: a test of a leaf or node (>= 0), or of a counter (< 0): -1 - 2r sets, -2 - 2r counts down.
CODE = 3
GO_TRUE, GO_FALSE = -1, -2
COUNTERS = 256
