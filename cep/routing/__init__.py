"""Before the shuffle: judge events by column and pack what some rule wants for its shards."""
