"""Tests of texts: `like`, `=~`, `matches`, whose patterns are constants that are checked here."""

from __future__ import annotations

from rules import syntax, typed
from rules.grammar.lexical import offset_in
from rules.resolve.scope import Scope
from rules.source import Span
from rules.text_schema import text_schema
from rules.types import STRINGS, Scalar, kind_of

Typed = typed.Expression | None


def like(operand: Typed, pattern: Typed, node: syntax.Predicate, scope: Scope) -> Typed:
    """SQL `like`."""
    text = _constant(operand, pattern, node, scope)
    if operand is None or text is None:
        return None
    backslashes = len(text) - len(text.rstrip("\\"))
    if backslashes % 2:
        message = "the pattern of `like` ends with a `\\` that escapes nothing"
        scope.findings.error("CEP0215", message, node.argument.span, help_="a backslash itself is `\\\\`")
        return None
    return typed.Like(operand, text, node.negated, node.span)


def search(operand: Typed, pattern: Typed, node: syntax.Predicate, scope: Scope) -> Typed:
    """`=~`, an unanchored search in RE2 syntax."""
    text = _constant(operand, pattern, node, scope)
    if operand is None or text is None:
        return None
    from rules.regex import problem_in  # only where a pack searches by regular expression

    problem = problem_in(text)
    if problem is not None:
        message, index = problem
        span = _inside(node.argument, index)
        scope.findings.error(
            "CEP0215",
            f"this regular expression cannot be read: {message}",
            span,
            help_="mend it at this place; `cep explain CEP0215` says what expressions hold",
        )
        return None
    return typed.Search(operand, text, node.span)


def text_match(operand: Typed, node: syntax.Predicate, scope: Scope) -> Typed:
    """`field matches "query"`: the query is read by the percolator's own parser."""
    query = node.argument
    if not isinstance(query, syntax.String):
        message = "`matches` needs a query in quotes"
        help_ = 'write the query here: `matches "..."`'
        scope.findings.error("CEP0214", message, query.span, help_=help_)
        return None
    accepted = _accepts(query, operand, scope)
    if operand is None:
        return None
    if not isinstance(operand, typed.FieldRef):
        message = "`matches` searches a field of the candidate"
        scope.findings.error(
            "CEP0216", message, node.operand.span, help_="name a field of type text before `matches`"
        )
        return None
    if len(operand.path) > 1:
        message = "`matches` searches a field of the event itself, not one of a record"
        scope.findings.error(
            "CEP0216",
            message,
            node.operand.span,
            help_="declare a field of the stream as `text`, and let the feed deliver it",
        )
        return None
    if operand.type is not Scalar.TEXT:
        message = f"`matches` searches fields of type text, but this is {kind_of(operand.type)}"
        name = node.operand.span.text
        stream = scope.candidate.name if scope.candidate else ""
        help_ = f"declare it as `{name}: text` in stream `{stream}`"
        if operand.type is Scalar.STRING:
            help_ += f", or search it for a regular expression: `{name} =~ {query.span.text}`"
        scope.findings.error("CEP0216", message, node.operand.span, help_=help_)
        return None
    return typed.TextMatch(operand.path, query.value, query.span, node.span) if accepted else None


def _accepts(query: syntax.String, operand: Typed, scope: Scope) -> bool:
    from percolator.query.errors import Code, QueryError  # only where a pack searches texts

    try:
        _read(query.value, operand, scope)
    except QueryError as problem:
        code, message = "CEP0217", f"this query cannot be read: {problem.message}"
        help_ = f"`cep explain {problem.code}` says what to do"
        if problem.code is Code.UNKNOWN_FIELD:
            help_ = "a query searches fields of type text; join tests of other fields to it by `and`"
        span = query.span if problem.position is None else _inside(query, problem.position)
        scope.findings.error(code, message, span, note=str(problem.code), help_=help_)
        return False
    return True


def _read(query: str, operand: Typed, scope: Scope) -> None:
    """Read a query as one over the candidate's texts, where they are known. Raises QueryError."""
    from percolator.checks import parse_checked
    from percolator.query.parse import parse

    if scope.candidate is None or not isinstance(operand, typed.FieldRef) or operand.type is not Scalar.TEXT:
        parse(query)
        return
    # What a query may ask for depends on the fields' types, not on their analysers, which take time to load.
    fields = ((name, type_, "") for name, type_ in scope.candidate.fields.items())
    parse_checked(query, text_schema(fields, operand.path))


def _inside(node: syntax.Expression, index: int) -> Span:
    """The character of a string literal, or the whole node where it is none (a `let`)."""
    while isinstance(node, syntax.Bracketed) and len(node.items) == 1:
        node = node.items[0]
    if not isinstance(node, syntax.String):
        return node.span
    start = min(offset_in(node, index), node.span.end - 1)
    return Span(node.span.file, start, start + 1)


def _constant(operand: Typed, pattern: Typed, node: syntax.Predicate, scope: Scope) -> str | None:
    """The pattern's text; None, mostly with a finding, where operand or pattern are not right."""
    if pattern is not None and not (isinstance(pattern, typed.Literal) and isinstance(pattern.value, str)):
        message = f"`{node.operator}` needs its pattern as a constant string"
        scope.findings.error(
            "CEP0214", message, node.argument.span, help_="write the pattern itself, or a `let`"
        )
        pattern = None
    if operand is None:
        return None
    if operand.type not in STRINGS and operand.type is not Scalar.NULL:
        message = f"`{node.operator}` tests strings, but this is {kind_of(operand.type)}"
        scope.findings.error("CEP0207", message, node.operand.span, help_="name a field of type string")
        return None
    if pattern is None:
        return None
    assert isinstance(pattern, typed.Literal)
    assert isinstance(pattern.value, str)
    return pattern.value
