"""Flink SQL, Esper and Lucene Monitor beside this project, on the same inputs, in turns: `make bench-peers`.

strict          events and rules of the strict pattern, for Flink SQL and Esper
documents       documents that nobody has seen, and standing queries, for Lucene Monitor
lucene_queries  our query trees in the form that the Java program builds Lucene's queries from
java            the programs of `java/`: built by Maven, started
process         a process that runs commands, and what it takes
turns           ours and theirs in alternation, and the medians of it
table           the table that is printed
flink, esper, lucene, highlights   one comparison each
ours            our side of those that run in one process
"""
