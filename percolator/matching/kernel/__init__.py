"""The innermost part: bytes of documents to words, words to leaves, leaves to hits. Arrays in, arrays out.

Written in the subset of Python that numba compiles: `percolator.matching.compiled` compiles these modules
when much text flows, otherwise they run as they are. In order of a document's way:

    scan        UTF-8 (`utf8`, `blocks`) -> words that wait (`window`) -> numbers of those that may
                mean something (`sieve`, `word_table`)
    learn       a new word -> its list: leaves it makes true, phrases it starts or continues, leaves with
                places (`dictionary`, `edits`)
    walk        the words of a document -> the leaves that are true, phrases by a trie; values -> `ranges`
    candidates  true leaves -> queries (rare leaf, second leaf) -> jump code -> hits
    positions   positional nodes (`near`, `sloppy`, `borders`), when a query's code asks; once per document
    highlights  what hits found, with its places

`arrays` declares what travels together, `layout` a segment, `counters` what a call says of itself. Whatever
may be too small is checked: the document is given up, the status says what to enlarge, and the caller comes
back with the same document. Nothing is ever left out in silence. No function makes an array, so that none
counts who holds one.
"""
