"""Windows of a batch: kept state and new events to evaluations, and what is kept then."""
