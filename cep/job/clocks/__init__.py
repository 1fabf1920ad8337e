"""Time while a job runs, idle partitions, and a wall clock that is wrong."""
