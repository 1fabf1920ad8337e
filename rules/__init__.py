"""Rule text to checked, typed packs: the front end. Knows the percolator's query syntax, no Spark."""
