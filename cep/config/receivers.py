"""The receivers of a job file against the rules of its packs: what they name, and would never get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from alerts.alert import SEVERITIES
from cep.config.job import Job, Receiver
from rules.diagnostics import Diagnostic, in_order
from rules.suggest import meant
from rules.typed import Pack


def check_receivers(job: Job, packs: Sequence[Pack]) -> list[Diagnostic]:
    """Warnings about receivers that get less than they name, in order of place.

    They are no errors: a pack that is deployed later may bring what is named. With [[routes]] it is not the
    receivers that choose.
    """
    if job.branches is not None:
        return []
    severities: dict[str, set[str]] = {}
    for pack in packs:
        for rule in pack.rules:
            severities.setdefault(rule.name, set()).add(rule.severity)
    return in_order(
        [
            found
            for receiver in job.receivers
            for part in (_unknown(job, receiver, severities), _never_so_severe(job, receiver, severities))
            for found in part
        ]
    )


def _unknown(job: Job, receiver: Receiver, severities: Mapping[str, set[str]]) -> Iterator[Diagnostic]:
    for number, name in enumerate(receiver.rules or ()):
        if name not in severities:
            yield Diagnostic(
                "CEP0714",
                "warning",
                f"no pack has a rule `{name}`, so that `{receiver.name}` gets no alert of it",
                job.places.value(("receivers", receiver.name, "rules", number)),
                help=meant(name, severities, "rules"),
            )


def _never_so_severe(
    job: Job, receiver: Receiver, severities: Mapping[str, set[str]]
) -> Iterator[Diagnostic]:
    taken = set(receiver.route.severities)
    wanted = [name for name in receiver.rules or severities if name in severities]
    below = [name for name in wanted if not severities[name] & taken]
    place = ("receivers", receiver.name)
    if wanted and len(below) == len(wanted):
        most = min((s for name in wanted for s in severities[name]), key=SEVERITIES.index)
        first = next(name for name in wanted if most in severities[name])
        yield Diagnostic(
            "CEP0718",
            "warning",
            f"`{receiver.name}` gets no alert: no rule that it takes is as severe as `{receiver.severity}`",
            job.places.value((*place, "severity")),
            help=f"write `{most}`, which rule `{first}` has, or give the rules another severity",
        )
        return
    for number, name in enumerate(receiver.rules or ()):
        if name in below:
            most = min(severities[name], key=SEVERITIES.index)
            yield Diagnostic(
                "CEP0718",
                "warning",
                f"`{receiver.name}` gets no alert of rule `{name}`, which has severity `{most}`: "
                f"it takes `{receiver.severity}` and what is worse",
                job.places.value((*place, "rules", number)),
                help=f'write severity = "{most}", or leave the rule out',
            )
