"""job.toml: read, parsed, validated; every mistake told with its place, and all of them at once."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alerts.matchers import Matchers
from alerts.routing import Branch, Branches
from cep.config.job import Desk, Job, JobLoaded, Listen, Machines, Receiver, Retention, Token
from cep.config.machines import check_machines
from cep.config.masking import check_mask_key
from cep.config.notifying import check_notifying, grouping_of, settings_of
from cep.config.places import Places, places_of
from cep.config.routes import check_routes
from cep.config.syntax import not_toml, too_deep, unseen_in
from cep.config.targets import Console, Email, File, Kafka, PagerDuty, Slack, Target, Webhook
from cep.config.tokens import check_tokens
from cep.config.values import (
    access_token,
    keep_time,
    listen_address,
    mask_key,
    outbox_address,
    present,
    signing_secret,
    web_address,
)  # fmt: skip
from cep.config.without_effect import without_effect
from cep.secrets import Secret, SecretError, without_secrets
from cep.sources.kafka.options import Options as ClientOptions
from cep.sources.source import Feed, Options
from cep.sources.values import UnfitError
from rules.diagnostics import Diagnostic, has_errors, in_order
from rules.instants import parse_duration
from rules.source import SourceFile, Span
from rules.suggest import closest

if TYPE_CHECKING:
    from cep.config.receiver_kinds import Section
    from cep.config.shape import GivenRoute, HttpSection, JobFile, RetentionSection, SparkSection
    from cep.sources.section import FeedSection

Check = Callable[[str], object]


def load_job(path: Path, environ: Mapping[str, str] | None) -> JobLoaded:
    """The job that a file describes. Relative paths in it begin at the file's folder.

    Secrets are looked for, so that one that is missing is told now, but not kept. Without `environ` they are
    not: for verbs that deliver nothing.
    """
    if path.suffix == ".rules" and path.is_file():
        said = f"{path} is a rule file, and no job file"
        return _refused(Diagnostic("CEP0701", "error", said, help=_near(path.parent, "job.toml")))
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return _refused(
            Diagnostic("CEP0701", "error", f"there is no file {path}", help=_near(path.parent, path.name))
        )
    except IsADirectoryError:
        return _refused(Diagnostic("CEP0701", "error", f"{path} is a folder", help=_near(path, "job.toml")))
    except UnicodeDecodeError as error:
        return _refused(
            Diagnostic(
                "CEP0701", "error", f"{path} is not UTF-8 (byte {error.start})", help="save the file as UTF-8"
            )
        )
    except OSError as error:
        return _refused(
            Diagnostic(
                "CEP0701",
                "error",
                f"{path} cannot be read: {error.strerror}",
                help="let the user of this command read it",
            )
        )
    text = text.replace("\r\n", "\n")
    file = SourceFile(str(path), text, drawn=without_secrets(text))
    if unseen := unseen_in(file):
        return _refused(*unseen)
    try:
        data = tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        return _refused(not_toml(str(error), file))
    except RecursionError:
        return _refused(too_deep(file))
    places = places_of(file)
    return _validated(path.absolute(), data, places, environ)


def _near(folder: Path, name: str) -> str:
    """The job file that a name may have meant: one of that folder, else of the folder above."""
    for place in (folder, folder.parent):
        try:
            there = sorted(one.stem for one in place.glob("*.toml") if one.is_file())
        except OSError:
            continue
        there = [one for one in there if one != "pyproject"]
        meant = closest(Path(name).stem, there) or (there[0] if len(there) == 1 else None)
        if meant is not None:
            return f"did you mean {place / meant}.toml?"
    return "name the file that describes the job, such as job.toml: docs/job.md says what it holds"


def _refused(*diagnostics: Diagnostic) -> JobLoaded:
    return JobLoaded(None, tuple(diagnostics))


def _validated(
    path: Path, data: dict[str, Any], places: Places, environ: Mapping[str, str] | None
) -> JobLoaded:
    from pydantic import ValidationError

    from cep.config.bucket import check_bucket
    from cep.config.letters import letter_mistakes
    from cep.config.mistakes import diagnose
    from cep.config.receiver_kinds import Section, mistakes
    from cep.config.shape import JobFile

    diagnostics: list[Diagnostic] = []
    try:
        shaped = JobFile.model_validate(data)
    except ValidationError as error:
        diagnostics.extend(diagnose(error, places))
        return _refused(*in_order(diagnostics))
    receivers = [Section(name, one, path.parent, places) for name, one in shaped.receivers.items()]
    diagnostics.extend(found for one in receivers for found in mistakes(one))
    for name, feed in shaped.feeds.items():
        diagnostics.extend(feed.mistakes(Options(path.parent, partial(places.option, name))))
    diagnostics.extend(letter_mistakes(shaped.deadletters, places, path.parent))
    if diagnostics:
        return _refused(*in_order(diagnostics))
    job = _job(path, shaped, receivers, places)
    if environ is not None:
        diagnostics.extend(_secrets(job, environ))
    diagnostics.extend(check_routes(job))
    diagnostics.extend(check_tokens(job, environ))
    diagnostics.extend(check_mask_key(job))
    diagnostics.extend(check_machines(job))
    diagnostics.extend(check_bucket(job))
    diagnostics.extend(check_notifying(job, shaped))
    diagnostics.extend(without_effect(job))
    return JobLoaded(None if has_errors(diagnostics) else job, tuple(in_order(diagnostics)))


def _job(path: Path, shaped: JobFile, receivers: Sequence[Section], places: Places) -> Job:
    from cep.config.bucket import kept_in
    from cep.config.letters import letters_of

    folder = path.parent
    state, bucket = kept_in(shaped, folder)
    outbox = shaped.outbox.url if shaped.outbox else f"sqlite:///{state}/outbox.db"
    branches = _branches(shaped)
    return Job(
        name=shaped.job.name,
        file=path,
        packs=folder / shaped.job.packs,
        state=state,
        bucket=bucket,
        trigger=parse_duration(shaped.job.trigger),
        shards=shaped.job.shards,
        mask_key=None if shaped.job.mask_key is None else Secret(shaped.job.mask_key, folder),
        feeds=tuple(_feed(name, feed, folder) for name, feed in shaped.feeds.items()),
        outbox=Secret(outbox, folder),
        receivers=tuple(_receiver(one) for one in receivers),
        http=None if shaped.http is None else _listen(shaped.http, folder),
        machines=_machines(shaped.spark),
        branches=branches,
        settings=settings_of(shaped, branches),
        desk=Desk(parse_duration(shaped.alerts.episode), shaped.alerts.close_quiet),
        tokens=tuple(
            Token(name, Secret(one.secret, folder), tuple(dict.fromkeys(one.scopes)))
            for name, one in shaped.tokens.items()
        ),
        keep=keep_time(shaped.record.keep),
        retention=_retention(shaped.retention),
        letters=letters_of(shaped.deadletters, folder),
        places=places,
    )


def _machines(given: SparkSection | None) -> Machines:
    if given is None:
        return Machines()
    settings = {name: str(value) for name, value in given.conf.items()}
    return Machines(given.cores, given.master, given.python, given.host, settings)


def _retention(given: RetentionSection) -> Retention:
    return Retention(
        alerts=parse_duration(given.alerts),
        deliveries=parse_duration(given.deliveries),
        late=parse_duration(given.late),
        dead_letters=parse_duration(given.dead_letters),
    )


def _listen(section: HttpSection, folder: Path) -> Listen:
    certificate, key = (
        None if path is None else folder / path for path in (section.certificate, section.key)
    )
    return Listen(*listen_address(section.listen), certificate, key)


def _feed(name: str, feed: FeedSection, folder: Path) -> Feed:
    source = feed.made(folder)
    assert source is not None, "in a job file every option that a source needs has to stand"
    return Feed(name, source, feed.written(folder))


def _receiver(one: Section) -> Receiver:
    from cep.config.receiver_kinds import target

    rules = one.options.rules
    return Receiver(one.name, target(one), None if rules is None else tuple(rules), one.options.severity)


def _branches(shaped: JobFile) -> Branches | None:
    def branch(one: GivenRoute) -> Branch:
        go_on = getattr(one, "continue")
        return Branch(Matchers.of(one.matchers), tuple(one.receivers), go_on, grouping_of(one))

    return Branches(tuple(map(branch, shaped.routes))) if shaped.routes else None


def _secrets(job: Job, environ: Mapping[str, str]) -> list[Diagnostic]:
    """Mistakes in the values that stand elsewhere; no message repeats one."""
    found = _secret(job.places.value(("outbox", "url")), job.outbox, outbox_address, environ)
    if job.mask_key is not None and job.mask_key.refers:
        found += _secret(job.places.value(("job", "mask_key")), job.mask_key, mask_key, environ)
    for name in ("access_key", "secret_key"):
        if job.bucket is not None and (key := getattr(job.bucket, name)) is not None:
            found += _secret(job.places.value(("s3", name)), key, present, environ)
    for receiver in job.receivers:
        found += receiver_secrets(job, receiver, environ)
    if job.letters is not None:
        found += _of_options(job, ("deadletters",), job.letters.options, environ)
    for feed in job.feeds:
        for name, secret in feed.secrets().items():
            found += _secret(job.places.option(feed.name, "options", name), secret, present, environ)
    for token in job.tokens:
        found += _secret(
            job.places.value(("tokens", token.name, "secret")), token.secret, access_token, environ
        )
    return found


def receiver_secrets(job: Job, receiver: Receiver, environ: Mapping[str, str]) -> list[Diagnostic]:
    """The same of one receiver."""
    place, found = ("receivers", receiver.name), []
    if isinstance(receiver.target, Webhook) and receiver.target.secret is None:
        said = f"what `{receiver.name}` gets is not signed"
        help_ = 'give it secret = "${NAME}"'
        found.append(Diagnostic("CEP0716", "warning", said, job.places.key(place), help=help_))
    for key, secret, check in _of_target(receiver.target):
        if secret is not None:
            found += _secret(job.places.value((*place, key)), secret, check, environ)
    if isinstance(receiver.target, Kafka):
        found += _of_options(job, place, receiver.target.options, environ)
    return found


def _of_options(
    job: Job, table: tuple[str, ...], options: ClientOptions, environ: Mapping[str, str]
) -> list[Diagnostic]:
    """The same of the options of a client."""
    found: list[Diagnostic] = []
    for name, secret in options:
        span = job.places.value(job.places.dotted((*table, "options", name)))
        found += _secret(span, secret, present, environ)
    return found


def _of_target(target: Target) -> list[tuple[str, Secret | None, Check]]:
    """The values of a receiver that may stand elsewhere: option, value, check."""
    match target:
        case Webhook():
            return [("url", target.url, web_address), ("secret", target.secret, signing_secret)]
        case Slack():
            return [("url", target.url, web_address)]
        case PagerDuty():
            return [("routing_key", target.routing_key, present), ("url", target.url, web_address)]
        case Email():
            return [("password", target.password, present)]
        case Console() | File() | Kafka():
            return []


def _secret(span: Span, secret: Secret, check: Check, environ: Mapping[str, str]) -> list[Diagnostic]:
    try:
        value = secret.reveal(environ)
    except SecretError as error:
        return [Diagnostic("CEP0708", "error", str(error), span, help=error.help)]
    try:
        check(value)
    except UnfitError as error:
        fix = error.help if secret.meant is None else f'a variable is written "{secret.meant}"'
        return [Diagnostic("CEP0709", "error", _of(secret, str(error)), span, help=fix)]
    return []


def _of(secret: Secret, said: str) -> str:
    """A sentence about a value, which begins with where the value stands if that is not here."""
    return f"what `{secret.written}` stands for: {said}" if secret.refers else said
