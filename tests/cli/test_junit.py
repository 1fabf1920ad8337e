"""JUnit XML: valid by its schema, and what was said comes out as it was, whatever characters it holds."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.cli.junit import Case, Suite, junit

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd")

GOLDEN = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1">
  <testsuite name="cards" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="cards.rules" name="one" time="0.250"/>
    <testcase classname="cards.rules" name="two">
      <failure type="CEP0207" message='a &lt; "b"'>1 &lt; 2
3 &gt; 2</failure>
    </testcase>
    <testcase classname="cards.rules" name="three">
      <skipped></skipped>
    </testcase>
  </testsuite>
  <testsuite name="wires" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="wires.rules" name="four">
      <error>\\x1b[31m</error>
    </testcase>
  </testsuite>
</testsuites>
"""


def test_suites_and_cases_are_counted() -> None:
    cards = (
        Case("one", "cards.rules", seconds=0.25),
        Case("two", "cards.rules", "failure", 'a < "b"', "1 < 2\n3 > 2", "CEP0207"),
        Case("three", "cards.rules", "skipped"),
    )
    text = junit(
        [Suite("cards", cards), Suite("wires", (Case("four", "wires.rules", "error", text="\x1b[31m"),))]
    )
    assert text == GOLDEN
    SCHEMA.validate(text)


texts = st.text(st.characters(codec=None), max_size=30)
cases = st.builds(
    Case, texts, texts, st.sampled_from(["passed", "failure", "error", "skipped"]), texts, texts, texts,
    st.none() | st.floats(0, 1e6),
)  # fmt: skip


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.builds(Suite, texts, st.lists(cases, max_size=3).map(tuple)), max_size=3))
def test_any_text_is_valid_xml_and_reads_back(suites: list[Suite]) -> None:
    text = junit(suites)
    SCHEMA.validate(text)
    read = ElementTree.fromstring(text.encode())
    for suite, node in zip(suites, read, strict=True):
        assert node.get("name") == plain(suite.name)
        for case, found in zip(suite.cases, node, strict=True):
            assert (found.get("name"), found.get("classname")) == (plain(case.name), plain(case.group))
            if case.outcome != "passed":
                (told,) = found
                assert (told.tag, told.get("message", ""), told.text or "") == (
                    case.outcome, plain(case.message), plain(case.text),
                )  # fmt: skip


def plain(text: str) -> str:
    """A text with what XML 1.0 (section 2.2) does not allow written as an escape."""
    return "".join(c if legal(ord(c)) else f"\\x{ord(c):02x}" for c in text)


def legal(code: int) -> bool:
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\ufffe", "\ud800"])
def test_what_xml_cannot_hold_is_told_in_ascii(char: str) -> None:
    assert char not in junit([Suite(char, (Case(char, char, "error", char, char, char),))])
