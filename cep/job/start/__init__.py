"""Checks of a start, before Spark and before the first batch."""
