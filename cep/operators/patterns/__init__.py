"""`match`: patterns in the events of one key."""
