"""Spark with the job's settings, and the one query that it runs."""
