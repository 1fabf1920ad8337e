"""A cluster and topics as a feed names them."""

from __future__ import annotations

from dataclasses import dataclass

from cep.sources.kafka.options import Options


@dataclass(frozen=True, slots=True)
class Cluster:
    """The servers of a cluster, `host:port,...`, and the options of a consumer."""

    servers: str
    options: Options = ()


@dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a feed: those that are named, or all whose whole names a pattern matches."""

    names: tuple[str, ...]
    pattern: str = ""

    def subscribed(self) -> tuple[str, str]:
        """The option of Spark's connector, and its value."""
        return ("subscribePattern", self.pattern) if self.pattern else ("subscribe", ",".join(self.names))
