"""Packs read, checked by what the engine can run, and compiled to a plan."""
