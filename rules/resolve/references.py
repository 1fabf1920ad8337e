"""Names in expressions: fields of the candidate, of steps and of the key, and constants."""

from __future__ import annotations

from collections.abc import Iterable

from rules import syntax, typed
from rules.functions import AGGREGATES, NAVIGATION, WINDOW_AGGREGATES
from rules.resolve.declared import StreamInfo
from rules.resolve.paths import type_at
from rules.resolve.scope import Bound, Scope
from rules.suggest import did_you_mean, meant
from rules.types import NUMERIC, Scalar, Type

Names = tuple[syntax.Name, ...]


def reference(node: syntax.Dotted, scope: Scope) -> typed.Expression | None:
    """The meaning of a name, or of names with dots, where they stand."""
    first = node.names[0]
    if len(node.names) == 1:
        return _bare(first, scope)
    if first.text in scope.all_steps:
        bound = step(first, scope)
        return None if bound is None else _of_step(bound, node, scope)
    if first.text == "it" and scope.candidate is not None:
        rest = syntax.Dotted(node.names[1:], node.span)
        return candidate_field(rest, scope)
    if scope.candidate is not None and (first.text in scope.candidate.fields or not scope.candidate.known):
        return candidate_field(node, scope)
    if _of_window(node, scope):
        return None
    help_ = did_you_mean(first.text, scope.all_steps)
    if first.text in scope.declared.constants:
        help_ = f"`{first.text}` is a constant and has no fields"
    elif scope.keys is not None and node.names[-1].text in scope.keys:
        help_ = f"the field of the key is `{node.names[-1].text}`"
    elif scope.candidate is not None and not scope.in_pattern and first.text in _others(scope):
        names = f"a: {first.text} -> b: {scope.candidate.called}[... a.{node.names[1].text}]"
        help_ = f"`on` sees one event; two are a pattern: `match {names}`"
    elif scope.candidate is not None and (
        first.text == scope.candidate.called
        or (not scope.all_steps and node.names[1].text in scope.candidate.fields)
    ):
        help_ = f"a bare field name is the event's: `{node.names[1].text}`"
    elif scope.candidate is not None and first.text == "prev" and scope.in_pattern:
        help_ = f"write `prev({node.span.text.partition('.')[2]})`"
    elif scope.all_steps and not help_:
        help_ = steps_are(scope.all_steps)
    elif scope.window is not None and first.text == "window":
        help_ = _called(f"window_{node.names[-1].text}")
    if scope.candidate is None and not scope.all_steps and not scope.in_pattern:
        message = f"{scope.subject} has no event to look at, so `{node.span.text}` means nothing"
        help_ = help_ or "use the field in a condition: `stream[...]`"
        scope.findings.error("CEP0203", message, node.span, help_=help_)
        return None
    message = f"{scope.subject} names an unknown step `{first.text}`"
    help_ = help_ or f"name a step so: `{first.text}: stream[...]`"
    scope.findings.error("CEP0203", message, first.span, help_=help_)
    return None


def _others(scope: Scope) -> Iterable[str]:
    """The streams but the candidate's."""
    own = "" if scope.candidate is None else scope.candidate.called
    return [name for name in scope.declared.streams if name != own]


def names_nothing(node: syntax.Expression, scope: Scope) -> str:
    """The one name that an expression is, where nothing has that name here; else an empty text."""
    if not isinstance(node, syntax.Dotted) or len(node.names) > 1:
        return ""
    name = node.names[0].text
    own = scope.candidate is not None and (name in scope.candidate.fields or not scope.candidate.known)
    known = own or name in (scope.keys or ()) or name in scope.declared.constants or name in scope.all_steps
    return "" if known else name


def steps_are(names: Iterable[str]) -> str:
    """The help that lists the steps of a pattern, the first ten of them; empty where none has a name."""
    shown = ", ".join(f"`{name}`" for name in sorted(names)[:10])
    return f"the steps are {shown}" if shown else ""


def step(name: syntax.Name, scope: Scope) -> Bound | None:
    """The step of that name, if it is bound where the expression stands."""
    bound = scope.steps.get(name.text)
    if bound is not None:
        if name.text == scope.own and not bound.repeated:
            message = f"{scope.subject} names itself: the candidate is not taken yet"
            scope.findings.error("CEP0212", message, name.span, help_="a bare field name is the candidate's")
            return None
        return bound
    if name.text in scope.all_steps:
        message = f"{scope.subject} cannot see step `{name.text}`"
        note = "not bound yet here, or in another branch"
        scope.findings.error("CEP0212", message, name.span, note=note, help_="conditions cannot look ahead")
        return None
    help_ = meant(name.text, scope.all_steps, "steps")
    scope.findings.error(
        "CEP0203", f"{scope.subject} names an unknown step `{name.text}`", name.span, help_=help_
    )
    return None


def candidate_field(node: syntax.Dotted, scope: Scope) -> typed.FieldRef | None:
    """A field of the candidate event."""
    assert scope.candidate is not None
    found = field_of(scope.candidate, node.names, scope)
    return None if found is None else typed.FieldRef(tuple(n.text for n in node.names), found, node.span)


