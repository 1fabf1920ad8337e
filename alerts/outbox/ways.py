"""The words for the ways that led alerts to receivers, by number: job.toml may have other routes by now."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, insert, select

from alerts.outbox.schema import ways
from alerts.routing import Branches


def ways_told(connection: Connection, branches: Branches) -> Mapping[int, int]:
    """The number of the words for each branch, by the branch's own number from 1; new ones are written."""
    known = {said: number for number, said in connection.execute(select(ways))}
    found: dict[int, int] = {}
    for number, branch in enumerate(branches.all, 1):
        said = f"route {number} of job.toml: {branch.matchers}"
        if said not in known:
            known[said] = max(known.values(), default=0) + 1
            connection.execute(insert(ways), {"number": known[said], "said": said})
        found[number] = known[said]
    return found
