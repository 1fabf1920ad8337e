"""What a rule comes to when it runs: pattern, automaton, where conditions are evaluated, what is kept."""
