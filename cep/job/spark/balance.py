"""Grouping keys of shards, chosen so that Spark's hash partitioning spreads the shards evenly."""

from __future__ import annotations


def shard_keys(shards: int, partitions: int) -> tuple[int, ...]:
    """For every shard the key by which Spark groups its rows: shard s falls into partition s % partitions.

    A function of the two numbers alone, both of which are fixed for the life of a state folder.
    """
    wanted = [shard % partitions for shard in range(shards)]
    free: dict[int, list[int]] = {p: [] for p in range(partitions)}
    need = {p: wanted.count(p) for p in range(partitions)}
    candidate = 0
    while any(len(free[p]) < need[p] for p in free):
        free[_hash(candidate) % partitions].append(candidate)
        candidate += 1
    taken = {p: iter(keys) for p, keys in free.items()}
    return tuple(next(taken[p]) for p in wanted)


def _hash(value: int) -> int:
    """Spark's hash of an int: Murmur3 x86 32 bit with seed 42, as a signed number (Murmur3Hash.hashInt)."""
    k = value * 0xCC9E2D51 & 0xFFFFFFFF
    k = (k << 15 | k >> 17) & 0xFFFFFFFF
    h = 42 ^ (k * 0x1B873593 & 0xFFFFFFFF)
    h = (h << 13 | h >> 19) & 0xFFFFFFFF
    h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
    h ^= 4
    h ^= h >> 16
    h = h * 0x85EBCA6B & 0xFFFFFFFF
    h ^= h >> 13
    h = h * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h
