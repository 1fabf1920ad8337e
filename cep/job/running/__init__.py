"""A running job besides its batches: its lifecycle, its delivery, its port, what its user sees."""
