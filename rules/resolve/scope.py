"""The names that an expression may use at the place where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rules import typed
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.findings import Findings
from rules.types import Type


@dataclass(frozen=True, slots=True)
class Bound:
    """A step that is bound. `repeated`: it may have taken several events as seen from here."""

    name: str
    source: StreamInfo
    repeated: bool


@dataclass(frozen=True, slots=True)
class Windowed:
    """The window of a rule, None where it has its finding, and the stream whose events it holds."""

    source: StreamInfo
    shape: typed.Window | None


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one condition or output.

    `subject` begins messages ("step `big`"). `candidate` is the event that bare names mean; without
    one they mean the fields of `keys`. `own` is the step whose condition this is: visible only as
    the loop so far. `all_steps` are the pattern's, to know "not yet" from "nowhere". `window` is the
    rule's; the filter of its events has a candidate, too, and so has the argument of an aggregate, `inside`.
    """

    declared: Declared
    subject: str
    candidate: StreamInfo | None = None
    steps: Mapping[str, Bound] = field(default_factory=dict)
    all_steps: frozenset[str] = frozenset()
    own: str | None = None
    keys: Mapping[str, Type | None] | None = None
    in_pattern: bool = False
    in_output: bool = False
    window: Windowed | None = None
    inside: str | None = None

    @property
    def findings(self) -> Findings:
        """Where to report."""
        return self.declared.findings
