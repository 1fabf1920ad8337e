"""The state folder: what is durable of a job, and who may touch it."""
