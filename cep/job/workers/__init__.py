"""The code that runs in Spark's Python workers: mappers before the shuffle, shards behind it."""
