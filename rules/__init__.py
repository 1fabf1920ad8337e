"""Rule text to checked, typed packs: the language's front end. Knows the percolator's query syntax, no Spark."""
