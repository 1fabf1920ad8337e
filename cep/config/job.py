"""The content of a job file, checked: paths absolute, durations in nanoseconds, secrets still unread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from alerts.masking import Mask
from alerts.routing import Branches, Route, Routes
from alerts.settings import Settings
from cep.buckets import Bucket
from cep.config.places import Places
from cep.config.targets import Target
from cep.decode.formats import FeedFormat
from cep.secrets import Secret
from cep.sources.kafka.options import Options as ClientOptions
from cep.sources.source import AnySource, Feed, Options
from rules.diagnostics import Diagnostic, DiagnosticsError

if TYPE_CHECKING:
    from cep.files import AnyPath


@dataclass(frozen=True, slots=True)
class FeedOption:
    """A feed that a command line gives; without a source its events are named elsewhere."""

    name: str
    source: AnySource | None
    format: FeedFormat
    places: Places = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Receiver:
    """Who gets alerts. `rules` None: those of all rules; `severity` is the least severe it gets."""

    name: str
    target: Target
    rules: tuple[str, ...] | None
    severity: str

    @property
    def route(self) -> Route:
        """The alerts it gets."""
        return Route(self.name, None if self.rules is None else frozenset(self.rules), self.severity)


@dataclass(frozen=True, slots=True)
class Desk:
    """Settings of those who work on alerts: `episode`, in ns, is that of rules without a clause of their own;
    with `close_quiet`, episodes that are quiet are closed."""

    episode: int
    close_quiet: bool


@dataclass(frozen=True, slots=True)
class Retention:
    """For how long things stay in the outbox, in nanoseconds."""

    alerts: int
    deliveries: int
    late: int
    dead_letters: int


@dataclass(frozen=True, slots=True)
class Listen:
    """The address that the page, API and metrics are served at; port 0: any that is free.

    With a certificate and its key, both PEM, it is served under TLS.
    """

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None

    @property
    def tls(self) -> bool:
        """True if it is served under TLS."""
        return self.certificate is not None


@dataclass(frozen=True, slots=True)
class Letters:
    """The topics of a cluster that dead letters and late events go to; None: they are only kept."""

    servers: str
    topic: str | None
    late: str | None
    options: ClientOptions


Scope = Literal["read", "operate", "deploy", "ingest"]
SCOPES: tuple[Scope, ...] = ("read", "operate", "deploy", "ingest")


@dataclass(frozen=True, slots=True)
class Token:
    """Whoever shows the secret is called by this name, and may do what the scopes say."""

    name: str
    secret: Secret
    scopes: tuple[Scope, ...]


@dataclass(frozen=True, slots=True)
class Machines:
    """Where a job's tasks run: on `cores` of this machine, all that the process may use if None, or of a
    cluster's.

    `master` is the cluster's address. `python` is the interpreter on its machines, None: the path of this
    one. `host` is the address at which they reach this machine, None: that of the way to the master. `conf`
    has settings of Spark.
    """

    cores: int | None = None
    master: str | None = None
    python: str | None = None
    host: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeptInBucket:
    """A place in a bucket, as a job file names it. "" and None: as Amazon's tools find it on each machine."""

    url: str
    endpoint: str
    region: str
    access_key: Secret | None
    secret_key: Secret | None

    def reveal(self, environ: Mapping[str, str]) -> Bucket:
        """The place with its keys. Raises SecretError."""
        access, secret = (
            "" if key is None else key.reveal(environ) for key in (self.access_key, self.secret_key)
        )
        endpoint = self.endpoint or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL", "")
        return Bucket(self.url, endpoint, self.region, access, secret)


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `outbox` reveals an SQLAlchemy URL; `trigger` is in nanoseconds; `http` None: not served.

    `state` is the folder of its state; where that is in a `bucket`, what this machine keeps of its own.
    `branches` None: each receiver has its own route. `settings` are what comes between deliveries and
    notifications. `keep`: for how long accepted events stay in the record, in nanoseconds; 0: none are
    recorded. `mask_key` None: no field of its packs is secret.
    """

    name: str
    file: Path
    packs: Path
    state: Path
    bucket: KeptInBucket | None
    trigger: int
    shards: int | None
    mask_key: Secret | None
    feeds: tuple[Feed, ...]
    outbox: Secret
    receivers: tuple[Receiver, ...]
    http: Listen | None
    machines: Machines
    branches: Branches | None
    desk: Desk
    tokens: tuple[Token, ...]
    keep: int
    retention: Retention
    letters: Letters | None
    settings: Settings
    places: Places = field(repr=False, compare=False)

    @property
    def routes(self) -> Routes:
        """By what alerts find their receivers."""
        return [one.route for one in self.receivers] if self.branches is None else self.branches

    def feed(self, name: str) -> Feed:
        """The feed of a stream. Raises KeyError."""
        for feed in self.feeds:
            if feed.name == name:
                return feed
        raise KeyError(name)

    def within(self, state: AnyPath) -> Job:
        """The job whose sources find in its state what they keep there."""
        return replace(self, feeds=tuple(replace(f, source=f.source.within(state)) for f in self.feeds))

    def options(self, feed: str) -> Options:
        """Where the options of a feed stand in the job file."""
        return Options(self.file.parent, partial(self.places.option, feed))

    def mask(self, environ: Mapping[str, str]) -> Mask | None:
        """Hashes of secret values; None without a key. Raises SecretError."""
        return None if self.mask_key is None else Mask(self.mask_key.reveal(environ).encode())

    def outbox_url(self, environ: Mapping[str, str]) -> str:
        """The outbox's URL, with its secrets; the path of a file is absolute. Raises SecretError."""
        url = self.outbox.reveal(environ)
        scheme, _, path = url.partition(":///")
        if not scheme.startswith("sqlite") or path.startswith("/"):
            return url
        return f"{scheme}:///{self.file.parent}/{path}"


@dataclass(frozen=True, slots=True)
class JobLoaded:
    """A job, or None where some diagnostic is an error; with all diagnostics, in order of place."""

    job: Job | None
    diagnostics: tuple[Diagnostic, ...]

    def need(self) -> Job:
        """The job. Raises DiagnosticsError where there is none."""
        if self.job is None:
            raise DiagnosticsError(self.diagnostics)
        return self.job
