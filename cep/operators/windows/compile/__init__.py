"""A rule over windows to its plan: what its state is made of, and what is asked of it."""
