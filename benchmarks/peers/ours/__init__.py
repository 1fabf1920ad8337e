"""Our side of the comparisons that run in one process on one core: programs that run commands.

answering   reads commands and writes answers, as the Java programs do
engine      patterns over events
percolator  standing queries over documents
"""
