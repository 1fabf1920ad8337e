"""A state in a bucket: [job] state = "s3a://...", [job] local and [s3] of a job file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cep.buckets import UNFIT
from cep.config.job import Job, KeptInBucket
from cep.config.places import Places
from cep.config.values import keep_time
from cep.secrets import Secret
from cep.sources.http.http import Http
from cep.sources.values import UnfitError, path
from rules.diagnostics import Diagnostic

if TYPE_CHECKING:
    from cep.config.shape import JobFile

_SCHEMES = ("s3a://", "s3://")
_URL = re.compile(r"s3a?://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(/[A-Za-z0-9!_.*'()/-]*)?")
_SHAPE = 'write "s3a://BUCKET/PREFIX/", or the path of a folder'


def state(text: str) -> str:
    """The place of a state: a path, or one in a bucket as `s3a://BUCKET/PREFIX`."""
    path(text)
    scheme, sign, _ = text.partition("://")
    if not sign:
        return text
    if not text.startswith(_SCHEMES):
        raise UnfitError(f"a state lies in a folder or in a bucket, and not under `{scheme}:`", _SHAPE)
    found = _URL.fullmatch(text)
    if found is None or ".." in text:
        raise UnfitError("this names no bucket and prefix", _SHAPE)
    if not (found[2] or "").strip("/"):
        help_ = f'write a prefix: "s3a://{found[1]}/fraud/"'
        raise UnfitError("a state does not fill a whole bucket", help_)
    return text


def endpoint(text: str) -> str:
    """The address of a store."""
    if not re.fullmatch(r"https?://[^/?#\s@]+/?", text):
        help_ = 'write endpoint = "https://minio:9000"; without it the bucket is at Amazon'
        raise UnfitError("a store's address is https:// or http://, a host, and a port", help_)
    return text.rstrip("/")


def kept_in(given: JobFile, folder: Path) -> tuple[Path, KeptInBucket | None]:
    """The folder of this machine that a job uses, and the bucket that its state is kept in, if it is one."""
    if not given.job.state.startswith(_SCHEMES):
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


def check_bucket(job: Job, given: JobFile) -> Iterator[Diagnostic]:
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
    yield from _without_folder(job, given)


def _keys(bucket: KeptInBucket, places: Places) -> Iterator[Diagnostic]:
    if (bucket.access_key is None) != (bucket.secret_key is None):
        there, missing = ("access_key", "secret_key")[:: -1 if bucket.access_key is None else 1]
        said, help_ = f"`{there}` stands without `{missing}`", f'write {missing} = "${{S3_KEY}}", or neither'
        yield Diagnostic(UNFIT, "error", said, places.key(("s3", there)), help=help_)
    key = bucket.secret_key
    if key is not None and not key.refers:
        said, help_ = "the key to the bucket stands in the job file", 'write "${S3_SECRET}" or "file:PATH"'
        yield Diagnostic(UNFIT, "warning", said, places.value(("s3", "secret_key")), help=help_)


def _without_folder(job: Job, given: JobFile) -> Iterator[Diagnostic]:
    """What needs files that are written piece by piece, which a bucket does not have."""
    for feed in job.feeds:
        if isinstance(feed.source, Http):
            said = f"feed `{feed.name}` would keep what comes by HTTP in the state, which is in a bucket"
            help_ = "take these events from a topic, or keep the state in a folder"
            place = job.places.value(("feeds", feed.name, "source"))
            yield Diagnostic(UNFIT, "error", said, place, help=help_)
    if "keep" in given.record.model_fields_set and keep_time(given.record.keep):
        said, help_ = "a job with its state in a bucket records no events", 'write keep = "0"'
        yield Diagnostic(UNFIT, "error", said, job.places.value(("record", "keep")), help=help_)
