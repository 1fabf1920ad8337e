"""A rule as it runs: pattern, automaton, where conditions are evaluated, what is kept."""
