"""Windows: how large they are, and the calls that their `having` and `emit` are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never, cast

from rules import syntax, typed
from rules.functions import OVER_WINDOWS, WINDOW_AGGREGATES
from rules.resolve.arguments import Resolve, bare, counted, fraction, whole_number
from rules.resolve.findings import Findings
from rules.resolve.references import field_of
from rules.resolve.scope import Scope, Windowed
from rules.source import Span
from rules.types import Scalar, Type, kind_of

MOST = 1_000_000
"""Greatest number of events in `last n events`, and of windows in `previous(agg, n)`."""
_OF_PATTERNS = {
    "list": "`distinct(field)` counts the different values",
    "prev": "`previous(avg(field))` is that of the window before, `last(field)` the newest event's",
}


def resolve_window(node: syntax.Window, findings: Findings) -> typed.Window | None:
    """The typed window; None, with a finding, where there can be none."""
    problem = _problem(node)
    if problem is not None:
        code, message, place, note, help_ = problem
        findings.error(code, message, place, note=note, help_=help_)
        return None
    match node:
        case syntax.Tumbling():
            return typed.Tumbling(node.size.value)
        case syntax.Hopping():
            return typed.Hopping(node.size.value, node.every.value)
        case syntax.Sliding():
            return typed.Sliding(node.size.value)
        case syntax.Session():
            return typed.Session(node.gap.value)
        case syntax.LastEvents():
            return typed.LastEvents(int(node.events.value))
        case _:
            assert_never(node)


def _problem(node: syntax.Window) -> tuple[str, str, Span, str, str] | None:
    """Why there can be no such window: code, message, place, what is drawn under it, and the fix."""
    sizes = [part for part in typed.parts(node) if isinstance(part, syntax.Duration | syntax.Number)]
    empty = next((size for size in sizes if size.value == 0), None)
    match node:
        case _ if empty is not None:
            return "CEP0402", "a window of nothing holds no event", empty.span, "", "give it a length"
        case syntax.LastEvents(events) if events.value > MOST:
            message = f"a window holds {MOST:,} last events at most"
            return (
                "CEP0407",
                message,
                events.span,
                "",
                "ask for fewer, or for a window of time: `sliding 1 hour`",
            )
        case syntax.Hopping(size, every) if every.value > size.value:
            message = "these windows leave gaps: events between one and the next are in none"
            note = f"longer than the window's `{size.span.text}`"
            return "CEP0420", message, every.span, note, f"write `every {size.span.text}`, or a shorter one"
        case syntax.Hopping(size, every) if size.value % every.value:
            message = "a hopping window lasts a whole number of hops"
            note = f"`{size.span.text}` is no multiple of `{every.span.text}`"
            return (
                "CEP0420",
                message,
                every.span,
                note,
                f"write an `every` that `{size.span.text}` is a multiple of",
            )
        case _:
            return None


def window_call(
    node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve
) -> typed.Expression | None:
    """A call that is no function of single values, in a rule over windows."""
    name = node.function.text
    if name in _OF_PATTERNS:
        message = f"`{name}` belongs to patterns"
        scope.findings.error("CEP0424", message, node.function.span, help_=_OF_PATTERNS[name])
        return None
    if scope.candidate is not None:
        message = f"`{name}` is about the whole window, so it cannot choose the window's events"
        help_ = "put it after `having`"
        scope.findings.error("CEP0419", message, node.function.span, help_=help_)
        return None
    if name == "previous":
        return _previous(node, window, scope, resolve)
    if name == "ago":
        return _ago(node, window, scope, resolve)
    return _aggregate(node, window, scope, resolve)


def _aggregate(
    node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve
) -> typed.WindowAggregate | None:
    name = node.function.text
    signature = WINDOW_AGGREGATES[name]
    wanted = 0 if name in ("count", "rate") else 2 if name == "percentile" else 1
    if not counted(node, wanted, wanted, signature.shown, scope):
        return None
    if wanted == 0:
        assert signature.result is not None
        return typed.WindowAggregate(name, (), None, "this", 0, signature.result, node.span)
    field = _field(node, window, scope)
    parameter = fraction(node.arguments[1], scope, resolve) if name == "percentile" else None
    if field is None or (name == "percentile" and parameter is None):
        return None
    path, type_ = field
    if not signature.takes(type_):
        message = f"`{name}` cannot be taken of {kind_of(type_)}"
        note = f"`{path[-1]}` is {kind_of(type_)}"
        scope.findings.error(
            "CEP0211", message, node.arguments[0].span, note=note, help_="take it of a field of another type"
        )
        return None
    return typed.WindowAggregate(name, path, parameter, "this", 0, signature.gives(type_), node.span)


def _field(node: syntax.Call, window: Windowed, scope: Scope) -> tuple[typed.Path, Type] | None:
    """The field that is the first argument, and its type."""
    argument = bare(node.arguments[0])
    shown = WINDOW_AGGREGATES[node.function.text].shown
    if not isinstance(argument, syntax.Dotted):
        message = f"`{node.function.text}` needs a field of the window's events"
        scope.findings.error("CEP0225", message, argument.span, help_=f"write `{shown}`")
        return None
    first = argument.names[0].text
    if first == window.source.called and first not in window.source.fields and len(argument.names) > 1:
        field = ".".join(name.text for name in argument.names[1:])
        message = f"`{node.function.text}` needs a field of the window's events, without the stream's name"
        help_ = f"did you mean `{node.function.text}({field})`?"
        scope.findings.error("CEP0225", message, argument.span, help_=help_)
        return None
    type_ = field_of(window.source, argument.names, scope)
    return None if type_ is None else (tuple(n.text for n in argument.names), type_)


def _inner(
    node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve
) -> typed.WindowAggregate | None:
    """The aggregate that `previous` and `ago` take."""
    argument = bare(node.arguments[0])
    if isinstance(argument, syntax.Call) and argument.function.text in WINDOW_AGGREGATES:
        return _aggregate(argument, window, scope, resolve)
    name = node.function.text
    message = f"`{name}` takes an aggregate of the window"
    help_ = f"write `{OVER_WINDOWS[name]}`"
    nested = isinstance(argument, syntax.Call) and argument.function.text in OVER_WINDOWS
    if not nested and any(_is_aggregate(part) for part in typed.walk(argument)):
        help_ = f"write `{name}(...)` around the aggregate alone"
    elif isinstance(argument, syntax.Dotted):
        help_ = f"such as `{name}(avg({argument.span.text}){', 7 days' if name == 'ago' else ''})`"
    scope.findings.error("CEP0418", message, argument.span, help_=help_)
    return None


def _is_aggregate(part: object) -> bool:
    return isinstance(part, syntax.Call) and part.function.text in WINDOW_AGGREGATES


def _previous(node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    if not counted(node, 1, 2, OVER_WINDOWS["previous"], scope):
        return None
    inner = _inner(node, window, scope, resolve)
    number = whole_number(node, 1, MOST, scope, resolve)
    if inner is None or number is None:
        return None
    return replace(inner, which="previous", offset=number, span=node.span)


def _ago(node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    if not counted(node, 2, 2, OVER_WINDOWS["ago"], scope):
        return None
    inner = _inner(node, window, scope, resolve)
    value = resolve(node.arguments[1], scope)
    if value is None:
        return None
    if not (isinstance(value, typed.Literal) and value.type is Scalar.DURATION):
        message = "`ago` needs a duration as a constant"
        scope.findings.error("CEP0214", message, node.arguments[1].span, help_="such as `7 days`")
        return None
    back = cast(int, value.value)
    if not _met(back, node, window.shape, scope) or inner is None:
        return None
    return replace(inner, which="ago", offset=back, span=node.span)


def _met(back: int, node: syntax.Call, window: typed.Window | None, scope: Scope) -> bool:
    """True if there is a window that long ago; else there is a finding."""
    match window:
        case _ if back <= 0:
            problem = "`ago` looks back: its duration is longer than nothing"
            help_ = "say how long ago: `ago(count(), 7 days)`"
        case None:
            return False
        case typed.Session() | typed.LastEvents():
            problem = "these windows end where events come: there is none just that long ago"
            help_ = "`previous(...)` is the one before"
        case typed.Tumbling(step) | typed.Hopping(_, step) if back % step:
            problem = "no window ends just that long ago"
            length = "length" if isinstance(window, typed.Tumbling) else "hop"
            help_ = f"look back a multiple of the window's {length}"
        case typed.Tumbling() | typed.Hopping() | typed.Sliding():
            return True
        case _:
            assert_never(window)
    scope.findings.error("CEP0421", problem, node.arguments[1].span, help_=help_)
    return False
