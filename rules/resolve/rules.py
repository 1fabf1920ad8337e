"""Rules: one body, its clauses, and what they say together."""

from __future__ import annotations

from typing import TypeVar, cast

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.bounds import check_bounds, has_deadline
from rules.resolve.declared import Declared
from rules.resolve.expression import condition
from rules.resolve.keys import resolve_key
from rules.resolve.outputs import resolve_outputs, resolve_summary, resolve_suppress
from rules.resolve.patterns import Resolved, resolve_pattern
from rules.resolve.scope import Scope
from rules.resolve.sources import info_of
from rules.source import Span
from rules.suggest import did_you_mean
from rules.types import Type

SEVERITIES = ("critical", "high", "medium", "low", "info")
RUNS = 1000
"""Runs of one key, where a rule sets no limit."""

Node = TypeVar("Node")
_BODIES = (syntax.On, syntax.Match, syntax.Over)
_OF_PATTERNS = (syntax.Within, syntax.Having, syntax.Skip, syntax.OnTimeout, syntax.Limit)
_EXHAUSTIVE = "each"


class _Clauses:
    """The clauses of one rule by kind; the first of each where one is repeated."""

    def __init__(self, node: syntax.Rule, declared: Declared) -> None:
        self._found: dict[type, syntax.Clause] = {}
        for clause in node.clauses:
            first = self._found.setdefault(type(clause), clause)
            if first is not clause:
                word = _word(clause)
                labels = (Label(_word(first), "first given here"),)
                message = f"`{word.text}` is given twice"
                declared.findings.error("CEP0112", message, word, labels=labels)

    def get(self, kind: type[Node]) -> Node | None:
        """The clause of that kind."""
        return cast(Node | None, self._found.get(kind))

    def of(self, kinds: tuple[type, ...]) -> list[syntax.Clause]:
        """The clauses of those kinds, in the order written."""
        return [c for c in self._found.values() if isinstance(c, kinds)]


def _word(clause: syntax.Clause) -> Span:
    """The keyword that a clause begins with; both words of `on timeout`."""
    if isinstance(clause, syntax.OnTimeout):
        end = clause.span.text.index("timeout") + len("timeout")
        return Span(clause.span.file, clause.span.start, clause.span.start + end)
    written = clause.span.text
    length = next((i for i, char in enumerate(written) if not char.isalpha()), len(written))
    return Span(clause.span.file, clause.span.start, clause.span.start + length)


def resolve_rule(node: syntax.Rule, declared: Declared) -> typed.Rule | None:
    """The typed rule, without its structure; None where it could not be resolved."""
    findings = declared.findings
    clauses = _Clauses(node, declared)
    bodies = clauses.of(_BODIES)
    into = clauses.get(syntax.Into)
    if into is not None:
        findings.error("CEP0154", "`into` is not supported yet", _word(into))
    if not bodies:
        message = f"rule `{node.name.text}` has no body"
        help_ = "add `on STREAM[...]` or `match PATTERN`"
        findings.error("CEP0113", message, node.name.span, help_=help_)
        return None
    if len(bodies) > 1:
        labels = (Label(_word(bodies[0]), "one body"),)
        message = f"rule `{node.name.text}` has two bodies"
        findings.error("CEP0113", message, _word(bodies[1]), labels=labels, help_="make two rules of it")
        return None
    match bodies[0]:
        case syntax.On() as on:
            return _on_rule(node, on, clauses, declared)
        case syntax.Match() as match:
            return _pattern_rule(node, match, clauses, declared)
        case body:
            findings.error("CEP0150", "windows are not supported yet", _word(body))
            return None


def _on_rule(node: syntax.Rule, body: syntax.On, clauses: _Clauses, declared: Declared) -> typed.Rule | None:
    for misplaced in clauses.of(_OF_PATTERNS):
        word = _word(misplaced)
        message = f"`{' '.join(word.text.split())}` belongs to a pattern"
        help_ = "a rule with `on` judges one event alone"
        declared.findings.error("CEP0414", message, word, help_=help_)
    source = info_of(body.source, declared)
    scope = Scope(declared, f"rule `{node.name.text}`", candidate=source)
    tested = None if body.source.condition is None else condition(body.source.condition, scope)
    by_clause = clauses.get(syntax.By)
    by = None
    keys: dict[str, Type | None] = {}
    if by_clause is not None:
        by, keys = resolve_key(by_clause, (source.name,), declared)
    emitted = clauses.get(syntax.Emit)
    outputs = () if emitted is None else resolve_outputs(emitted.outputs, scope)
    on = typed.On(source.name, tested, body.span)
    return _finish(node, on, by, keys, outputs, clauses, declared)


