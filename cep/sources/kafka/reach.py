"""Brokers and topics of a feed as they are when a job is to start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cep.errors import JobError
from cep.sources.kafka.brokers import Brokers
from cep.sources.kafka.cluster import Cluster, Topics
from cep.sources.source import Options
from rules.diagnostics import Diagnostic
from rules.suggest import did_you_mean


def check(cluster: Cluster, topics: Topics, options: Options) -> Iterator[Diagnostic]:
    """Brokers that do not answer, and topics that are not there."""
    try:
        there = Brokers.of(cluster).topics()
    except JobError as error:
        place = options.span("servers" if error.code == "CEP0810" else "options")
        yield Diagnostic(error.code, "error", error.message, place, help=error.help)
        return
    if topics.pattern:
        if not any(re.fullmatch(topics.pattern, name) for name in there):
            said = f"no topic fits `{topics.pattern}` yet"
            help_ = "nothing is read until there is one; the pattern has to match a whole name"
            yield Diagnostic("CEP0811", "warning", said, options.span("pattern"), help=help_)
        return
    for name in topics.names:
        if name not in there:
            place = options.span("topic") if len(topics.names) == 1 else options.span("topics")
            help_ = did_you_mean(name, there) or "make it, or correct its name"
            said = f"there is no topic `{name}` at {cluster.servers}"
            yield Diagnostic("CEP0811", "error", said, place, help=help_)
