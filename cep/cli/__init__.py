"""The command line. `main` dispatches; every verb is a module with `register` and `run`."""
