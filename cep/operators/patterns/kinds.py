"""The kinds of state that patterns keep of a key."""

RUNS = "runs"
"""Live runs (cep.matching.runs)."""
HISTORIES = "histories"
"""The last events of the key, for `prev` (cep.matching.history)."""
SIGHTINGS = "sightings"
"""When events that an `absent` before the first step forbids were there (cep.matching.sightings)."""
