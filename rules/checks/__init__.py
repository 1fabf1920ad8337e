"""Lints: what is right by the language and still looks wrong. One file each, registered here.

A comment `# allow CEP0301: reason` on the line above a finding silences it there; those of REQUIRED are
off unless a comment of the pack says `# require CEP0312: reason`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rules.checks import (
    constant_condition,
    costly_query,
    dead_branch,
    dense_start,
    endless_events,
    endless_runs,
    idle_gap,
    idle_part,
    like_wildcards,
    lookalike_name,
    lookalike_operator,
    loop_start,
    no_id,
    no_severity,
    no_test,
    null_test,
    one_shard,
    optional_beside_not,
    plain_summary,
    repeated_name,
    repeated_rule,
    unused,
    unused_step_name,
)
from rules.checks.allow import required, sort_out
from rules.checks.subject import Subject
from rules.diagnostics import Allowed, Diagnostic
from rules.resolve.declared import Declared
from rules.syntax import File
from rules.typed import Pack

Check = Callable[[Subject], Iterator[Diagnostic]]

CHECKS: tuple[Check, ...] = (
    one_shard.check,
    no_id.check,
    unused.check,
    idle_gap.check,
    constant_condition.check,
    loop_start.check,
    idle_part.check,
    null_test.check,
    like_wildcards.check,
    dead_branch.check,
    endless_runs.check,
    endless_events.check,
    repeated_rule.check,
    optional_beside_not.check,
    plain_summary.check,
    repeated_name.check,
    costly_query.check,
    lookalike_operator.check,
    lookalike_name.check,
    dense_start.check,
)
REQUIRED: Mapping[str, Check] = MappingProxyType(
    {
        "CEP0312": no_severity.check,
        "CEP0313": no_test.check,
        "CEP0314": unused_step_name.check,
    }
)
"""What only packs that ask for it are held to."""


def check(pack: Pack, files: Sequence[File], declared: Declared) -> tuple[list[Diagnostic], list[Allowed]]:
    """Findings of the lints in a pack without errors, and apart from them those that its comments allow."""
    subject = Subject.of(pack, files, declared)
    wanted = required(files)
    lints = (*CHECKS, *(lint for code, lint in REQUIRED.items() if code in wanted))
    return sort_out((finding for lint in lints for finding in lint(subject)), files, REQUIRED)
