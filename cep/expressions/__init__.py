"""The meaning of typed expressions: over one row, and over whole columns."""
