"""Standing text queries and the documents that they hit. Knows no Spark and no rules."""