def field_of(source: StreamInfo, names: Names, scope: Scope, extra: tuple[str, ...] = ()) -> Type | None:
    """The type of a field of a stream's events; None, mostly with a finding, where there is none."""
    if not source.known and names[0].text not in source.fields:
        return None
    return type_at(names, f"stream `{source.name}`", source.fields, scope.findings, extra)


def _of_step(bound: Bound, node: syntax.Dotted, scope: Scope) -> typed.Expression | None:
    path = node.names[1:]
    first = path[0].text
    if first in (*AGGREGATES, *NAVIGATION) and bound.source.known and first not in bound.source.fields:
        field = ".".join((bound.name, *(name.text for name in path[1:])))
        message = f"stream `{bound.source.name}` has no field `{first}`"
        scope.findings.error("CEP0202", message, path[0].span, help_=f"did you mean `{first}({field})`?")
        return None
    type_ = field_of(bound.source, path, scope)
    if type_ is None:
        return None
    if bound.repeated:
        written = node.span.text
        options = f"write `last({written})`" + (f" or `list({written})`" if scope.in_output else "")
        options += "" if scope.in_output else ", `first(...)` or an aggregate of it"
        message = f"step `{bound.name}` may take several events: which `{path[-1].text}` is meant?"
        scope.findings.error("CEP0213", message, node.span, help_=options)
        return None
    return typed.StepRef(bound.name, tuple(n.text for n in path), "only", 0, type_, node.span)


def _bare(name: syntax.Name, scope: Scope) -> typed.Expression | None:
    known = name.text
    if scope.candidate is not None and known in scope.candidate.fields:
        type_ = scope.candidate.fields[known]
        return None if type_ is None else typed.FieldRef((known,), type_, name.span)
    if scope.keys is not None and known in scope.keys:
        type_ = scope.keys[known]
        return None if type_ is None else typed.KeyRef(known, type_, name.span)
    if known in scope.declared.constants:
        return _constant(name, scope)
    if _of_window(syntax.Dotted((name,), name.span), scope):
        return None
    if scope.candidate is None or scope.candidate.known:
        _unknown(name, scope)
    return None


def _of_window(node: syntax.Dotted, scope: Scope) -> bool:
    """True if this is a field of the window's events without saying of which; then there is a finding."""
    if scope.window is None or scope.candidate is not None:
        return False
    source = scope.window.source
    names = node.names
    if names[0].text == source.called and names[0].text not in source.fields:
        names = names[1:]
    if not names or names[0].text not in source.fields:
        return not source.known
    field = ".".join(name.text for name in names)
    message = f"`{field}` is a field of single events, but a window holds many: which one is meant?"
    type_ = source.fields[field] if len(names) == 1 else None
    help_ = f"write `last({field})` or `{'avg' if type_ in NUMERIC else 'distinct'}({field})`"
    if type_ in (Scalar.STRING, Scalar.BOOLEAN):
        those = f"{field} == ..." if type_ is Scalar.STRING else field
        help_ = f"write `last({field})`, or `count({those})` for the number of such events"
    scope.findings.error("CEP0417", message, node.span, help_=help_)
    return True


def _called(name: str) -> str:
    """The help for another language's name of what a window is asked for; empty for others."""
    from rules.called_elsewhere import ours_for  # only where something is wrong

    ours = WINDOW_AGGREGATES.get(ours_for(name) or "")
    return f"write `{ours.shown}`" if ours else ""


def _constant(name: syntax.Name, scope: Scope) -> typed.Literal | None:
    scope.declared.used_constants.add(name.text)
    constant = scope.declared.constants[name.text]
    return (
        None if constant is None else typed.Literal(constant.value, constant.type, name.span, constant.exact)
    )


def _unknown(name: syntax.Name, scope: Scope) -> None:
    constants = tuple(scope.declared.constants)
    if name.text in scope.steps:
        fields = next(iter(scope.steps[name.text].source.fields), "field")
        message = f"`{name.text}` is a step: name one of its fields"
        scope.findings.error("CEP0205", message, name.span, help_=f"such as `{name.text}.{fields}`")
        return
    if scope.candidate is not None:
        field_of(scope.candidate, (name,), scope, constants)
        return
    owners = [b for b in scope.steps.values() if name.text in b.source.fields]
    help_ = did_you_mean(name.text, (*(scope.keys or ()), *constants))
    if owners:
        written = f"{owners[0].name}.{name.text}"
        help_ = f"did you mean `{f'last({written})' if owners[0].repeated else written}`?"
    if scope.window is not None and name.text in WINDOW_AGGREGATES:
        help_ = f"did you mean `{WINDOW_AGGREGATES[name.text].shown}`?"
    elif scope.window is not None and not help_:
        help_ = _called(name.text)
    message = f"`{name.text}` is no constant"
    if not help_ and scope.keys is not None:
        known = meant(name.text, (*scope.keys, *constants), "names")
        help_ = known if scope.window is not None else f"a field stands behind its step: `step.{name.text}`"
    if not help_ and scope.keys is None:
        help_ = f'a string stands in quotes: `"{name.text}"`'
    if (scope.in_pattern or scope.window is not None) and scope.keys is not None:
        message = f"`{name.text}` is neither a `by` field nor a constant"
    scope.findings.error("CEP0205", message, name.span, help_=help_)
