"""Standing queries in rules: a file of queries -> a compiled set -> the hits of a batch of documents.

lines       the lines of a file, compressed or not
compiled    a file compiled over the fields of the documents, once per content; what is said of its lines
documents   events as the percolator's documents: texts, values, metadata
answers     an opened set: which queries hit which documents
hits        events of documents -> events of hits
store       compiled sets in a job's state folder, mapped by all its workers
"""
