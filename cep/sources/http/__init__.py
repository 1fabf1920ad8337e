"""Events that come by POST: a log of segments, of which each batch reads a stretch.

segments    the files or objects of a log, by number, and what stands in them
appending   groups of lines to its end: to files, or as objects of a bucket
intake      takes what comes, in groups that are there for good before anybody is told so
bounds      up to where each batch reads, written down before the batch is
extents     a stretch of one segment
reading     a stretch to events and dead letters
http        the source
section     [feeds.STREAM] with source = "http"
"""
