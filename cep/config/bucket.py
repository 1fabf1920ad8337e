"""A state in a bucket: [job] state = "s3a://...", [job] local and [s3] of a job file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cep.buckets import UNFIT
from cep.config.job import Job, KeptInBucket
from cep.config.places import Places
from cep.config.values import BUCKETS
from cep.secrets import Secret
from rules.diagnostics import Diagnostic

if TYPE_CHECKING:
    from cep.config.shape import JobFile


def kept_in(given: JobFile, folder: Path) -> tuple[Path, KeptInBucket | None]:
    """The folder of this machine that a job uses, and the bucket that its state is kept in, if it is one."""
    if not given.job.state.startswith(BUCKETS):
        return folder / given.job.state, None
    store = given.s3
    keys = [None, None] if store is None else [store.access_key, store.secret_key]
    bucket = KeptInBucket(
        "s3a://" + given.job.state.partition("://")[2].rstrip("/"),
        (store and store.endpoint) or "",
        (store and store.region) or "",
        *(None if key is None else Secret(key, folder) for key in keys),
    )
    return folder / (given.job.local or f"local-{given.job.name}/"), bucket


def check_bucket(job: Job) -> Iterator[Diagnostic]:
    """Mistakes in what a job with a state in a bucket has besides, and options that only such a one has."""
    places, there = job.places, job.places.value(("job", "state"))
    if job.bucket is None:
        for table, option in (("job", "local"), ("s3", "")):
            if ((table, option) if option else (table,)) in places.keys:
                said = f"{f'`{option}`' if option else f'[{table}]'} is for a state in a bucket"
                span = places.key((table, option) if option else (table,))
                help_ = 'remove it, or write [job] state = "s3a://BUCKET/PREFIX/"'
                yield Diagnostic(UNFIT, "error", said, span, help=help_)
        return
    if job.outbox.written.startswith("sqlite"):
        said = "a job with its state in a bucket needs an outbox that other machines reach"
        help_ = 'write [outbox] url = "postgresql://user@host/name"'
        yield Diagnostic(UNFIT, "error", said, there, help=help_)
    yield from _keys(job.bucket, places)


def _keys(bucket: KeptInBucket, places: Places) -> Iterator[Diagnostic]:
    if (bucket.access_key is None) != (bucket.secret_key is None):
        there, missing = ("access_key", "secret_key")[:: -1 if bucket.access_key is None else 1]
        said, help_ = f"`{there}` stands without `{missing}`", f'write {missing} = "${{S3_KEY}}", or neither'
        yield Diagnostic(UNFIT, "error", said, places.key(("s3", there)), help=help_)
    key = bucket.secret_key
    if key is not None and not key.refers:
        said, help_ = "the key to the bucket stands in the job file", 'write "${S3_SECRET}" or "file:PATH"'
        yield Diagnostic(UNFIT, "warning", said, places.value(("s3", "secret_key")), help=help_)
