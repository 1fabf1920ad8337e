"""A running job besides its batches: its life, its delivery, its port, what its user sees."""
