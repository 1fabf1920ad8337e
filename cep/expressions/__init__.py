"""What typed expressions mean: over one row, and over whole columns."""
