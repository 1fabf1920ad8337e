"""The kinds of state that patterns keep of a key."""

RUNS = "runs"
"""Live runs (cep.operators.patterns.runtime.runs)."""
PACKED = "packed"
"""Live runs of strict sequences, as sets of rules (packed_runs.py)."""
HISTORIES = "histories"
"""The last events of the key, for `prev` (history.py)."""
LAST_SEEN = "sightings"
"""The last-seen index: when events that an `absent` before the first step forbids were there (last_seen.py).
State folders hold the kind under this older name, which stays."""
RAISED = "raised"
"""Matches to which another fork of a live run may come again (already_raised.py)."""
