"""The job's HTTP port."""
