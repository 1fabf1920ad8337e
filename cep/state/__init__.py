"""State of shards between batches, whatever an operator keeps."""
