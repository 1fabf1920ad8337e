"""What a rule comes to when it runs: its pattern, its automaton, where conditions are evaluated, what it keeps."""
