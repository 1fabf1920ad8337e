"""Reading a pack needs little: commands that only read rules must start in an instant."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from writing import STREAMS, matching, on

HEAVY = {
    "pyarrow",
    "numpy",
    "pandas",
    "numba",
    "pyspark",
    "sqlalchemy",
    "httpx",
    "pydantic",
    "whoosh",
    "starlette",
}
SCRIPT = """
import json, sys
from rules.packs import load_texts
assert load_texts([("a", sys.stdin.read())]).pack is not None
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules} | set(sys.modules))))
"""


def imported(text: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=text, text=True, capture_output=True, check=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.parametrize("rule", [matching("a: payment -> b: login"), on('title matches "acme"')])
def test_reading_a_pack_imports_nothing_heavy(rule: str) -> None:
    assert not imported(STREAMS + rule) & HEAVY


@pytest.mark.slow
def test_the_percolator_is_imported_only_where_texts_are_searched() -> None:
    plain = STREAMS.replace("body: text english", "body: text")
    assert "percolator.query.parse" not in imported(plain + on("n > 1"))
    assert "percolator.query.parse" in imported(plain + on('body matches "acme"'))


def test_importing_the_front_end_builds_no_grammar() -> None:
    script = "import rules.packs, rules.grammar as g, rules.resolve; print(g.rule.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "loaded"),
    [(matching("a: payment -> b: login"), False), (matching("a: payment ->"), True), ("ruel r { }", True)],
)
def test_what_explains_an_error_is_loaded_where_there_is_one(rule: str, loaded: bool) -> None:
    script = SCRIPT.replace("is not None", f"is {'' if loaded else 'not '}None")
    done = subprocess.run(
        [sys.executable, "-c", script], input=STREAMS + rule, text=True, capture_output=True, check=True
    )
    assert ("rules.grammar.explain" in json.loads(done.stdout)) is loaded
