"""Patterns to automata, programs and the tables that the kernel runs."""
