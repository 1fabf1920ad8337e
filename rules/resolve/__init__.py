"""Name and type resolution: the syntax trees of a pack's files -> one typed pack.

Declarations first (streams, constants), then rules, then tests. Every pass reports what it finds and
goes on; what only follows from a finding is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo
from rules.resolve.findings import Findings
from rules.resolve.headers import resolve_header
from rules.resolve.lets import declare_lets
from rules.resolve.lost import drop_what_follows
from rules.resolve.rules import resolve_rule
from rules.resolve.streams import declare_stream
from rules.resolve.timelines import resolve_test
from rules.source import Span

Named = syntax.Stream | syntax.Let | syntax.Table | syntax.Queries | syntax.Rule | syntax.Broken


def resolve(files: Sequence[syntax.File], findings: Findings) -> tuple[typed.Pack, Declared]:
    """The typed pack, without revision, and what it declares. Worth something only without findings."""
    declared = Declared(findings)
    header = resolve_header(files, findings)
    nodes = list(_first_of_each(files, findings))
    lets: list[syntax.Let] = []
    for node in nodes:
        match node:
            case syntax.Stream():
                _declare_stream(node, declared)
            case syntax.Let():
                lets.append(node)
            case syntax.Table():
                word = Span(node.span.file, node.span.start, node.span.start + len("table"))
                if not node.broken:
                    findings.error("CEP0151", "tables are not supported yet", word)
                declared.tables.add(node.name.text)
            case syntax.Queries():
                word = Span(node.span.file, node.span.start, node.span.start + len("queries"))
                findings.error("CEP0152", "standing queries are not supported yet", word)
            case syntax.Broken():
                _declare_broken(node, declared)
            case syntax.Rule():
                _declare_derived(node, declared)
    declare_lets(lets, declared)
    for node in nodes:
        if isinstance(node, syntax.Rule):
            declared.rules[node.name.text] = _rule(node, declared)
    tests = [_test(b, declared) for f in files for b in f.blocks if isinstance(b, syntax.TestBlock)]
    streams = tuple(s.stream for s in declared.streams.values() if s.stream is not None)
    rules = tuple(r for r in declared.rules.values() if r is not None)
    _check_not_empty(files, findings)
    kept = tuple(t for t in tests if t is not None)
    return typed.Pack(header[0], header[1], streams, rules, kept, ""), declared


def _first_of_each(files: Sequence[syntax.File], findings: Findings) -> Iterator[Named]:
    """All named blocks; a second one of the same kind and name is reported and left out."""
    seen: dict[tuple[str, str], syntax.Name] = {}
    for file in files:
        for block in file.blocks:
            if not isinstance(block, Named) or block.name is None:
                continue
            kind = _kind(block)
            key = (kind, block.name.text)
            if kind == "test":
                continue
            if key in seen:
                labels = (Label(seen[key].span, "first declared here"),)
                message = f"{kind} `{block.name.text}` is declared twice"
                findings.error("CEP0206", message, block.name.span, labels=labels)
                continue
            seen[key] = block.name
            yield block


def _kind(block: Named) -> str:
    match block:
        case syntax.Stream():
            return "stream"
        case syntax.Let():
            return "constant"
        case syntax.Rule():
            return "rule"
        case syntax.Table():
            return "table"
        case syntax.Queries():
            return "queries"
        case syntax.Broken():
            return "constant" if block.keyword == "let" else block.keyword


def _declare_stream(node: syntax.Stream, declared: Declared) -> None:
    since = len(declared.findings.diagnostics)
    declare_stream(node, declared)
    if node.broken:
        drop_what_follows(declared.findings, since, node)
        name = node.name.text
        declared.streams[name] = replace(declared.streams[name], known=False)


def _rule(node: syntax.Rule, declared: Declared) -> typed.Rule | None:
    since = len(declared.findings.diagnostics)
    rule = resolve_rule(node, declared)
    drop_what_follows(declared.findings, since, node)
    return None if node.broken else rule


def _test(node: syntax.TestBlock, declared: Declared) -> typed.Test | None:
    since = len(declared.findings.diagnostics)
    test = resolve_test(node, declared)
    drop_what_follows(declared.findings, since, node)
    return None if node.broken else test


def _declare_broken(node: syntax.Broken, declared: Declared) -> None:
    """A block that could not be read still has its name."""
    if node.name is None:
        return
    name = node.name.text
    match node.keyword:
        case "stream":
            declared.streams[name] = StreamInfo(name, {}, False, None)
        case "let":
            declared.constants[name] = None
        case "rule":
            declared.rules[name] = None
        case "table":
            declared.tables.add(name)


def _declare_derived(node: syntax.Rule, declared: Declared) -> None:
    """`into s` makes a stream: not supported yet, but known to those who read it."""
    for clause in node.clauses:
        if isinstance(clause, syntax.Into):
            name = clause.stream.text
            declared.streams.setdefault(name, StreamInfo(name, {}, False, None))


def _check_not_empty(files: Sequence[syntax.File], findings: Findings) -> None:
    blocks = [b for f in files for b in f.blocks]
    header = next((b for b in blocks if isinstance(b, syntax.Header)), None)
    if (
        header is not None
        and not findings.diagnostics
        and not any(isinstance(b, syntax.Rule) for b in blocks)
    ):
        findings.error("CEP0503", "the pack has no rule", header.span)
