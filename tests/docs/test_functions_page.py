"""docs/functions.md is what the tables of the language say, and its examples give what they say."""

from __future__ import annotations

import pytest
from rule_pages import page

from alerts.notation import json_value
from cep.inprocess.timelines import engine_of
from cep.packs.unsupported import unsupported
from rules import typed
from rules.functions import FUNCTIONS
from rules.manual import functions_page
from rules.packs import load_texts
from rules.testing import result_text, run_test

PACK = """pack p version "1"
stream s { id_: string  at: timestamp  country: string?  id id_  time at }
"""
EXAMPLES = [example for signature in FUNCTIONS.values() for example in signature.examples]


def test_the_page_is_current() -> None:
    written = functions_page()
    assert page("functions.md") == written, "run `python -m rules.manual docs/functions.md`"


@pytest.mark.parametrize(("call", "value"), EXAMPLES, ids=lambda text: text)
def test_an_example_gives_what_the_page_says(call: str, value: str) -> None:
    rule = f"rule r {{ on s emit x = {call} }}"
    pack = load_texts([("s", f'{PACK}{rule}\ntest r "x" {{ at 1s s {{}} expect {{ x: {value} }} }}')]).need()
    if not unsupported(pack):
        result = run_test(pack, pack.tests[0], engine_of(pack), json_value)
        assert result.passed, result_text(result, json_value)
        return
    found = pack.rules[0].emit[0].value  # constant expressions of decimals are evaluated while they are read
    assert isinstance(found, typed.Literal)
    expected = pack.tests[0].timeline[-1]
    assert isinstance(expected, typed.Expected)
    assert dict(expected.values)["x"] == found.value


def test_every_function_has_an_example() -> None:
    assert all(signature.examples for signature in FUNCTIONS.values())
