"""Hashes of texts and of keys, equal in every process, and the shard of a key."""
