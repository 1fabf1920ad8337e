"""The jars that Spark does not bring: `kafka`, with which it reads topics, and `s3`, for a state in a bucket.

    python -m cep.job.spark.jars [FOLDER ...]

has Maven fetch them once, into the folder `jars` beside each pom.xml; each further FOLDER is one with a
pom.xml and a jars.sha256 of its own. `make setup` does so, and a wheel that is built after it carries them: a
job looks for them here and asks no network.
"""
