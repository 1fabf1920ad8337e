"""Behind the shuffle: one shard's state and payloads to matches, alerts and the next state."""
