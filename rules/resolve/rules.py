"""Rules: one body, its clauses, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from rules import syntax, typed
from rules.counting import as_pattern
from rules.diagnostics import Label
from rules.resolve.bounds import check_bounds, has_deadline
from rules.resolve.calls import count_asked
from rules.resolve.declared import Declared
from rules.resolve.expression import condition
from rules.resolve.keys import Names, resolve_key
from rules.resolve.outputs import resolve_episode, resolve_outputs, resolve_summary, resolve_suppress
from rules.resolve.patterns import Resolved, resolve_pattern
from rules.resolve.references import steps_are
from rules.resolve.scope import Scope, Windowed
from rules.resolve.secrets import with_secrets
from rules.resolve.sources import info_of
from rules.resolve.windows import check_room, resolve_limit, resolve_window
from rules.source import Span
from rules.suggest import did_you_mean

SEVERITIES = ("critical", "high", "medium", "low", "info")
_OTHER_LEVELS = {
    **dict.fromkeys(["severe", "fatal", "emergency", "urgent", "blocker"], "critical"),
    **dict.fromkeys(["error", "major"], "high"),
    **dict.fromkeys(["warning", "warn", "moderate", "normal"], "medium"),
    "minor": "low",
    **dict.fromkeys(["informational", "information", "notice", "debug"], "info"),
}
RUNS = 1000
"""Runs of one key, where a rule sets no limit."""
MOST_RUNS = 100_000
"""The greatest limit: an event may be shown to every run of its key (benchmarks/hot_keys.py)."""

Node = TypeVar("Node")
_BODIES = (syntax.On, syntax.Match, syntax.Over)
_OF_PATTERNS = (syntax.Within, syntax.Skip, syntax.OnTimeout, syntax.Limit)
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
                declared.findings.error("CEP0112", message, word, labels=labels, help_="remove one of them")

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
    rule = _resolved(node, declared)
    return None if rule is None else with_secrets(rule, declared)


def _resolved(node: syntax.Rule, declared: Declared) -> typed.Rule | None:
    findings = declared.findings
    clauses = _Clauses(node, declared)
    severity = _severity(clauses.get(syntax.Severity), declared)
    bodies = clauses.of(_BODIES)
    if not bodies:
        message = f"rule `{node.name.text}` has no body"
        help_ = "add `on STREAM[...]`, `match PATTERN` or `over STREAM[...] WINDOW`"
        findings.error("CEP0113", message, node.name.span, help_=help_)
        return None
    if len(bodies) > 1:
        labels = (Label(_word(bodies[0]), "one body"),)
        message = f"rule `{node.name.text}` has two bodies"
        findings.error("CEP0113", message, _word(bodies[1]), labels=labels, help_="make two rules of it")
        return None
    match bodies[0]:
        case syntax.On() as on:
            return _on_rule(node, on, severity, clauses, declared)
        case syntax.Match() as match:
            return _pattern_rule(node, match, severity, clauses, declared)
        case syntax.Over() as over:
            return _window_rule(node, over, severity, clauses, declared)
        case body:
            raise AssertionError(f"{type(body).__name__} is no body")


def _on_rule(
    node: syntax.Rule, body: syntax.On, severity: typed.Severity, clauses: _Clauses, declared: Declared
) -> typed.Rule | None:
    _check_clauses(clauses, _OF_PATTERNS, "a rule with `on` sees one event alone", declared)
    stream, having = body.source.stream.text, clauses.get(syntax.Having)
    asked = None if having is None else count_asked(having.condition)
    help_ = f"a rule with `on` sees one event: put its condition behind the stream, `{stream}[...]`"
    if asked is not None:
        help_ = f"several events are a pattern: {as_pattern(stream, asked[1])}"
    _check_clauses(clauses, (syntax.Having,), help_, declared)
    source = info_of(body.source, declared)
    scope = Scope(declared, f"rule `{node.name.text}`", candidate=source)
    tested = None if body.source.condition is None else condition(body.source.condition, scope)
    by, keys = _key(clauses, (source.name,), declared)
    emitted = clauses.get(syntax.Emit)
    outputs = () if emitted is None else resolve_outputs(emitted.outputs, scope)
    on = typed.On(source.name, tested, body.span)
    return _finish(node, on, severity, by, keys, outputs, clauses, declared)


def _key(clauses: _Clauses, streams: Sequence[str], declared: Declared) -> tuple[typed.By | None, Names]:
    """The key and the types of its names; None and no names without `by`."""
    node = clauses.get(syntax.By)
    return (None, {}) if node is None else resolve_key(node, streams, declared)


def _check_clauses(clauses: _Clauses, kinds: tuple[type, ...], help_: str, declared: Declared) -> None:
    """Report the clauses of those kinds, which the rule's body has no use for."""
    for misplaced in clauses.of(kinds):
        word = _word(misplaced)
        owner = "a pattern or a window" if isinstance(misplaced, syntax.Having) else "a pattern"
        message = f"`{' '.join(word.text.split())}` belongs to {owner}"
        declared.findings.error("CEP0414", message, word, help_=help_)


