"""Patterns: `match` rules."""
