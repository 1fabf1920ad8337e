"""Files of a folder as a source: a batch reads files that are new, each up to the length that it had.

files      the source; the other modules are its parts, and load Arrow
section    its keys in a job file
names      the files that a path stands for
checks     what a machine does not have as a path says
spark_log  the files that Spark has written down for a batch
extents    a file as it was before its batch ran, and what became of it
splits     the parts of a file that are read independently, and the pieces that a library opens as one
reading    a part to events
places     where in a file an event is, as a person looks it up
"""
