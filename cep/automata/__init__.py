"""Typed packs to plans: key spaces, distinct conditions, and the tables that the kernel runs."""
