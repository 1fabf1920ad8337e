"""Before the shuffle: evaluates predicates by column, and packs what some rule wants for its shards."""