def _pattern_rule(
    node: syntax.Rule, body: syntax.Match, clauses: _Clauses, declared: Declared
) -> typed.Rule | None:
    findings = declared.findings
    resolved = resolve_pattern(body.pattern, node.name.text, declared)
    within = clauses.get(syntax.Within)
    check_bounds(resolved.pattern, within, findings)
    by_clause = clauses.get(syntax.By)
    by = None
    keys: dict[str, Type | None] = {}
    if by_clause is not None:
        by, keys = resolve_key(by_clause, resolved.streams, declared)
    steps = frozenset(resolved.steps)
    after = Scope(declared, "`having`", steps=resolved.steps, all_steps=steps, in_pattern=True)
    having_clause = clauses.get(syntax.Having)
    having = None if having_clause is None else condition(having_clause.condition, after)
    output_scope = Scope(
        declared, "`emit`", steps=resolved.steps, all_steps=steps, keys=keys, in_pattern=True, in_output=True
    )
    emitted, timed_out = clauses.get(syntax.Emit), clauses.get(syntax.OnTimeout)
    outputs = () if emitted is None else resolve_outputs(emitted.outputs, output_scope)
    timeouts = None if timed_out is None else resolve_outputs(timed_out.outputs, output_scope)
    bound = within.duration.value if within is not None and within.duration is not None else None
    if timed_out is not None and not has_deadline(resolved.pattern, bound):
        message = "no run of this rule times out: it has neither `within` nor a `gap`"
        findings.error("CEP0413", message, _word(timed_out))
    match = typed.Match(
        resolved.pattern,
        resolved.streams,
        bound,
        having,
        _skip(clauses.get(syntax.Skip), resolved, declared),
        timeouts,
        _limit(clauses.get(syntax.Limit), declared),
        body.span,
    )
    return _finish(node, match, by, keys, outputs, clauses, declared)


def _skip(node: syntax.Skip | None, resolved: Resolved, declared: Declared) -> typed.Skip:
    if node is None:
        return typed.Skip("none" if _exhaustive(resolved.pattern) else "past last")
    if node.step is not None and node.step.text not in resolved.steps:
        help_ = did_you_mean(node.step.text, resolved.steps)
        message = f"`skip` names an unknown step `{node.step.text}`"
        declared.findings.error("CEP0203", message, node.step.span, help_=help_)
    return typed.Skip(node.to, None if node.step is None else node.step.text)


def _exhaustive(pattern: typed.Sequence) -> bool:
    """Whether the pattern uses `~>`, `each` or `any` (which implies `each`)."""
    for part in typed.walk(pattern):
        if isinstance(part, typed.Quantifier) and part.mode == _EXHAUSTIVE:
            return True
        if isinstance(part, typed.Sequence) and any(sign == "~>" for sign, _ in part.elements):
            return True
    return False


def _limit(node: syntax.Limit | None, declared: Declared) -> int:
    if node is None:
        return RUNS
    if node.runs.value == 0:
        declared.findings.error("CEP0402", "with a limit of 0 runs there is no match", node.runs.span)
    return int(node.runs.value)


def _finish(
    node: syntax.Rule,
    body: typed.On | typed.Match,
    by: typed.By | None,
    keys: dict[str, Type | None],
    outputs: tuple[typed.Emit, ...],
    clauses: _Clauses,
    declared: Declared,
) -> typed.Rule:
    findings = declared.findings
    names = _emitted_names(clauses)
    timeouts = () if isinstance(body, typed.On) else body.on_timeout or ()
    types = {o.name: o.value.type for o in (*timeouts, *outputs)}
    declared.outputs[node.name.text] = {name: types.get(name) for name in names}
    declared.keys[node.name.text] = keys
    summary, suppress = clauses.get(syntax.Summary), clauses.get(syntax.Suppress)
    tags, runbook = clauses.get(syntax.Tags), clauses.get(syntax.Runbook)
    return typed.Rule(
        node.name.text,
        body,
        by,
        outputs,
        _severity(clauses.get(syntax.Severity), declared),
        None if summary is None else resolve_summary(summary.template, names, findings),
        () if tags is None else tuple(t.value for t in tags.tags),
        None if runbook is None else runbook.url.value,
        None if suppress is None else resolve_suppress(suppress, (*names, *keys), findings),
        node.span,
    )


def _emitted_names(clauses: _Clauses) -> tuple[str, ...]:
    """All names that some alert of the rule carries, those with a finding included."""
    emit, timeout = clauses.get(syntax.Emit), clauses.get(syntax.OnTimeout)
    nodes = (*(emit.outputs if emit else ()), *(timeout.outputs if timeout else ()))
    return tuple(dict.fromkeys(n.name.text for n in nodes))


def _severity(node: syntax.Severity | None, declared: Declared) -> typed.Severity:
    if node is None:
        return "medium"
    level = node.level.text
    if level not in SEVERITIES:
        help_ = did_you_mean(level, SEVERITIES) or f"severities are {', '.join(SEVERITIES)}"
        declared.findings.error("CEP0228", f"unknown severity `{level}`", node.level.span, help_=help_)
        return "medium"
    return cast(typed.Severity, level)
