"""Packs that were handed over, as they enter a manifest; and what that means for every rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, assert_never

from alerts.notation import timestamp
from cep.config import Job, check_feeds, check_receivers, load_job
from cep.config.against_machine import check_folders
from cep.config.masking import check_secret_fields
from cep.events import MAX_TIME, MIN_TIME
from cep.job.state_folder.deploy_requests import Answer, Request, RuleFate
from cep.job.state_folder.manifest import Deployed
from cep.operators.known import operator_of
from cep.packs.compile import compile_plan
from cep.packs.succession import meaning
from cep.plan.generations import Closing
from cep.plan.plan import Plan, RuleName, hit_streams
from cep.standing.compiled import CANNOT_BE_READ, UnreadableError
from cep.standing.store import QueryStore
from rules.diagnostics import Diagnostic, DiagnosticsError, has_errors
from rules.packs import load_texts
from rules.query_files import with_contents
from rules.typed import Match, On, Over, Pack, Rule, Stream

if TYPE_CHECKING:
    from cep.files import AnyPath

DIFFERING_QUERIES = "CEP0920"
DIFFERING_STREAMS = "CEP0951"


@dataclass(frozen=True, slots=True)
class Running:
    """The packs that run, by name, and the job that they run in; `read` are feeds that it read before."""

    packs: Mapping[str, Pack]
    job: Job
    read: Collection[str] = ()

    @property
    def revisions(self) -> dict[str, str]:
        """The revision of every pack."""
        return {name: pack.revision for name, pack in sorted(self.packs.items())}

    def findings(self) -> list[Diagnostic]:
        """Diagnostics of the packs together, and of the packs with the job. Errors stop the job."""
        packs = [pack for _, pack in sorted(self.packs.items())]
        return [
            *differing_streams(packs),
            *differing_queries(packs),
            *check_feeds(self.job, packs, self.read),
            *check_receivers(self.job, packs),
            *check_secret_fields(self.job, packs),
        ]

    def plan(self) -> Plan:
        """Their plan. Raises DiagnosticsError where they cannot run together, or do not fit the job."""
        plan = compile_plan([pack for _, pack in sorted(self.packs.items())])
        findings = [*self.findings(), *check_folders(self.job)]
        if has_errors(findings):
            raise DiagnosticsError(findings)
        return plan


def with_deploy(
    running: Running, request: Request, environ: Mapping[str, str], store: QueryStore, state: AnyPath
) -> tuple[Running, Deployed] | Answer:
    """The packs that run when the pack of a request replaces the one of its name; or the refusal.

    The files of its standing queries are in the store. job.toml is read again, for feeds that it lacked, and
    to tell of receivers; what it says of others counts at a start. `state` is where the job's state is.
    """
    loaded = load_texts(request.files)
    if loaded.pack is None:
        return _refused(request, loaded.diagnostics)
    pack = with_contents(loaded.pack, dict(request.queries))
    described = load_job(running.job.file, environ)
    if described.job is None:
        return _refused(request, described.diagnostics)
    known = {feed.name for feed in running.job.feeds}
    more = tuple(feed for feed in described.job.feeds if feed.name not in known)
    job = replace(described.job, feeds=(*running.job.feeds, *more)).within(state)
    after = replace(running, packs={**running.packs, pack.name: pack}, job=job)
    try:
        for hits in after.plan().hits.values():
            store.put(hits)
    except DiagnosticsError as error:
        return _refused(request, error.diagnostics)
    except (UnreadableError, OSError) as error:  # a full disk, too, leaves the last good pack running
        return _refused(
            request,
            [
                Diagnostic(
                    CANNOT_BE_READ,
                    "error",
                    str(error),
                    help="see that the files can be read and that the disk has room, then deploy again",
                )
            ],
        )
    before = running.packs.get(pack.name)
    return after, Deployed(request.id, pack.name, pack.revision, before.revision if before else "")


def fates(
    before: Pack | None,
    after: Pack,
    runs_before: Mapping[RuleName, int],
    runs_after: Mapping[RuleName, int],
    closing: Collection[Closing] = (),
) -> tuple[RuleFate, ...]:
    """Every rule of the pack and what became of its runs, in the order of the pack, removed ones last.

    `closing` are the rules that go on beside those of the packs.
    """
    old = {rule.name: rule for rule in before.rules} if before else {}
    draining = {one.rule: one for one in closing if before is not None and one.revision == before.revision}
    found: list[RuleFate] = []
    for rule in after.rules:
        name, was = (after.name, rule.name), old.get(rule.name)
        if was is None:
            found.append(RuleFate(rule.name, "new", 0, _of(rule)))
        elif was.structure == rule.structure:
            found.append(RuleFate(rule.name, "kept", runs_after.get(name, 0), _of(was)))
        elif rule.name in draining:
            until = _until(was, draining[rule.name])
            found.append(RuleFate(rule.name, "drained", runs_before.get(name, 0), _of(was), until))
        else:
            found.append(RuleFate(rule.name, "started anew", runs_before.get(name, 0), _of(was)))
    here = {rule.name for rule in after.rules}
    found.extend(
        RuleFate(name, "removed", runs_before.get((after.name, name), 0), _of(rule))
        for name, rule in old.items()
        if name not in here
    )
    return tuple(found)


def _of(rule: Rule) -> Literal["runs", "keys"]:
    match rule.body:
        case Over():
            return "keys"
        case On() | Match():
            return "runs"
        case _:
            assert_never(rule.body)


def _until(rule: Rule, closing: Closing) -> str | None:
    until = operator_of(rule).open_until(rule, closing.until)
    return None if until is None or until >= MAX_TIME or closing.until == MIN_TIME else timestamp(until)


def unserved(before: Mapping[str, Pack], after: Mapping[str, Pack], job: Job) -> list[Diagnostic]:
    """Warnings about receivers that a deploy made true."""
    known = {(d.code, d.message) for d in check_receivers(job, list(before.values()))}
    return [d for d in check_receivers(job, list(after.values())) if (d.code, d.message) not in known]


def differing_streams(packs: Sequence[Pack]) -> list[Diagnostic]:
    """Streams of one name that two packs declare differently: in a job they are one stream."""
    found: list[Diagnostic] = []
    first: dict[str, tuple[Stream, str]] = {}
    for pack in packs:
        for stream in pack.fed:
            known, whose = first.setdefault(stream.name, (stream, pack.name))
            if meaning(known) != meaning(stream):
                message = f"stream `{stream.name}` is declared otherwise in pack `{whose}`, of the same job"
                fix = "declare it equally in both packs"
                found.append(Diagnostic(DIFFERING_STREAMS, "error", message, stream.span, help=fix))
    return found


def differing_queries(packs: Sequence[Pack]) -> list[Diagnostic]:
    """Standing queries of one name that are others in two packs: the streams of their hits are one stream."""
    found: list[Diagnostic] = []
    first: dict[str, tuple[str, str]] = {}
    for pack in packs:
        for hits in hit_streams(pack):
            queries = hits.queries
            content, whose = first.setdefault(hits.stream.name, (queries.content, pack.name))
            if content != queries.content:
                message = f"queries `{queries.name}` are others in pack `{whose}`, of the same job"
                fix = "give them another name in one of the packs"
                found.append(Diagnostic(DIFFERING_QUERIES, "error", message, queries.span, help=fix))
    return found


def _refused(request: Request, diagnostics: Collection[Diagnostic]) -> Answer:
    errors = [d for d in diagnostics if d.level == "error"]
    assert has_errors(errors)
    return Answer(
        request.id,
        request.pack,
        request.revision,
        refused=f"the pack was refused: {errors[0].message}",
        help=errors[0].help,
        diagnostics=tuple(d.as_dict() for d in diagnostics),
    )
