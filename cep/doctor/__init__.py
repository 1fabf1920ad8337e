"""`cep doctor`: what a machine has and lacks to run a job. Each check is a function that gives findings.

machine   Python, packages, compiled kernels, memory, clock
disk      room, and how long a file takes to be safe
spark     Java, and Spark with one of its Python workers, started for a moment
job       a job file: its paths, secrets, state folder, outbox, port and receivers
"""
