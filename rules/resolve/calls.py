"""Calls: functions of values, aggregates over steps, `first`, `last` and `prev`."""

from __future__ import annotations

from typing import Literal, cast

from rules import syntax, typed
from rules.counting import as_pattern, least_count
from rules.functions import (
    AGGREGATES,
    CONVERSIONS,
    FUNCTIONS,
    NAVIGATION,
    OVER_WINDOWS,
    WINDOW_AGGREGATES,
    Parameter,
    Signature,
)
from rules.resolve.arguments import Resolve, bare, counted, fraction, whole_number, zone_exists
from rules.resolve.convert import agreeing, as_instant, converted, widen
from rules.resolve.references import candidate_field, field_of, step
from rules.resolve.scope import Scope
from rules.resolve.window_calls import window_call
from rules.suggest import did_you_mean
from rules.types import NUMERIC, STRINGS, ListOf, Scalar, kind_of

_SEVERAL = "several events are seen by `match a: STREAM{3}` and `over STREAM sliding 5 minutes`"
_MANY = frozenset({*AGGREGATES, *NAVIGATION, *WINDOW_AGGREGATES})
"""Functions of several events."""
FARTHEST = 1_000_000
"""Greatest offset of `first`, `last` and `prev`."""


def call(node: syntax.Call, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    """A call by its name; `resolve` types its arguments."""
    name = node.function.text
    if name in FUNCTIONS:
        return _function(node, FUNCTIONS[name], scope, resolve)
    if scope.window is not None and name in (*AGGREGATES, *NAVIGATION, *WINDOW_AGGREGATES, *OVER_WINDOWS):
        return window_call(node, scope.window, scope, resolve)
    if name in AGGREGATES:
        return _aggregate(node, scope, resolve)
    if name == "prev":
        return _previous(node, scope, resolve)
    if name in NAVIGATION:
        return _navigation(node, scope, resolve)
    if name in WINDOW_AGGREGATES or name in OVER_WINDOWS:
        message = f"`{name}` belongs to windows"
        help_ = "`over STREAM[...] sliding 5 minutes having ...` evaluates a window"
        scope.findings.error("CEP0423", message, node.function.span, help_=help_)
        return None
    message = f"{scope.subject} calls an unknown function `{name}`"
    scope.findings.error("CEP0204", message, node.function.span, help_=_meant(node, scope))
    return None


def _meant(node: syntax.Call, scope: Scope) -> str:
    """The help for an unknown function: ours, as it is written in this rule, or where all are listed."""
    from rules.called_elsewhere import SHOWN, called_here, ours_for  # only where something is wrong

    name = node.function.text
    ours = ours_for(name)
    first = node.arguments[0] if node.arguments else None
    if ours == "length" and isinstance(first, syntax.Dotted) and first.span.text in scope.all_steps:
        return f"write `count({first.span.text})`"
    if ours in _MANY and not scope.in_pattern and scope.window is None:
        return f"it is called `{ours}` here; {_SEVERAL}"
    if scope.window is not None and ours == "prev":
        return f"write `{OVER_WINDOWS['previous']}`"
    if scope.window is not None and ours == "list":
        return "windows give no lists: `distinct(field)` counts the different values"
    of_window = {n: one.shown for n, one in WINDOW_AGGREGATES.items()} if scope.window is not None else {}
    known = (*FUNCTIONS, *AGGREGATES, *NAVIGATION, *(OVER_WINDOWS if scope.window is not None else ()))
    return (
        called_here(name, {**SHOWN, **of_window})
        or did_you_mean(name, known)
        or "`cep explain functions` lists those that there are"
    )


def count_asked(node: syntax.Expression) -> tuple[syntax.Call, int | None] | None:
    """The `count()` that is compared with something, and the least number that makes the comparison true."""
    if not isinstance(node, syntax.Binary):
        return None
    sides = bare(node.left), bare(node.right)
    for side, other in (sides, sides[::-1]):
        if isinstance(side, syntax.Call) and side.function.text == "count" and not side.arguments:
            number = other.value if isinstance(other, syntax.Number) else None
            return side, least_count(node.operator, number, turned=side is sides[1])
    return None


def counts_events(node: syntax.Binary, scope: Scope) -> bool:
    """True if this compares `count()` in the condition of a single event; adds a finding if so."""
    asked = count_asked(node)
    if scope.candidate is None or scope.window is not None or asked is None:
        return False
    counting, least = asked
    if scope.in_pattern:
        message = "`count()` counts no events here: a condition is about one"
        help_ = f"the number stands behind the step: `{scope.candidate.called}[...]{{{least or 3}}}`"
    else:
        message = "`count` needs the steps of a pattern, or a window"
        help_ = f"several events are a pattern: {as_pattern(scope.candidate.called, least)}"
    scope.findings.error("CEP0225", message, counting.function.span, help_=help_)
    return True


def _function(
    node: syntax.Call, signature: Signature, scope: Scope, resolve: Resolve
) -> typed.Expression | None:
    parameters = signature.parameters
    most = 1000 if signature.rest else len(parameters)
    right = counted(node, len(parameters) - signature.optional, most, signature.shown, scope)
    arguments = [resolve(a, scope) for a in node.arguments]
    if not right or any(a is None for a in arguments):
        return None
    values = [a for a in arguments if a is not None]
    if parameters[0] == "any":
        agreed = agreeing(values, scope.findings)
        if isinstance(agreed, list):
            return typed.Call(node.function.text, tuple(agreed), agreed[0].type, node.span)
        if agreed is not None:
            message = f"`{node.function.text}` needs values of one type, not {values[0].type} and {agreed}"
            scope.findings.error("CEP0211", message, node.span, help_="give values of one type")
        return None
    fitted = [
        _argument(node, value, parameter, scope) for value, parameter in zip(values, parameters, strict=False)
    ]
    known = tuple(a for a in fitted if a is not None)
    if len(known) < len(fitted):
        return None
    name = node.function.text
    if name in CONVERSIONS:
        assert signature.result is not None
        return converted(known[0], signature.result, node.span)
    return typed.Call(name, known, signature.result or known[0].type, node.span)


_ACCEPTED: dict[Parameter, frozenset[Scalar]] = {
    "number": NUMERIC,
    "long": frozenset({Scalar.LONG}),
    "double": NUMERIC,
    "string": STRINGS,
    "string or list": STRINGS,
    "timestamp": frozenset({Scalar.TIMESTAMP}),
    "zone": frozenset({Scalar.STRING}),
    "network": frozenset({Scalar.STRING}),
}
_TYPED: dict[Parameter, Scalar] = {
    "number": Scalar.DOUBLE,
    "long": Scalar.LONG,
    "double": Scalar.DOUBLE,
    "string": Scalar.STRING,
    "string or list": Scalar.STRING,
    "timestamp": Scalar.TIMESTAMP,
    "zone": Scalar.STRING,
    "network": Scalar.STRING,
}


def _argument(
    node: syntax.Call, value: typed.Expression, parameter: Parameter, scope: Scope
) -> typed.Expression | None:
    if parameter == "timestamp" and isinstance(value, typed.Literal) and value.type is Scalar.STRING:
        return as_instant(value, scope.findings)
    if value.type is Scalar.NULL:
        return widen(value, _TYPED[parameter])
    counts = parameter == "string or list" and isinstance(value.type, ListOf)
    if value.type not in _ACCEPTED[parameter] and not counts:
        shown = f"a {parameter}" if parameter in ("number", "string or list") else kind_of(_TYPED[parameter])
        message = f"`{node.function.text}` needs {shown} here"
        scope.findings.error(
            "CEP0211",
            message,
            value.span,
            note=f"this is {kind_of(value.type)}",
            help_=f"give it {shown}: another field, or a constant",
        )
        return None
    if parameter in ("zone", "network") and not _known_constant(node, value, parameter, scope):
        return None
    return converted(value, Scalar.DOUBLE, value.span) if parameter == "double" else value


def _known_constant(node: syntax.Call, value: typed.Expression, parameter: str, scope: Scope) -> bool:
    """True if a zone or network is a constant and exists."""
    what = "a time zone" if parameter == "zone" else "a network"
    if not isinstance(value, typed.Literal):
        message = f"`{node.function.text}` needs {what} as a constant"
        scope.findings.error("CEP0214", message, value.span, help_="write the text itself, or a `let`")
        return False
    text = str(value.value)
    if zone_exists(text) if parameter == "zone" else _network_exists(text):
        return True
    example = "Europe/Berlin" if parameter == "zone" else "10.0.0.0/8"
    scope.findings.error("CEP0211", f"`{text}` is not {what}", value.span, help_=f'such as "{example}"')
    return False


def _network_exists(text: str) -> bool:
    from ipaddress import ip_network  # only where a rule names a network

    try:
        return bool(ip_network(text, strict=False).prefixlen >= 0)
    except ValueError:
        return False


def _dotted(node: syntax.Call, scope: Scope, *, names: int) -> syntax.Dotted | None:
    """The first argument, which must be a name (1) or a step's field (2 or more names)."""
    argument = bare(node.arguments[0])
    if isinstance(argument, syntax.Dotted) and (names == 1 or len(argument.names) > 1):
        return argument
    function = node.function.text
    shown = AGGREGATES[function].shown if function in AGGREGATES else NAVIGATION[function]
    what = "a field of the candidate" if names == 1 else "a field of a step"
    help_ = f"write `{shown}`"
    if isinstance(argument, syntax.Dotted):
        name = argument.names[0].text
        seen = (b for b in scope.steps.values() if b.repeated or b.name != scope.own)
        owners = [b.name for b in seen if name in b.source.fields]
        if owners:
            help_ = f"did you mean `{function}({owners[-1]}.{name})`?"
    scope.findings.error("CEP0225", f"`{function}` needs {what}", argument.span, help_=help_)
    return None


def _aggregate(node: syntax.Call, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    name = node.function.text
    signature = AGGREGATES[name]
    if not scope.in_pattern:
        message = f"`{name}` needs the steps of a pattern, or a window"
        scope.findings.error("CEP0225", message, node.function.span, help_=_SEVERAL)
        return None
    if name == "list" and not scope.in_output:
        message = "`list` stands only in `emit`"
        help_ = "use `count`, `distinct` or another aggregate"
        scope.findings.error("CEP0225", message, node.function.span, help_=help_)
        return None
    wanted = 2 if name == "percentile" else 1
    if name in ("min", "max") and len(node.arguments) == 2:
        message = f"`{name}` is taken of one step's events, not of two values"
        from rules.called_elsewhere import called_here  # only where something is wrong

        help_ = called_here("greatest" if name == "max" else "least")
        scope.findings.error("CEP0210", message, node.function.span, help_=help_)
        return None
    if not counted(node, wanted, wanted, signature.shown, scope):
        return None
    if name == "count":
        return _count(node, scope)
    argument = _dotted(node, scope, names=2)
    if argument is None:
        return None
    bound = step(argument.names[0], scope)
    path = argument.names[1:]
    type_ = None if bound is None else field_of(bound.source, path, scope)
    parameter = fraction(node.arguments[1], scope, resolve) if name == "percentile" else None
    if bound is None or type_ is None or (name == "percentile" and parameter is None):
        return None
    if not signature.takes(type_):
        message = f"`{name}` cannot be taken of {kind_of(type_)}"
        scope.findings.error(
            "CEP0211",
            message,
            argument.span,
            note=f"`{path[-1].text}` is {kind_of(type_)}",
            help_="take it of a field of another type",
        )
        return None
    result = ListOf(type_) if name == "list" else signature.gives(type_)
    return typed.Aggregate(name, bound.name, tuple(n.text for n in path), parameter, result, node.span)


def _count(node: syntax.Call, scope: Scope) -> typed.Expression | None:
    argument = node.arguments[0]
    if not isinstance(argument, syntax.Dotted) or len(argument.names) > 1:
        help_ = "write `count(step)`"
        if isinstance(argument, syntax.Dotted):
            help_ = f"did you mean `count({argument.names[0].text})`?"
        scope.findings.error("CEP0225", "`count` counts the events of a step", argument.span, help_=help_)
        return None
    bound = step(argument.names[0], scope)
    if bound is None:
        return None
    return typed.Aggregate("count", bound.name, (), None, Scalar.LONG, node.span)


def _navigation(node: syntax.Call, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    name = cast(Literal["first", "last"], node.function.text)
    if not scope.in_pattern:
        message = f"`{name}` needs the steps of a pattern, or a window"
        scope.findings.error("CEP0225", message, node.function.span, help_=_SEVERAL)
        return None
    if not counted(node, 1, 2, NAVIGATION[name], scope):
        return None
    argument = _dotted(node, scope, names=2)
    offset = whole_number(node, 0, FARTHEST, scope, resolve)
    if argument is None:
        return None
    bound = step(argument.names[0], scope)
    path = argument.names[1:]
    type_ = None if bound is None else field_of(bound.source, path, scope)
    if bound is None or type_ is None or offset is None:
        return None
    return typed.StepRef(bound.name, tuple(n.text for n in path), name, offset, type_, node.span)


def _previous(node: syntax.Call, scope: Scope, resolve: Resolve) -> typed.Expression | None:
    if not scope.in_pattern or scope.candidate is None:
        message = "`prev` stands only in the conditions of a pattern"
        help_ = "" if scope.in_pattern else "write `match a: STREAM[...]` with `within`"
        scope.findings.error("CEP0225", message, node.function.span, help_=help_)
        return None
    if not counted(node, 1, 2, NAVIGATION["prev"], scope):
        return None
    argument = _dotted(node, scope, names=1)
    offset = whole_number(node, 1, FARTHEST, scope, resolve)
    if argument is None:
        return None
    if argument.names[0].text == "it" and len(argument.names) > 1:
        argument = syntax.Dotted(argument.names[1:], argument.span)
    found = candidate_field(argument, scope)
    if found is None or offset is None:
        return None
    return typed.PrevRef(found.path, offset, found.type, node.span)
