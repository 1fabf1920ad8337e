"""Patterns over a batch: what the kernel is given, what it answers, and what is kept of a key."""
