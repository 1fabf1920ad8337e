"""Lints: what is right by the language and still looks wrong. One file each, registered here.

A comment `# allow CEP0301: reason` on the line above a finding silences it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rules.checks import constant_condition, idle_gap, no_id, one_shard, unused
from rules.checks.allow import sort_out
from rules.checks.subject import Subject
from rules.diagnostics import Allowed, Diagnostic
from rules.resolve.declared import Declared
from rules.syntax import File
from rules.typed import Pack

CHECKS: tuple[Callable[[Subject], Iterator[Diagnostic]], ...] = (
    one_shard.check,
    no_id.check,
    unused.check,
    idle_gap.check,
    constant_condition.check,
)


def check(pack: Pack, files: Sequence[File], declared: Declared) -> tuple[list[Diagnostic], list[Allowed]]:
    """What the lints find in a pack without errors, and apart from it what its comments allow."""
    subject = Subject.of(pack, files, declared)
    return sort_out((finding for lint in CHECKS for finding in lint(subject)), files)
