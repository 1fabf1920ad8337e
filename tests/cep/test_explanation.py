"""`cep explain RULE` tells something of every pattern, and of it what the tables say."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pydot
import pytest
from cases import read
from event_tables import tables
from random_streams import Arrival

from cep.cli.main import main
from cep.explanation.automaton_graph import MATCH, Graph, dot, graph, mermaid
from cep.explanation.explanation_text import as_dict, text
from cep.explanation.rule_cost import Cost
from cep.explanation.rule_facts import Facts, facts
from cep.explanation.wording import bytes_of, duration
from cep.inprocess.session import Session
from cep.operators.patterns.runtime.kinds import PACKED
from cep.operators.patterns.runtime.packed_runs import PackedRuns
from cep.packs.compile import compile_plan
from cep.shard.advance import MatchOptions
from rules.packs import load_texts
from rules.typed import Match

PACK = """pack cards version "1"

stream payment {
  payment_id: string
  card:       string
  at:         timestamp
  amount:     double
  country:    string?
  id          payment_id
  time        at
}

stream refund { refund_id: string  of_card: string  at: timestamp  id refund_id  time at }

rule testing {
  by       payment.card = refund.of_card
  match    probe: payment[amount < 2]{2,4}
        -> not refund
        => big: payment[amount > 20 * avg(probe.amount) and country != "DE"] gap 5 minutes
  within   30 minutes
  emit     n = count(probe)
  suppress 1 hour
}

rule large { on payment[amount > 500 and country is null] }

rule quiet { by card  match p: payment[amount > 100] -> absent payment for 4 hours }

rule busy { by card  over payment[amount > 1] sliding 5 minutes  having count() > 100 }
"""
TESTING = """\
rule testing, pack cards 1, structure {structure}

  key of payment   card
  key of refund    of_card
  within           less than 30 minutes from the first event to the last
  gap              big: less than 5 minutes after the event before
  limit            1,000 runs of a key (the default); beyond it the oldest is dropped and counted
  skip             past last: a match ends the runs that began from its first event to its last
  suppress         1 hour by the key

pattern
  first: `probe`: payment, 2 to 4 times, as many as possible
  later, not: refund
  as the very next event: `big`: payment, less than 5 minutes after the event before

conditions
  by column, before the shuffle
    probe: amount < 2
    big: country != "DE"
  inside, over what the run keeps
    big: amount > 20 * avg(probe.amount)
