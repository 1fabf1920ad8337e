"""Codes of what is right and too large to run: refusals of the automaton, not of the language."""

from __future__ import annotations

TOO_MANY_STATES = "CEP0906"
"""A pattern of too many states or transitions: the reference, which has no states, takes it."""
TOO_MANY_VALUES = "CEP0426"
"""A pattern whose runs would carry too many values; the reference looks at the events themselves."""
OF_AUTOMATA = frozenset({TOO_MANY_STATES, TOO_MANY_VALUES})
"""The refusals that are of the automaton, not of the language: nothing is missing that could come."""
