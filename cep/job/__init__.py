"""The running job: one Spark query that calls the matching functions, and what keeps it alive and exact.

In the order in which a job meets them:

errors       JobError: one sentence, what helps, and whose fault it is
folder       the state folder: its paths, its format version, what is fixed in it for ever
lock         one job per state folder
files        small files that must be whole or absent; JSON with its checksum
shipping     everything that workers get besides rows, and how it comes to them
access       what of the state folder the job's user may not read or write
beforehand   what can be known to be wrong before the first file is written
java         whether there is a Java that Spark can run on
cores        the processor cores that the job may use
session      Spark with our settings, its noise in a log file
daemon       the process that Spark forks Python workers from
balance      grouping keys that spread the shards evenly
rows         what mappers tell shards and shards tell the driver
running_time time while the program runs, its pauses, a clock that was set back
wrong_clock  what is said of a clock that cannot be right
silence      which partitions are silent, and how far the clock alone moves event time
manifest     what a batch runs with, written before it runs
extents      what a batch reads, pinned before it ran
growth       files that change after their batch is over, as their source tells it
inspection   what a start looks over before there is Java
listing      feeds and ticks as one streaming table of lanes
share        which parts of a batch a mapper reads
late         events that came too late, as they are kept
mapper       before the shuffle: read, decode, classify
shard        behind the shuffle: one shard, one batch
matcher      a shard's state in Spark's hands
stream       the one query, from listing to foreachBatch
outcome      what all shards said, put together and recorded
driver       one batch from manifest to outbox, as Spark's foreachBatch calls it
takeover     packs that `cep deploy` handed over, as they enter a manifest
failures     what Spark says when it fails, in a sentence
stopping     that the job is to stop, and what becomes of Java then
health       how the job stands, for /healthz
life         from the lock to the last batch: start, watch, restart, stop
progress     what a user sees of a job that runs
journal      the file for what libraries would print beside that

Only modules in here, and sources when they are asked for their streaming table, import pyspark, and only
when a job starts.
"""