"""


def of(name: str, pack: str = PACK) -> tuple[Facts, Graph | None]:
    checked = load_texts([("cards.rules", pack)]).need()
    (rule,) = (rule for rule in checked.rules if rule.name == name)
    told = facts(checked, rule)
    if told.tables is None or not isinstance(rule.body, Match):
        return told, None
    return told, graph(told.tables.automaton, rule.body)


def test_a_pattern_is_told_section_by_section() -> None:
    told, drawn = of("testing")
    assert text(told, drawn).startswith(TESTING.format(structure=told.rule.structure))
    assert set(told.registers) >= {"sum(probe.amount)"}
    assert told.state is not None
    assert told.state.events == 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("large", ("country is null", "nothing: an event is decided alone")),
        ("quiet", ("4 hours without payment", "absent for 4 hours", "a match takes at most 1 event\n")),
        ("busy", ("the 5 minutes up to every event", "having: count() > 100")),
    ],
)
def test_other_rules_are_told_too(name: str, said: tuple[str, ...]) -> None:
    told = text(*of(name))
    for part in said:
        assert part in told


@pytest.mark.slow
def test_every_pattern_has_a_graph_whose_states_can_all_be_reached() -> None:
    seen = 0
    for given in read("cases.jsonl"):
        loaded = load_texts([("case.rules", given.case.rules)])
        for rule in [] if loaded.pack is None else loaded.pack.rules:
            assert loaded.pack is not None
            told = facts(loaded.pack, rule)
            if told.tables is None or not isinstance(rule.body, Match):
                continue
            drawn = graph(told.tables.automaton, rule.body)
            names = [name for name, _ in drawn.nodes]
            reached = {"s0", *(arrow.target for arrow in drawn.arrows)}
            assert reached == set(names)
            assert {arrow.source for arrow in drawn.arrows} == set(names) - {MATCH}
            (parsed,) = pydot.graph_from_dot_data(dot(drawn, rule.name)) or ()
            assert len(parsed.get_edges()) == len(drawn.arrows)
            assert {node.get_name() for node in parsed.get_nodes()} >= set(names)
            assert mermaid(drawn, rule.name).count("\n") == 4 + len(names) + len(drawn.arrows)
            assert as_dict(told, drawn)["structure"] == rule.structure
            assert rule.name in text(told, drawn)
            seen += 1
    assert seen > 100


@pytest.mark.slow
def test_labels_keep_their_text_in_every_notation() -> None:
    pack = PACK.replace('country != "DE"', 'country =~ "a\\\\\\\\|<b>`#"')
    _, drawn = of("testing", pack)
    assert drawn is not None
    (parsed,) = pydot.graph_from_dot_data(dot(drawn, "testing")) or ()
    assert len(parsed.get_edges()) == len(drawn.arrows)
    assert "#lt;b#gt;#96;#35;#quot;" in mermaid(drawn, "testing")


def test_words_for_durations_and_sizes() -> None:
    assert [duration(n * 10**9) for n in (0, 1, 90, 3600, 8 * 86_400)] == [
        "no time", "1 second", "1 minute 30 seconds", "1 hour", "1 week 1 day",
    ]  # fmt: skip
    assert [bytes_of(n) for n in (184, 1_300_000, 2_000)] == ["184 bytes", "1.3 MB", "2 kB"]


def test_the_command_finds_the_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cards.rules").write_text(PACK)
    assert main(["explain", "quiet", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("rule quiet, pack cards 1")
    assert main(["explain", "quiet", str(tmp_path), "--graph", "dot"]) == 0
    assert capsys.readouterr().out.startswith("digraph rule {")
    assert main(["explain", "large", str(tmp_path), "--graph", "mermaid"]) == 2
    assert "rule `large` has no automaton" in capsys.readouterr().err
    assert main(["explain", "quite", str(tmp_path)]) == 2
    assert "did you mean `quiet`?" in capsys.readouterr().err
    (tmp_path / "cards.rules").write_text(PACK.replace("card:       string", "card:       strin"))
    assert main(["explain", "quiet", str(tmp_path)]) == 1
    assert "CEP0224" in capsys.readouterr().err


def test_errors_of_other_packs_do_not_answer_for_a_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cards.rules").write_text(PACK)
    (tmp_path / "other.rules").write_text('pack other version "1"\nrule broken { on nothing }\n')
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "quiet"]) == 0
    assert capsys.readouterr().out.startswith("rule quiet, pack cards 1")
    assert main(["explain", "absent"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: there is no rule `absent` in this folder\n")
    assert "`cep check` shows the errors" in told
    assert main(["explain", "brokn"]) == 2
    assert "did you mean `broken`?" in capsys.readouterr().err
    assert main(["explain", "broken"]) == 1
    assert "CEP0201" in capsys.readouterr().err


STRICT = """pack p version "1"
stream e { id_: string  at: timestamp  k: string  v: double  w: double  id id_  time at }
"""


def costs(*rules: str) -> list[Cost]:
    text_ = STRICT + "".join(f"rule r{n} {{ by k match {rule} within 1h }}\n" for n, rule in enumerate(rules))
    checked = load_texts([("p.rules", text_)]).need()
    found = [facts(checked, rule).cost for rule in checked.rules]
    assert None not in found
    return [one for one in found if one is not None]


def test_rules_that_are_kept_together_share_their_cost() -> None:
    rules = [f"a: e[v < {n}] => b: e[v > a.v + {n}] => c: e[v > b.v]" for n in range(10)]
    *together, relaxed = costs(*rules, "a: e[v < 3] -> b: e[v > a.v]")
    (alone,) = costs(rules[0])
    assert {(one.together, one.bytes) for one in together} == {(10, alone.bytes)}
    # The key and an instant, two events of four numbers, and two sets.
    assert alone.bytes == 8 * (2 + 2 * 4 + 2)
    assert alone.operations == 5 + 3
    # Of ten conditions two ends and four between are asked; the one that all have is asked once.
    assert {one.operations for one in together} == {(6 * 5 + 3) / 10}
    assert (relaxed.together, relaxed.operations, relaxed.every_event) == (0, 3, False)
    assert [one.shared for one in (*together, relaxed)] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1]


@pytest.mark.slow
def test_the_bytes_of_a_key_are_those_that_a_shard_keeps() -> None:
    rules = [f"a: e[v < {n}] => b: e[w == a.w] => c: e => d: e[v > {n}]" for n in range(70)]
    plan = compile_plan(
        [load_texts([("p.rules", STRICT + "".join(
            f"rule r{n} {{ by k match {rule} within 1h }}\n" for n, rule in enumerate(rules)
        ))]).need()]
    )  # fmt: skip
    session = Session(plan, options=MatchOptions(compiled=False))
    event = {"id_": "1", "at": 1, "k": "a", "v": -1.0, "w": 1.0}
    session.feed(tables(plan.packs[0], [Arrival("e", "p", "f", event)]), 1)
    (memory,) = session.memories.values()
    (space,) = memory.spaces.values()
    (segment,) = space.segments
    rows = segment.content.rows[PACKED]
    assert isinstance(rows, PackedRuns)
    assert {8 * rows.size} == {one.bytes for one in costs(*rules)}


def test_the_cost_is_told_beside_rules_that_do_not_run_yet() -> None:
    said = text(*of("testing"))
    assert (
        "cost\n  looks at every event of payment and refund under its key\n  2 predicates by column\n" in said
    )
    assert "  runs are kept one by one: " in said
    told, drawn = of("testing")
    assert told.cost is not None
    assert as_dict(told, drawn)["cost"] == asdict(told.cost)
    assert of("busy")[0].cost is None
    assert of("large")[0].cost is None
