"""The interface for programs, which `cep` itself offers name by name (docs/python.md).

errors       diagnostics as values, and the exceptions that carry them
packs        rule files and texts to packs
evaluation   a pack over events, in memory or in files
rule_tests   the test blocks of a pack
percolator   standing queries over documents
"""
