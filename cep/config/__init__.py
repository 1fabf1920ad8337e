"""job.toml -> a checked Job, or diagnostics with place and fix.

    load_job(path, environ) -> JobLoaded           the file itself, and that its secrets are there
    receiver_secrets(job, receiver, environ)       the same of one receiver's secrets
    check_feeds(job, packs) -> [Diagnostic]        its feeds against the packs that it is to run
    check_receivers(job, packs) -> [Diagnostic]    its receivers against the rules of these packs
    feed_option(text, folder) -> FeedOption        a feed that a command line gives, or diagnostics
    check_format(feed, places, stream)             one feed against the stream that it brings

`against_machine` looks at folders and addresses, when a job is to start.

Only `shape`, what reads it, and the sections of cep.sources import pydantic, and only when a job file is
loaded.
"""

from cep.config.against_packs import check_feeds, check_format, unfed
from cep.config.job import FeedOption, Job, JobLoaded, Listen, Machines, Receiver
from cep.config.load import load_job, receiver_secrets
from cep.config.option import feed_option
from cep.config.receivers import check_receivers
from cep.secrets import Secret, SecretError
from cep.sources.source import Feed

__all__ = [
    "Feed",
    "FeedOption",
    "Job",
    "JobLoaded",
    "Listen",
    "Machines",
    "Receiver",
    "Secret",
    "SecretError",
    "check_feeds",
    "check_format",
    "check_receivers",
    "feed_option",
    "load_job",
    "receiver_secrets",
    "unfed",
]
