"""Topics of Kafka as a source: a batch reads what is new in each partition, from offset to offset.

kafka      the source; the other modules are its parts
section    its keys in a job file
options    what a consumer is told, as Spark's connector and our reader are told it
checks     what no consumer may be told, and options that need one another
spark_log  the offsets that Spark's connector has written down for a batch
extents    what a batch reads of a partition, and its division into parts
brokers    what brokers say of topics, partitions and offsets
reading    a part to events
"""
