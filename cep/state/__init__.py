"""What shards remember between batches, whatever an operator keeps."""
