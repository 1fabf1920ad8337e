"""Behind the shuffle: one shard's state and events to alerts and the next state."""
