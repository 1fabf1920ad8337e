"""`match`: patterns over one key's events."""
