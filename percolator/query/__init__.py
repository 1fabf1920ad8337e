"""The query language: text -> tokens -> tree, and back to text.

parse(text) -> Node      percolator.query.parse
to_text(node) -> str     percolator.query.print; parse(to_text(node)) == node
QueryError               percolator.query.errors
lookalikes(text, node)   percolator.query.lookalikes; words that are operators in other languages
"""
