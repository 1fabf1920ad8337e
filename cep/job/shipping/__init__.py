"""Everything that Spark's Python workers get besides the rows of a batch, and how they get it.

declared     each thing: its transport, how large it may be, what happens where it is larger or missing
folders      the folders that the driver and all workers see
task         what goes with a batch's tasks: the manifest, whether to look for poison
program      the versions that have to be on every machine
packs        packs as texts by revision; a worker compiles its plan of them
blobs        payloads too large for Spark's rows
worker       what one worker process keeps from batch to batch: plans, resources, states of shards

Compiled query sets lie in cep.standing.store, lists of files in cep.job.state_folder.extents: under the
folders of `folders`. A cluster's machines all see these (decision 80).
"""
