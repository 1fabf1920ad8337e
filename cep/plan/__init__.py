"""Packs as the engine runs them."""
