"""docs/language.md is true: its rules are loaded, their tests run, its tables compared with the code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest
from rule_pages import DOCS, Block, blocks, page, table

from alerts.notation import json_value
from cep.inprocess.timelines import engine_of
from cep.packs.unsupported import TITLES as NOT_EXECUTED
from cep.packs.unsupported import unsupported
from rules.checks import REQUIRED
from rules.codes import LINTS, TITLES
from rules.functions import AGGREGATES, FUNCTIONS, NAVIGATION, OVER_WINDOWS, WINDOW_AGGREGATES
from rules.grammar.boundaries import CLAUSES
from rules.grammar.window import WINDOWS as OPENING_WINDOWS
from rules.packs import Loaded, load_texts
from rules.resolve.rules import SEVERITIES
from rules.testing import result_text, run_test
from rules.typed import Pack
from rules.types import Scalar

TEXT = page("language.md")
HEAD, *EXAMPLES = [block for block in blocks(TEXT) if block.language == "rules"]
"""The pack's header and streams, which all other blocks stand after."""
UNUSED = "CEP0303"
EVENT = 'at 0s payment { payment_id: "p1", card_id: "c1", amount: 12.5 }'


def loaded(text: str) -> Loaded:
    """The pack of the page with a text after its head."""
    return load_texts([("language.md", HEAD.text + text)])


def runnable(text: str) -> Pack:
    """That pack, which must load without a finding and be one that the engine runs."""
    found = loaded(text)
    pack = found.need()
    reported = [d for d in (*found.diagnostics, *unsupported(pack)) if d.code != UNUSED and d.level != "hint"]
    assert [(d.code, d.message) for d in reported] == []
    return pack


def run_tests(pack: Pack) -> int:
    """Run all tests of a pack as `cep test` does; how many there were."""
    for test in pack.tests:
        result = run_test(pack, test, engine_of(pack), json_value)
        assert result.passed, result_text(result, json_value)
    return len(pack.tests)


def emitted(rule: str, events: str, value: str) -> None:
    """Fail unless the rule, which emits `x`, gives that value for the events."""
    run_tests(runnable(f'{rule}\ntest r "x" {{ {events}\n expect {{ x: {value} }} }}'))


def named(block: Block) -> str:
    return f"line {block.line}"


@pytest.mark.parametrize("block", [b for b in EXAMPLES if not b.words], ids=named)
def test_every_example_loads_and_its_tests_pass(block: Block) -> None:
    assert run_tests(runnable(block.text)) == block.text.count("\ntest ")


@pytest.mark.parametrize("block", [b for b in EXAMPLES if b.words], ids=named)
def test_every_mistake_gives_its_code_and_no_other(block: Block) -> None:
    found = loaded(block.text)
    reported = [d.code for d in found.diagnostics if d.level == "error"]
    if found.pack is not None:  # right, and not executed yet: said at each place
        reported = sorted({d.code for d in unsupported(found.pack)})
    assert reported == [block.words]


def test_every_function_is_named() -> None:
    text = TEXT[TEXT.index("### Functions") :]
    assert re.findall(r"`(\w+)`", text[: text.index(".")]) == list(FUNCTIONS)


@pytest.mark.parametrize(
    "row",
    [*table(TEXT, "| expression | gives | because"), *table(TEXT, "| expression | gives, where")],
    ids=str,
)
def test_an_expression_gives_what_the_table_says(row: tuple[str, ...]) -> None:
    emitted(f"rule r {{ on payment  emit x = {row[0]} }}", EVENT, row[1])


STEPS = table(TEXT, "| write | gives |")
THREE = "\n".join(
    f'at {n}s payment {{ card_id: "c1", amount: {amount}, country: "{country}" }}'
    for n, (amount, country) in enumerate([(1, "DE"), (2, "DE"), (6, "FR")])
)


@pytest.mark.parametrize(
    ("call", "value"), [f for row in STEPS for f in re.findall(r"`([^`]+)` is `([^`]+)`", row[1])]
)
def test_a_call_over_a_step_gives_what_the_table_says(call: str, value: str) -> None:
    emitted(f"rule r {{ by card_id  match p: payment{{3}}  within 1h  emit x = {call} }}", THREE, value)


def test_the_table_of_calls_over_steps_is_that_of_the_code() -> None:
    shown = {*(a.shown for a in AGGREGATES.values()), *NAVIGATION.values()} - {NAVIGATION["prev"]}
    assert {row[0] for row in STEPS} == shown
    assert "`prev(field)` and `prev(field, n)`" in TEXT


WINDOWS = table(TEXT, "| window |")
CALLS = [row[0] for row in table(TEXT, "| call |")]


@pytest.mark.parametrize("window", [row[0] for row in WINDOWS])
@pytest.mark.parametrize("call", CALLS)
def test_every_call_may_stand_in_every_window(window: str, call: str) -> None:
    wanted = call.replace("aggregate, n", "avg(field), 3").replace("aggregate", "avg(field)")
    wanted = wanted.replace("field", "amount")
    text = f"rule r {{ by card_id  over payment {window}  having {wanted} is not null  emit x = {wanted} }}"
    found = [d.code for d in loaded(text).diagnostics if d.level == "error"]
    nowhere = call.startswith("ago") and window.startswith(("session", "last"))
    assert found == (["CEP0421"] * 2 if nowhere else [])


def test_the_table_of_calls_over_windows_is_that_of_the_code() -> None:
    assert [*(a.shown for a in WINDOW_AGGREGATES.values()), *OVER_WINDOWS.values()] == CALLS
    assert [row[0].split()[0] for row in WINDOWS] == [word.split()[0] for word in OPENING_WINDOWS]


