"""A class of Hadoop's local files for the JVM: its source, and the jar that is made of it (`make jar`)."""
