"""job.toml -> a checked Job, or diagnostics with place and fix.

    load_job(path, environ) -> JobLoaded        the file itself, and that its secrets are there
    check_feeds(job, packs) -> [Diagnostic]     the file against the packs that it is to run
    feed_option(text, folder) -> FeedOption     a feed that a command line gives, or diagnostics
    check_format(feed, places, streams)         one feed against the streams of the packs

Only `shape` imports pydantic, and only when a job file is loaded.
"""

from cep.config.against_packs import check_feeds, check_format, streams_without_feed
from cep.config.job import Feed, FeedOption, Job, JobLoaded, Listen, Receiver
from cep.config.load import load_job
from cep.config.option import feed_option
from cep.config.secrets import Secret, SecretError

__all__ = [
    "Feed",
    "FeedOption",
    "Job",
    "JobLoaded",
    "Listen",
    "Receiver",
    "Secret",
    "SecretError",
    "check_feeds",
    "check_format",
    "feed_option",
    "load_job",
    "streams_without_feed",
]
