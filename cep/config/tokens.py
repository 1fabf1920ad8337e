"""[tokens.NAME] of a job file: secrets that stand elsewhere and differ, and a port to use them on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cep.config.job import Job
from cep.secrets import SecretError
from cep.sources.http.http import Http
from rules.diagnostics import Diagnostic, in_order


def check_tokens(job: Job, environ: Mapping[str, str] | None) -> list[Diagnostic]:
    """Mistakes in tokens and in the certificate of a job file, in order of place.

    Without `environ` secrets are not compared.
    """
    found = (
        _written(job),
        _unused(job),
        _half(job),
        _unreached(job),
        () if environ is None else _equal(job, environ),
    )
    return in_order([one for part in found for one in part])


def _written(job: Job) -> Iterator[Diagnostic]:
    for token in job.tokens:
        if not token.secret.refers:
            yield Diagnostic(
                "CEP0735",
                "error",
                f"the secret of token `{token.name}` stands in the job file",
                job.places.value(("tokens", token.name, "secret")),
                help='write secret = "${NAME}" for a variable of the environment, or "file:PATH"',
            )


def _unused(job: Job) -> Iterator[Diagnostic]:
    if job.http is None:
        for token in job.tokens:
            yield Diagnostic(
                "CEP0738",
                "warning",
                f"token `{token.name}` opens nothing: the job has no port",
                job.places.key(("tokens", token.name)),
                help='write [http] listen = "127.0.0.1:8090", or remove the token',
            )


def _half(job: Job) -> Iterator[Diagnostic]:
    if job.http is not None and (job.http.certificate is None) != (job.http.key is None):
        missing, there = ("certificate", "key") if job.http.certificate is None else ("key", "certificate")
        yield Diagnostic(
            "CEP0704",
            "error",
            f"`{missing}` is missing in [http]",
            job.places.value(("http", there)),
            help="`certificate` and `key` stand together; without both the port is not encrypted",
        )


def _unreached(job: Job) -> Iterator[Diagnostic]:
    """Feeds that take events by HTTP, where nothing and nobody can bring any."""
    for feed in job.feeds:
        if not isinstance(feed.source, Http):
            continue
        if job.http is None:
            said, help_ = "and the job has no port", 'write [http] listen = "127.0.0.1:8090"'
        elif not any("ingest" in token.scopes for token in job.tokens):
            said, help_ = "and no token may bring any", 'give a [tokens.NAME] scopes = ["ingest"]'
        else:
            continue
        place = job.places.value(("feeds", feed.name, "source"))
        yield Diagnostic("CEP0786", "error", f"`{feed.name}` takes events by HTTP, {said}", place, help=help_)


def _equal(job: Job, environ: Mapping[str, str]) -> Iterator[Diagnostic]:
    first: dict[str, str] = {}
    for token in job.tokens:
        try:
            secret = token.secret.reveal(environ)
        except SecretError:
            continue  # told with the other secrets
        other = first.setdefault(secret, token.name)
        if other != token.name:
            yield Diagnostic(
                "CEP0738",
                "error",
                f"tokens `{other}` and `{token.name}` have one secret, so that nobody knows who acts",
                job.places.value(("tokens", token.name, "secret")),
                help="give each a secret of its own",
            )
