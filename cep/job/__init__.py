"""The running job: one Spark query that calls the matching functions, and what keeps it alive and exact.

Its folders, from the ground up (tests/layers asserts their order):

clocks        time while the program runs and its pauses; idle partitions; a clock that cannot be right
poison        the search for events that end their workers, and batches without them
state_folder  its paths and format, its lock, manifests, the extents of batches, dead letters, deploy requests
shipping      everything that workers get besides rows, and how it comes to them
workers       before the shuffle the mapper: read, decode, classify; behind it the shard and its state
spark         the session, Java and its archive of classes, the one query from listing to foreachBatch
batches       a batch from its manifest to the outbox, repeated attempts, deploys between two batches
start         what is checked before there is Java, and the packs that a job starts with
running       the lifecycle from the lock to the last batch; stopping, delivery, health, progress, the journal

Only modules in here, and sources when they are asked for their streaming table, import pyspark, and only
when a job starts.
"""
