"""The calls that `having` and `emit` of a window are made of: aggregates, bounds, and earlier windows."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never, cast

from rules import syntax, typed
from rules.functions import BOUNDS, OVER_WINDOWS, WINDOW_AGGREGATES
from rules.instants import GREATEST
from rules.resolve.arguments import Resolve, bare, counted, fraction, whole_number
from rules.resolve.references import field_of
from rules.resolve.scope import Scope, Windowed
from rules.types import Scalar, kind_of

BACK = 10_000
"""Windows that may be looked back."""
_OF_PATTERNS = {
    "list": "`distinct(field)` counts the different values",
    "prev": "`previous(avg(field))` is that of the window before, `last(field)` the newest event's",
}
_BARE = frozenset({"rate", *BOUNDS})
"""Calls without an argument."""


def window_call(
    node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve
) -> typed.Expression | None:
    """A call that is no function of single values, in a rule over windows."""
    name = node.function.text
    if name in _OF_PATTERNS:
        message = f"`{name}` belongs to patterns"
        scope.findings.error("CEP0424", message, node.function.span, help_=_OF_PATTERNS[name])
        return None
    if scope.inside is not None:
        message = f"`{name}` is about the whole window, and `{scope.inside}` about each of its events"
        help_ = "take them apart: what `having` and `emit` compute with aggregates stands outside of them"
        scope.findings.error("CEP0225", message, node.function.span, help_=help_)
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
    least = 0 if name in ("count", *_BARE) else 2 if name == "percentile" else 1
    if not counted(node, least, 1 if name == "count" else least, signature.shown, scope):
        return None
    if not node.arguments:
        assert signature.result is not None
        return typed.WindowAggregate(name, None, None, "this", 0, signature.result, node.span)
    argument = _argument(node, window, scope, resolve)
    parameter = fraction(node.arguments[1], scope, resolve) if name == "percentile" else None
    if argument is None or (name == "percentile" and parameter is None):
        return None
    if name == "count" and argument.type is not Scalar.BOOLEAN:
        message = (
            f"`count` counts the events for which a condition is true, but this is {kind_of(argument.type)}"
        )
        help_ = f"write `count()`, or `count({argument.span.text} is not null)`"
        scope.findings.error("CEP0209", message, argument.span, help_=help_)
        return None
    if not signature.takes(argument.type):
        message = f"`{name}` cannot be taken of {kind_of(argument.type)}"
        note, help_ = f"this is {kind_of(argument.type)}", "take it of a field of another type"
        scope.findings.error("CEP0211", message, node.arguments[0].span, note=note, help_=help_)
        return None
    type_ = signature.gives(argument.type)
    return typed.WindowAggregate(name, argument, parameter, "this", 0, type_, node.span)


def _argument(node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    """The first argument, which is evaluated of each event."""
    name, source = node.function.text, window.source
    inside = Scope(scope.declared, f"`{name}`", candidate=source, window=window, inside=name)
    argument = bare(node.arguments[0])
    if not isinstance(argument, syntax.Dotted):
        return resolve(node.arguments[0], inside)
    first, *fields = (part.text for part in argument.names)
    if first == source.called and first not in source.fields:
        help_ = f"did you mean `{name}({'.'.join(fields)})`?"
        message = f"`{name}` needs a field of the window's events, without the stream's name"
        if not fields:
            message = f"`{name}` needs a field of the window's events"
            help_ = f"write `{WINDOW_AGGREGATES[name].shown}`"
        scope.findings.error("CEP0225", message, argument.span, help_=help_)
        return None
    if first not in source.fields and (first in scope.declared.constants or first == "it"):
        return resolve(argument, inside)
    type_ = field_of(source, argument.names, scope)
    return None if type_ is None else typed.FieldRef((first, *fields), type_, argument.span)


def _inner(
    node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve
) -> typed.WindowAggregate | None:
    """The aggregate that `previous` and `ago` take."""
    argument = bare(node.arguments[0])
    if isinstance(argument, syntax.Call) and argument.function.text in WINDOW_AGGREGATES.keys() - BOUNDS:
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
    return isinstance(part, syntax.Call) and part.function.text in WINDOW_AGGREGATES.keys() - BOUNDS


def _previous(node: syntax.Call, window: Windowed, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    if not counted(node, 1, 2, OVER_WINDOWS["previous"], scope):
        return None
    inner = _inner(node, window, scope, resolve)
    number = whole_number(node, 1, BACK, scope, resolve)
    if inner is None or number is None or not _in_time(number, node, window.shape, scope):
        return None
    return replace(inner, which="previous", offset=number, span=node.span)


def _in_time(number: int, node: syntax.Call, window: typed.Window | None, scope: Scope) -> bool:
    """True if there is that much time; else there is a finding."""
    if not isinstance(window, typed.Tumbling | typed.Hopping | typed.Sliding):
        return True
    if (number + 1) * window.size <= GREATEST:
        return True
    message, help_ = "so many windows reach back further than 292 years", "look back fewer of them"
    scope.findings.error("CEP0421", message, node.arguments[-1].span, help_=help_)
    return False


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
        case typed.Tumbling(step) | typed.Hopping(_, step) | typed.Sliding(step) if back > BACK * step:
            problem, help_ = (
                f"a rule looks back {BACK:,} windows at most",
                "look back less, or make them longer",
            )
        case typed.Tumbling(size) | typed.Hopping(size) | typed.Sliding(size) if back + size > GREATEST:
            problem, help_ = "that is further back than 292 years", "look back less"
        case typed.Tumbling() | typed.Hopping() | typed.Sliding():
            return True
        case _:
            assert_never(window)
    scope.findings.error("CEP0421", problem, node.arguments[1].span, help_=help_)
    return False
