"""A batch as operators see it: its events and their predicates, its clock; and what they decide."""
