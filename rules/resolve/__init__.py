"""Name and type resolution: the syntax trees of a pack's files -> one typed pack.

Declarations first (streams, tables, queries, constants), then rules, those that make streams before
those that read them, then tests. Every pass reports what it finds and goes on; what only follows from a
finding is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rules import syntax, typed
from rules.diagnostics import Label
from rules.resolve.declared import Declared, StreamInfo, TableInfo
from rules.resolve.derived import declare_derived, declare_lost, rules_in_order
from rules.resolve.findings import Findings
from rules.resolve.headers import resolve_header
from rules.resolve.hits import declare_queries
from rules.resolve.lets import declare_lets
from rules.resolve.lost import drop_what_follows, drop_what_names_would_explain
from rules.resolve.rules import resolve_rule
from rules.resolve.streams import declare_stream
from rules.resolve.tables import declare_table
from rules.resolve.timelines import resolve_test

Named = syntax.Stream | syntax.Let | syntax.Table | syntax.Queries | syntax.Rule | syntax.Broken


def resolve(files: Sequence[syntax.File], findings: Findings) -> tuple[typed.Pack, Declared]:
    """The typed pack, without revision, and what it declares. Worth something only without findings."""
    declared = Declared(findings)
    header = resolve_header(files, findings)
    again: set[tuple[str, str]] = set()
    nodes = list(_first_of_each(files, findings, again))
    lets: list[syntax.Let] = []
    rules: list[syntax.Rule] = []
    for node in nodes:
        match node:
            case syntax.Stream():
                _declare_stream(node, declared)
            case syntax.Table():
                _declare_table(node, declared)
            case syntax.Queries():
                declare_queries(node, declared)
            case syntax.Let():
                lets.append(node)
            case syntax.Rule():
                rules.append(node)
            case syntax.Broken():
                _declare_broken(node, declared)
    declare_lets(lets, declared)
    _forget(again, declared)
    _resolve_rules(rules, declared)
    declared.rules.update({name: None for kind, name in again if kind == "rule"})
    tests = [_test(b, declared) for f in files for b in f.blocks if isinstance(b, syntax.TestBlock)]
    drop_what_names_would_explain(findings, files, again)
    _check_not_empty(files, findings)
    pack = typed.Pack(
        header[0],
        header[1],
        tuple(s.stream for s in declared.streams.values() if s.stream is not None),
        tuple(r for r in declared.rules.values() if r is not None),
        tuple(t for t in tests if t is not None),
        "",
        tables=tuple(t.table for t in declared.tables.values() if t.table is not None),
        queries=tuple(q for q in declared.queries.values() if q is not None),
    )
    return pack, declared


def _resolve_rules(nodes: Sequence[syntax.Rule], declared: Declared) -> None:
    """Resolve each rule after those whose streams it reads; they stay declared in the order of the text."""
    found: dict[str, typed.Rule | None] = {}
    for node in rules_in_order(nodes, declared):
        rule = found[node.name.text] = _rule(node, declared)
        declare_derived(node, rule, declared)
    for node in nodes:
        declared.rules[node.name.text] = found[node.name.text]


def _first_of_each(
    files: Sequence[syntax.File], findings: Findings, again: set[tuple[str, str]]
) -> Iterator[Named]:
    """All named blocks; a second one of a kind and name is reported, left out, and added to `again`."""
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
                findings.error(
                    "CEP0206", message, block.name.span, labels=labels, help_="rename or remove one of them"
                )
                again.add(key)
                continue
            seen[key] = block.name
            yield block


def _forget(again: set[tuple[str, str]], declared: Declared) -> None:
    """Forget what is known of names declared twice: either could be meant, so findings would be guesses."""
    for kind, name in again:
        match kind:
            case "stream" if name in declared.streams:
                stream = declared.streams[name]
                declared.streams[name] = replace(stream, known=False, fields=dict.fromkeys(stream.fields))
            case "table" if name in declared.tables:
                table = declared.tables[name]
                unknown = dict.fromkeys(table.fields)
                declared.tables[name] = replace(table, known=False, key=None, fields=unknown)
            case "constant":
                declared.constants[name] = None


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


def _declare_table(node: syntax.Table, declared: Declared) -> None:
    since = len(declared.findings.diagnostics)
    declare_table(node, declared)
    if node.broken:
        drop_what_follows(declared.findings, since, node)
        name = node.name.text
        declared.tables[name] = replace(declared.tables[name], known=False)


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
            declare_lost(node, declared)
        case "table":
            declared.tables[name] = TableInfo(name, {}, None, False, None)
        case "queries":
            declared.queries[name] = None


def _check_not_empty(files: Sequence[syntax.File], findings: Findings) -> None:
    blocks = [b for f in files for b in f.blocks]
    header = next((b for b in blocks if isinstance(b, syntax.Header)), None)
    if (
        header is not None
        and not findings.diagnostics
        and not any(isinstance(b, syntax.Rule) for b in blocks)
    ):
        findings.error(
            "CEP0503",
            "the pack has no rule",
            header.span,
            help_="add a rule, or name the folder that holds all files of the pack",
        )
