"""Where `not` and `absent` may stand, and which signs may stand before them."""

from __future__ import annotations

from rules import syntax
from rules.resolve.findings import Findings


def check_signs(pattern: syntax.Sequence, findings: Findings) -> None:
    """Report every `not` and `absent` that is out of place, and a pattern that takes no event."""
    _sequence(pattern, findings, is_last=True, outermost=True)
    if not _takes(pattern):
        message = "this pattern takes no event, so it has no match"
        findings.error("CEP0416", message, pattern.span, help_="add a step")


def _takes(pattern: syntax.Sequence) -> bool:
    return any(
        isinstance(e, syntax.Step) or (isinstance(e, syntax.Group) and any(map(_takes, e.branches)))
        for e in pattern.elements
    )


def _sequence(node: syntax.Sequence, findings: Findings, *, is_last: bool, outermost: bool) -> None:
    final = len(node.elements) - 1
    for at, element in enumerate(node.elements):
        sign = node.signs[at - 1] if at else None
        match element:
            case syntax.Unless():
                _unless(element, sign, at == final, findings)
            case syntax.Absent():
                alone = at == 0 and outermost
                ends = is_last and all(map(_to_the_end, node.elements[at + 1 :]))
                _absent(element, sign, alone=alone, is_last=ends, findings=findings)
            case syntax.Group():
                for branch in element.branches:
                    _sequence(branch, findings, is_last=is_last and at == final, outermost=False)
            case syntax.Step():
                pass


def _to_the_end(element: syntax.Element) -> bool:
    """True if an element is an `absent` that lasts until `within` is over."""
    return isinstance(element, syntax.Absent) and element.duration is None


def _unless(node: syntax.Unless, sign: syntax.Sign | None, final: bool, findings: Findings) -> None:
    if sign is None:
        message = "`not` cannot come first"
        findings.error("CEP0403", message, node.span, help_="`absent S[...] for d` comes first")
    elif sign.text == "~>":
        message = "`not` cannot follow `~>`"
        findings.error("CEP0403", message, sign.span, help_="write `-> not ... ~> step`")
    elif final and sign.text == "->":
        message = "`not` cannot come last after `->`: it would never be decided"
        help_ = "write `absent S[...] for d`, or `=> not` for the very next event"
        findings.error("CEP0403", message, node.span, help_=help_)


def _absent(
    node: syntax.Absent, sign: syntax.Sign | None, *, alone: bool, is_last: bool, findings: Findings
) -> None:
    if sign is not None and sign.text != "->":
        message = f"the sign before `absent` is `->`, not `{sign.text}`"
        findings.error("CEP0405", message, sign.span, help_="write `-> absent`")
    if node.duration is None and (alone or not is_last):
        message = "only at the end of a pattern may `absent` go without `for`"
        findings.error("CEP0405", message, node.span, help_="write `absent S[...] for d`")
