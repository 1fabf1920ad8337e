"""Where the events of a stream come from: one protocol, and a module or folder for every kind of source.

source       the protocol, and the feed that pairs a source with a stream and a format
section      [feeds.STREAM] of a job file, as every source has it; `values` checks single values
kinds        the tuple of all sources that a job file can name
checkpoint   what Spark writes down of a source on its own
ticks        a row in every batch
files/       files below a folder

A new source is a module with its section and its `Source`, and an entry in `kinds`.
"""
