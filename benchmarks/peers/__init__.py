"""Flink SQL, Esper, DuckDB, Lucene Monitor beside this project, same inputs, in turns: `make bench-peers`.

payments        payments and windows over them, for Flink SQL, Esper and DuckDB
window_alerts   what windows told, narrowed to what both sides tell, and compared
strict          events and rules of the strict pattern, for Flink SQL and Esper
documents       documents that nobody has seen, and standing queries, for Lucene Monitor
lucene_queries  our query trees in the form that the Java program builds Lucene's queries from
java            the programs of `java/`: built by Maven, started
process         a process that runs commands, and what it takes
turns           ours and theirs in alternation, and the medians of it
table           the table that is printed
duck            DuckDB in a process that runs commands
flink, esper, windows, lucene, highlights   one comparison each
ours            our side of those that run in one process
"""
