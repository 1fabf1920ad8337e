"""[[routes]] of a job file against its receivers: what they name, and what they leave without effect."""

from __future__ import annotations

from collections.abc import Iterator

from alerts.routing import Branches
from cep.config.job import Job
from rules.diagnostics import Diagnostic, in_order
from rules.suggest import meant


def check_routes(job: Job) -> list[Diagnostic]:
    """Errors for receivers that there are none of, warnings for what changes nothing, in order of place."""
    if job.branches is None:
        return []
    found = (_unknown(job, job.branches), _unreached(job, job.branches), _without_effect(job, job.branches))
    return in_order([one for part in found for one in part])


def _unknown(job: Job, branches: Branches) -> Iterator[Diagnostic]:
    names = [one.name for one in job.receivers]
    for number, branch in enumerate(branches.all):
        for place, name in enumerate(branch.receivers):
            if name not in names:
                yield Diagnostic(
                    "CEP0731",
                    "error",
                    f"there is no receiver `{name}`",
                    job.places.value(("routes", number, "receivers", place)),
                    help=meant(name, names, "receivers") if names else f"write [receivers.{name}]",
                )


def _unreached(job: Job, branches: Branches) -> Iterator[Diagnostic]:
    """Routes behind one that takes everything."""
    last = next((n for n, one in enumerate(branches.all) if not one.matchers.all and not one.go_on), None)
    if last is not None and last + 1 < len(branches.all):
        yield Diagnostic(
            "CEP0732",
            "warning",
            f"no alert comes to this route: route {last + 1} takes every one",
            job.places.key(("routes", last + 1)),
            help="put it before that one, or give that one `continue = true`",
        )


def _without_effect(job: Job, branches: Branches) -> Iterator[Diagnostic]:
    """Receivers that no route names, and their own `rules` and `severity`, which do not count with routes."""
    named = {name for branch in branches.all for name in branch.receivers}
    for receiver in job.receivers:
        place = ("receivers", receiver.name)
        if receiver.name not in named:
            yield Diagnostic(
                "CEP0732",
                "warning",
                f"no route leads to `{receiver.name}`, so that it gets no alert",
                job.places.key(place),
                help="name it in a route, or remove it",
            )
            continue
        for key in ("rules", "severity"):
            if (*place, key) in job.places.keys:
                yield Diagnostic(
                    "CEP0732",
                    "warning",
                    f"`{key}` of `{receiver.name}` changes nothing where there are [[routes]]",
                    job.places.key((*place, key)),
                    help="remove it, and say it by the matchers of a route",
                )