def _window_rule(
    node: syntax.Rule, body: syntax.Over, severity: typed.Severity, clauses: _Clauses, declared: Declared
) -> typed.Rule | None:
    findings = declared.findings
    help_ = "a window is evaluated as it stands, and says how long it is"
    _check_clauses(clauses, (syntax.Skip, syntax.OnTimeout), help_, declared)
    if isinstance(body.window, syntax.LastEvents):
        help_ = "that of last events stands right behind them: `last 100 events within 5 minutes`"
    _check_clauses(clauses, (syntax.Within,), help_, declared)
    source = info_of(body.source, declared)
    window = Windowed(source, resolve_window(body.window, findings))
    inside = Scope(declared, "the window's filter", candidate=source, window=window)
    tested = None if body.source.condition is None else condition(body.source.condition, inside)
    by, keys = _key(clauses, (source.name,), declared)
    having_clause, emitted = clauses.get(syntax.Having), clauses.get(syntax.Emit)
    having = None
    if having_clause is None:
        message = "a window has a condition: without one, every window would be an alert"
        help_ = "add `having`; `having count() > 0` takes every window"
        findings.error("CEP0422", message, _word(body), help_=help_)
    else:
        over_window = Scope(declared, "`having`", keys=keys, window=window)
        having = condition(having_clause.condition, over_window)
    output_scope = Scope(declared, "`emit`", keys=keys, window=window, in_output=True)
    outputs = () if emitted is None else resolve_outputs(emitted.outputs, output_scope)
    if having is None or window.shape is None:
        return None
    limit = resolve_limit(clauses.get(syntax.Limit), body.window, window.shape, findings)
    over = typed.Over(source.name, tested, window.shape, having, limit, body.span)
    check_room(over, body.window, (having, *outputs), findings)
    return _finish(node, over, severity, by, keys, outputs, clauses, declared)


def _pattern_rule(
    node: syntax.Rule, body: syntax.Match, severity: typed.Severity, clauses: _Clauses, declared: Declared
) -> typed.Rule | None:
    findings = declared.findings
    resolved = resolve_pattern(body.pattern, node.name.text, declared)
    within = clauses.get(syntax.Within)
    check_bounds(resolved.pattern, within, findings)
    by, keys = _key(clauses, resolved.streams, declared)
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
        findings.error("CEP0413", message, _word(timed_out), help_="add `within d`, or remove `on timeout`")
    match = typed.Match(
        resolved.pattern,
        resolved.streams,
        bound,
        having,
        _skip(clauses.get(syntax.Skip), resolved, declared),
        timeouts,
        _limit(clauses.get(syntax.Limit), declared),
        clauses.get(syntax.Limit) is not None,
        body.span,
    )
    return _finish(node, match, severity, by, keys, outputs, clauses, declared)


def _skip(node: syntax.Skip | None, resolved: Resolved, declared: Declared) -> typed.Skip:
    if node is None:
        return typed.Skip("none" if _exhaustive(resolved.pattern) else "past last")
    if node.step is not None and node.step.text not in resolved.steps:
        help_ = did_you_mean(node.step.text, resolved.steps) or steps_are(resolved.steps)
        message = f"`skip` names an unknown step `{node.step.text}`"
        declared.findings.error("CEP0203", message, node.step.span, help_=help_)
    return typed.Skip(node.to, None if node.step is None else node.step.text)


def _exhaustive(pattern: typed.Sequence) -> bool:
    """True if the pattern uses `~>`, `each` or `any` (which implies `each`)."""
    for part in typed.walk(pattern):
        if isinstance(part, typed.Quantifier) and part.mode == _EXHAUSTIVE:
            return True
        if isinstance(part, typed.Sequence) and any(sign == "~>" for sign, _ in part.elements):
            return True
    return False


def _limit(node: syntax.Limit | None, declared: Declared) -> int:
    if node is None:
        return RUNS
    if node.of == "events":
        message, help_ = "a pattern keeps runs, not events", f"write `limit {node.number.value} runs`"
        declared.findings.error("CEP0427", message, node.span, help_=help_)
    if node.number.value == 0:
        declared.findings.error(
            "CEP0402",
            "with a limit of 0 runs there is no match",
            node.number.span,
            help_="allow one run or more: `limit 100 runs`",
        )
    if node.number.value > MOST_RUNS:
        declared.findings.error(
            "CEP0425",
            f"a key may have {MOST_RUNS:,} runs at most",
            node.number.span,
            help_=f"an event may have to be shown to each of them: write `limit {MOST_RUNS} runs` or less, "
            "end runs sooner with `within`, or give the rule a finer `by`",
        )
    return int(node.number.value)


def _finish(
    node: syntax.Rule,
    body: typed.On | typed.Match | typed.Over,
    severity: typed.Severity,
    by: typed.By | None,
    keys: Names,
    outputs: tuple[typed.Emit, ...],
    clauses: _Clauses,
    declared: Declared,
) -> typed.Rule:
    findings = declared.findings
    names = _emitted_names(clauses)
    timeouts = body.on_timeout or () if isinstance(body, typed.Match) else ()
    types = {o.name: o.value.type for o in (*timeouts, *outputs)}
    declared.outputs[node.name.text] = {name: types.get(name) for name in names}
    declared.keys[node.name.text] = keys
    summary, suppress = clauses.get(syntax.Summary), clauses.get(syntax.Suppress)
    into, episode = clauses.get(syntax.Into), clauses.get(syntax.Episode)
    tags, runbook = clauses.get(syntax.Tags), clauses.get(syntax.Runbook)
    return typed.Rule(
        node.name.text,
        body,
        by,
        outputs,
        severity,
        None if summary is None else resolve_summary(summary.template, names, findings),
        () if tags is None else tuple(t.value for t in tags.tags),
        None if runbook is None else runbook.url.value,
        None if suppress is None else resolve_suppress(suppress, (*names, *keys), findings),
        node.span,
        into=None if into is None else into.stream.text,
        episode=None if episode is None else resolve_episode(episode, findings),
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
        other = _OTHER_LEVELS.get(level.lower())
        help_ = f"did you mean `{other}`?" if other else did_you_mean(level, SEVERITIES)
        help_ = help_ or f"severities are {', '.join(SEVERITIES)}"
        declared.findings.error("CEP0228", f"unknown severity `{level}`", node.level.span, help_=help_)
        return "medium"
    return cast(typed.Severity, level)
