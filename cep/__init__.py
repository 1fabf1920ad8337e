"""Typed packs to automata, the Spark job that runs them, and the command line."""