@pytest.mark.parametrize("row", STEPS, ids=lambda row: row[0])
def test_the_table_says_what_may_stand_in_a_condition(row: tuple[str, ...]) -> None:
    call = re.findall(r"`([^`]+)` is", row[1])[0]
    found = loaded(
        f"rule r {{ by card_id  match p: payment{{3}} -> q: payment[{call} is not null]  within 1h }}"
    )
    codes = [d.code for d in found.diagnostics if d.level == "error"]
    if found.pack is not None:
        codes += [d.code for d in unsupported(found.pack)]
    assert codes == {"yes": [], "only in `emit`": ["CEP0225"]}[row[2]]


def test_the_table_of_types_is_that_of_the_code() -> None:
    types = {str(s) for s in Scalar} - {"null"} | {"list<T>", "{ a: T  b: T? }"}
    assert {row[0] for row in table(TEXT, "| type |")} == types


def test_every_clause_is_named() -> None:
    executed = [row[0] for row in (*table(TEXT, "| body |"), *table(TEXT, "| clause | says"))]
    refused = [row[0] for row in refusals()]
    assert set(CLAUSES) <= set(re.findall(r"\w+", " ".join(executed + refused)))


def test_every_severity_is_named() -> None:
    (row,) = [row for row in table(TEXT, "| clause | says") if row[0] == "severity s"]
    assert re.findall(r"`(\w+)`", row[1]) == list(SEVERITIES)


@pytest.mark.parametrize("row", table(TEXT, "| clause | ends"), ids=lambda row: row[0])
def test_skip_does_what_the_table_says(row: tuple[str, ...]) -> None:
    clause = re.findall(r"skip [\w ]+", row[0])[0]
    expected = "\n".join(
        f'expect at {b}s {{ events: {{ a: "p{a}", b: "p{b}" }} }}'
        for a, b in re.findall(r"(\d)-(\d)", row[2])
    )
    given = "\n".join(f'at {n}s payment {{ payment_id: "p{n}", card_id: "c1" }}' for n in range(1, 5))
    rule = f"rule r {{ by card_id  match a: payment -> b: payment  within 1h  {clause} }}"
    assert run_tests(runnable(f'{rule}\ntest r "skip" {{ {given}\n{expected} }}')) == 1


def pairs_of_runs(amounts: list[int], ends: Callable[[int, int, int], bool]) -> list[str]:
    """The pairs of equal amounts, raised at the second; each ends the runs of which `ends` says so.

    It is asked with the first place of a run, and the first and last of the match.
    """
    found: list[str] = []
    runs: list[int] = []
    for now, amount in enumerate(amounts, 1):
        runs.append(now)
        for first in [run for run in runs if run < now and amounts[run - 1] == amount]:
            if first in runs:
                found.append(f"{first}-{now}")
                runs = [run for run in runs if not ends(run, first, now)]
    return found


def pairs_of_a_table(amounts: list[int]) -> list[str]:
    """Those that SQL finds: from each row the first equal one, on behind the last row of a match."""
    found, start = [], 1
    while start <= len(amounts):
        equal = [row for row in range(start + 1, len(amounts) + 1) if amounts[row - 1] == amounts[start - 1]]
        found += [f"{start}-{row}" for row in equal[:1]]
        start = equal[0] + 1 if equal else start + 1
    return found


def test_the_readings_of_skip_differ_as_the_page_says() -> None:
    (example,) = [block for block in EXAMPLES if "rule same_amount" in block.text]
    amounts = [int(amount) for amount in re.findall(r"amount: (\d+)", example.text)]
    ours, overlapping, sql = [row[1].split(", ") for row in table(TEXT, "| reading |")]
    assert ours == pairs_of_runs(amounts, lambda run, first, last: first <= run <= last)
    assert overlapping == pairs_of_runs(amounts, lambda run, _, last: run <= last)
    assert sql == pairs_of_a_table(amounts)
    assert len({tuple(ours), tuple(overlapping), tuple(sql)}) == 3
    raised = re.findall(r'expect at \dm \{ events: \{ a: "p(\d)", b: "p(\d)" \} \}', example.text)
    assert [f"{a}-{b}" for a, b in raised] == ours


# --- what is refused


@cache
def refusals() -> list[tuple[str, ...]]:
    """Example and code of every construct that is not executed yet."""
    return [row[1:] for row in table(TEXT, "| construct |")]


@pytest.mark.parametrize("row", refusals(), ids=lambda row: row[0])
def test_what_is_not_executed_is_refused_with_its_code(row: tuple[str, ...]) -> None:
    example, code = row
    block = re.match(r"stream|table|queries", example)
    found = loaded(f"{example}\nrule r {{ on payment }}" if block else f"rule r {{ by card_id  {example} }}")
    reported = [d for d in found.diagnostics if d.level == "error"]
    if found.pack is not None:
        reported += unsupported(found.pack)
    assert [d.code for d in reported] == [code]
    assert re.search("not (supported|executed) yet", reported[0].message)


def test_every_refusal_of_the_code_is_in_the_table() -> None:
    read = {code for code, title in TITLES.items() if "not supported yet" in title}
    executed_later = {code for code, title in NOT_EXECUTED.items() if "not executed yet" in title}
    assert {row[1] for row in refusals()} == read | executed_later


def test_links_lead_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    }
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXT):
        file, _, anchor = target.partition("#")
        assert not file or (DOCS / file).exists(), target
        assert file or anchor in anchors, target


def test_the_language_page_lists_every_lint_with_its_level() -> None:
    rows = table(page("language.md"), "| code | level | finds")
    assert [re.match(r"\[(\w+)\]", code)[1] for code, _, _ in rows] == list(LINTS)
    assert {code[1:8] for code, level, _ in rows if level == "off"} == set(REQUIRED)
