"""JUnit XML, the form that every CI reads: cases in suites, each passed, failed, in error or skipped.

The form is that of the schema `junit-10.xsd` (Jenkins), which is the strictest in use: a case has no
attributes but its name, its class's name and its time, so that the place stands in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Outcome = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `group` is what JUnit calls the class's name, a pack or a file.

    `message` is one sentence and `text` all there is to say, both empty for a case that passed. `seconds`:
    how long it took, None where nobody asked.
    """

    name: str
    group: str
    outcome: Outcome = "passed"
    message: str = ""
    text: str = ""
    kind: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases under one name, in their order."""

    name: str
    cases: tuple[Case, ...]

    def count(self, outcome: Outcome) -> int:
        """The number of cases that came out so."""
        return sum(case.outcome == outcome for case in self.cases)


def junit(suites: Sequence[Suite]) -> str:
    """The suites as an XML document, its lines ended.

    Characters that XML cannot hold, such as a terminal's escapes, are written as `\\x1b`.
    """
    totals = [("tests", sum(len(s.cases) for s in suites))]
    totals += [(f"{o}s", sum(s.count(o) for s in suites)) for o in ("failure", "error")]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{_attributes(totals)}>"]
    for suite in suites:
        lines.extend(_suite(suite))
    return "\n".join((*lines, "</testsuites>", ""))


def _suite(suite: Suite) -> Iterator[str]:
    counts = [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    told = [(name, suite.count(outcome)) for name, outcome in counts]  # type: ignore[arg-type]
    yield f"  <testsuite{_attributes([('name', suite.name), ('tests', len(suite.cases)), *told])}>"
    for case in suite.cases:
        yield from _case(case)
    yield "  </testsuite>"


def _case(case: Case) -> Iterator[str]:
    named: list[tuple[str, object]] = [("classname", case.group), ("name", case.name)]
    if case.seconds is not None:
        named.append(("time", f"{case.seconds:.3f}"))
    begin = f"    <testcase{_attributes(named)}"
    if case.outcome == "passed":
        yield f"{begin}/>"
        return
    yield f"{begin}>"
    about = [(name, value) for name, value in (("type", case.kind), ("message", case.message)) if value]
    inner = escape(_legal(case.text), {"\r": "&#13;"})
    yield f"      <{case.outcome}{_attributes(about)}>{inner}</{case.outcome}>"
    yield "    </testcase>"


def _attributes(values: Sequence[tuple[str, object]]) -> str:
    return "".join(f" {name}={quoteattr(_legal(str(value)))}" for name, value in values)


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
