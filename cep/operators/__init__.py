"""Operators: one folder for each kind of rule."""
