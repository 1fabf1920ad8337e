"""The status of a call of the kernel: how far it came, and which array is too small."""

from __future__ import annotations

# Of scanning.
S_STATUS, S_WORDS, S_LETTERS, S_TOKENS, S_RUNS, S_PIECE, SCAN_COUNTS = range(7)

# Of matching and of highlights.
(
    C_STATUS, C_POOL, C_STAMP, C_DOCUMENT, C_RUN, C_VALUE, C_HITS, C_DOUBTS,
    C_TOUCHED, C_FOUND, C_LOG, C_SPANS, C_BORDERS, C_SENTENCES, C_PARAGRAPHS, C_BUDGET, C_STEPS,
    C_MODE, C_WORK, C_RANGES, COUNTS,
) = range(21)  # fmt: skip

# Statuses.
(
    DONE, NEED_WORDS, NEED_LETTERS, NEED_POOL, NEED_STATES, NEED_LOG, NEED_SPANS, NEED_PARTS, NEED_HITS,
    TOO_LONG, OVER_BUDGET,
) = range(11)  # fmt: skip

# What `match` does with a document: all; only up to its true leaves; all, and counts the work of each query.
MATCHING, WALKING, COUNTING = range(3)
