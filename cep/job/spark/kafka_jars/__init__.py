"""The jars with which Spark reads Kafka: fetched once by Maven, into the folder `jars` beside this file.

    python -m cep.job.spark.kafka_jars [FOLDER ...]

fetches them; each further FOLDER is one with a pom.xml and a jars.sha256 of its own. `make setup` does so,
and a wheel that is built after it carries them: a job looks for them here and asks no network.
"""
