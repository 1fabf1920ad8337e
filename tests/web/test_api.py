"""The API over HTTP: what it answers fits its description, and what it does is done and written down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from served import AT, Client, port
from some_desk import SOME

from cep.web.api import events
from cep.web.api.known import OPERATIONS, PREFIX
from cep.web.api.openapi import description, schema_of
from cep.web.api.operation import Operation
from cep.web.api.routes import LONGEST_BODY

pytestmark = [pytest.mark.usefixtures("store"), pytest.mark.slow]

IDS = [one.id for one in SOME]
GONE = "0" * 64


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with port(tmp_path) as found:
        yield found


def silence(**changed: object) -> dict[str, object]:
    return {"matchers": ["rule = large"], "why": "a test", "length": "2 hours"} | changed


BODIES: dict[str, object] = {
    "acknowledge_episode": {"note": "looking"},
    "acknowledge_episodes": {"episodes": [IDS[0], IDS[2]]},
    "close_episode": {"verdict": "benign"},
    "close_episodes": {"episodes": [IDS[3]], "verdict": "true_positive", "note": "yes"},
    "add_silence": silence(),
    "redeliver_alert": {"receiver": "night"},
    "redeliver_alerts": {"alerts": IDS[:2]},
    "replay_deadletters": {"numbers": [1]},
    "erase": {"key": "card_id=c1"},
    "redeliver": {"receiver": "night", "filter": {"rule": "card_testing"}, "dry_run": True},
}
PATHS = {"id": IDS[0], "name": "desk", "number": "1", "pack": "fraud", "rule": "large"}
NOT_TRIED = {"rule", "reopen_episode", "reopen_episodes", "expire_silence", "expire_silences", "try_queries"}
"""Operations that need something that the desk of `some_desk` lacks: tests below make it, or test_queries."""


def path_of(one: Operation, **changed: str) -> str:
    return one.path.format(**(PATHS | changed))


def fits(answer: Any, one: Operation) -> None:
    """The answer fits the schema that the description has for the operation."""
    whole = description()
    answers = whole["paths"][PREFIX + one.path][one.method.lower()]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": whole["components"]}).validate(answer)


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if one.name not in NOT_TRIED], ids=lambda one: one.name
)
def test_an_answer_fits_its_description(client: Client, one: Operation) -> None:
    body = BODIES.get(one.name, {}) if one.method == "POST" else None
    answer = client.ask(one.method, AT + path_of(one), body, "DESK_TOKEN")
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    fits(answer.value, one)


def test_the_description_is_served_and_is_that_of_the_operations(client: Client) -> None:
    answer = client.get("/openapi.json")
    assert answer.value == description()
    assert answer.value["openapi"] == "3.1.0"
    described = {
        (method.upper(), path) for path, methods in answer.value["paths"].items() for method in methods
    }
    assert described == {
        ("POST", PREFIX + events.PATH),
        *((one.method, PREFIX + one.path) for one in OPERATIONS),
    }
    names = [one.name for one in OPERATIONS]
    assert len(set(names)) == len(names)
    for schema in answer.value["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    text = json.dumps(answer.value)
    for found in text.split('"$ref": "#/components/schemas/')[1:]:
        assert found.partition('"')[0] in answer.value["components"]["schemas"]


def test_a_body_that_fits_the_description_is_taken() -> None:
    """Bodies of the tests are tried against the description, so that it says what is taken."""
    whole = description()
    for one in OPERATIONS:
        if one.name in BODIES:
            sent = whole["paths"][PREFIX + one.path]["post"]["requestBody"]["content"]["application/json"]
            schema = {**sent["schema"], "components": whole["components"]}
            Draft202012Validator(schema).validate(BODIES[one.name])
            assert not Draft202012Validator(schema).is_valid({"nobody": 1})


def test_lists_go_on_where_they_ended(client: Client) -> None:
    ids: list[str] = []
    cursor = ""
    while True:
        value = client.get(f"/alerts?limit=1{cursor}").value
        ids += [one["alert"]["id"] for one in value["alerts"]]
        if value["next"] is None:
            break
        cursor = f"&cursor={value['next']}"
    assert ids == IDS[::-1]


def test_the_queue_is_worked_through(client: Client) -> None:
    done = client.post(f"/episodes/{IDS[1]}/acknowledge", {"note": "looking"})
    assert (done.value["id"], done.value["by"], done.value["state"]) == (IDS[0], "ann", "acknowledged")
    closed = client.post("/episodes/close", {"episodes": [IDS[0], IDS[2]], "verdict": "false_positive"})
    assert [one["verdict"] for one in closed.value["episodes"]] == ["false_positive"] * 2
    refused = client.post(f"/episodes/{IDS[0]}/acknowledge")
    assert (refused.status, refused.value["code"]) == (409, "CEP0967")
    assert client.post(f"/episodes/{IDS[0]}/reopen").value["state"] == "open"
    reopened = next(one for one in OPERATIONS if one.name == "reopen_episodes")
    answer = client.post("/episodes/reopen", {"episodes": [IDS[2]]})
    fits(answer.value, reopened)
    assert client.get("/episodes?state=closed").value["episodes"] == []
    acts = client.get("/audit", "DESK_TOKEN").value["acts"]
    assert [(one["who"], one["what"]) for one in acts] == [
        ("ann", "episode reopen"), ("ann", "episode reopen"), ("ann", "episode close"),
        ("ann", "episode acknowledge"),
    ]  # fmt: skip


def test_a_silence_holds_and_is_taken_back(client: Client) -> None:
    made = client.post("/silences", silence()).value
    assert (made["state"], made["who"], made["until"]) == ("active", "ann", "2027-01-15T10:00:00Z")
    expire, several = (
        next(one for one in OPERATIONS if one.name == name) for name in ("expire_silence", "expire_silences")
    )
    gone = client.ask("DELETE", f"{AT}/silences/{made['id']}", None, "DESK_TOKEN")
    fits(gone.value, expire)
    assert client.get("/silences").value == {"silences": []}
    assert len(client.get("/silences?ended=true").value["silences"]) == 1
    again = client.ask("DELETE", f"{AT}/silences/{made['id']}", None, "DESK_TOKEN")
    assert (again.status, again.value["code"]) == (404, "CEP0966")
    other = client.post("/silences", silence(begins="2027-01-16T00:00:00Z")).value
    fits(client.post("/silences/expire", {"silences": [other["id"]]}).value, several)


def test_a_rule_is_told_with_its_text(client: Client, tmp_path: Path) -> None:
    from cep.job.shipping.packs import store
    from cep.job.state_folder.folder import StateFolder
    from rules.packs import load_texts

    text = 'pack fraud version "1"\nstream payment {\n  at: timestamp\n  time at\n}\nrule large {\n'
    text += "  severity low\n  on payment\n}\n"
    pack = load_texts([("fraud.rules", text)]).pack
    assert pack is not None, [d.message for d in load_texts([("fraud.rules", text)]).diagnostics]
    folder = StateFolder(tmp_path / "state")
    folder.packs.mkdir()
    store(folder.packs, pack)
    one = next(one for one in OPERATIONS if one.name == "rule")
    answer = client.get(f"{path_of(one)}?revision={pack.revision}")
    fits(answer.value, one)
    assert answer.value["text"].startswith("rule large {")
    assert (answer.value["line"], answer.value["rule"]["alerts_day"]) == (6, 1)
    assert sum(hour["alerts"] for hour in answer.value["series"]) == 1
    for wrong in (
        f"{path_of(one)}?revision=00",
        "/rules/fraud/large",
        f"/rules/x/large?revision={pack.revision}",
    ):
        assert (client.get(wrong).status, client.get(wrong).value["code"]) == (404, "CEP0966")


def test_alerts_go_out_again_by_filter(client: Client) -> None:
    tried = client.post("/redeliver", BODIES["redeliver"]).value
    assert (tried["matched"], tried["redelivered"], tried["dry_run"]) == (3, 1, True)
    done = client.post("/redeliver", {"receiver": "night", "filter": {"rule": "card_testing"}}).value
    assert done["redelivered"] == 1
    states = client.get(f"/alerts/{IDS[0]}").value["deliveries"]
    assert [one["state"] for one in states] == ["pending", "pending"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/alerts?severity=loud", None, 400, "CEP0964"),
        ("GET", "/alerts?severty=high", None, 400, "CEP0964"),
        ("GET", "/alerts?rule=a&rule=b", None, 400, "CEP0964"),
        ("GET", "/alerts?limit=0", None, 400, "CEP0964"),
        ("GET", "/alerts?limit=1000", None, 400, "CEP0964"),
        ("GET", "/alerts?cursor=x", None, 400, "CEP0964"),
        ("GET", "/alerts?rule=%00", None, 400, "CEP0964"),
        ("GET", "/silences?ended=yes", None, 400, "CEP0964"),
        ("GET", f"/alerts/{GONE}", None, 404, "CEP0966"),
        ("GET", "/alerts/zz", None, 404, "CEP0966"),
        ("GET", "/nothing", None, 404, "CEP0966"),
        ("GET", "/receivers/desk", None, 404, "CEP0966"),
        ("DELETE", "/alerts", None, 405, "CEP0966"),
        ("GET", "/deadletters/77", None, 404, "CEP0966"),
        ("POST", "/receivers/nobody/resume", {}, 404, "CEP0966"),
        ("POST", "/redeliver", {"receiver": "nobody"}, 404, "CEP0966"),
        ("POST", "/redeliver", {}, 400, "CEP0964"),
        ("POST", "/alerts/erase", {}, 400, "CEP0964"),
        ("POST", "/alerts/erase", {"key": "card_id="}, 400, "CEP0964"),
        ("POST", "/alerts/erase", {"key": '{"card_id": null}'}, 400, "CEP0964"),
        ("POST", "/redeliver", {"receiver": "desk", "states": ["lost"]}, 400, "CEP0964"),
        ("POST", "/redeliver", {"receiver": "desk", "states": []}, 400, "CEP0964"),
        ("POST", "/redeliver", {"receiver": "desk", "filter": {"rules": "a"}}, 400, "CEP0964"),
        ("POST", "/redeliver", {"receiver": "desk", "dry_run": "yes"}, 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", {"verdict": "maybe"}, 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", {}, 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", [], 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", b"{", 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", b"\xff", 400, "CEP0964"),
        ("POST", f"/episodes/{IDS[0]}/close", b"[" * 100_000, 400, "CEP0964"),
        ("POST", f"/episodes/{GONE}/close", {"verdict": "benign"}, 404, "CEP0966"),
        ("POST", "/episodes/acknowledge", {"episodes": []}, 400, "CEP0964"),
        ("POST", f"/alerts/{IDS[3]}/redeliver", {"receiver": "night"}, 409, "CEP0967"),
        ("POST", "/silences", silence(length="long"), 400, "CEP0964"),
        ("POST", "/silences", silence(until="2027-01-16T00:00:00Z"), 400, "CEP0964"),
        ("POST", "/silences", silence(matchers=["severity ~ x"]), 400, "CEP0964"),
        ("POST", "/silences", b"x" * (LONGEST_BODY + 1), 413, "CEP0965"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_code_and_fix(
    client: Client, method: str, path: str, body: object, status: int, code: str
) -> None:
    answer = client.ask(method, AT + path, body, "DESK_TOKEN")
    assert (answer.status, answer.value["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    problem = description()["components"]["schemas"]["Problem"]
    Draft202012Validator(problem).validate(answer.value)
    assert answer.value["status"] == status
    assert answer.value["help"]
    assert client.get("/audit", "DESK_TOKEN").value["acts"] == []


def test_an_erased_alert_is_gone(client: Client) -> None:
    before = client.post("/alerts/erase", {"key": "card_id=c1", "dry_run": True}).value
    done = client.post("/alerts/erase", {"key": "card_id=c1"}).value
    assert before == done | {"dry_run": True}
    assert (done["alerts"], done["episodes"], done["left"]) == (2, 1, [])
    for path in (
        f"/alerts/{IDS[0]}",
        f"/alerts/{IDS[1][:8]}",
        f"/alerts/{IDS[0]}/events",
        f"/episodes/{IDS[0]}",
    ):
        answer = client.get(path)
        assert (answer.status, answer.value["code"]) == (410, "CEP0969")
    assert client.post(f"/alerts/{IDS[0]}/redeliver").status == 410
    assert [one["alert"]["id"] for one in client.get("/alerts").value["alerts"]] == [IDS[3], IDS[2]]
    assert [one["id"] for one in client.get("/episodes").value["episodes"]] == [IDS[2], IDS[3]]
    (act,) = client.get("/audit", "DESK_TOKEN").value["acts"]
    assert (act["who"], act["what"], act["details"]["alerts"]) == ("ann", "erase", 2)
    assert "c1" not in json.dumps(act)


def test_a_chunked_body_is_limited_too(client: Client) -> None:
    def chunks() -> Iterator[bytes]:
        yield from (b"x" * 65_536 for _ in range(5))

    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    headers = {"authorization": "Bearer desk-0123456789-0123456789"}
    connection.request("POST", f"{AT}/silences", chunks(), headers, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_job_that_starts_says_so(tmp_path: Path) -> None:
    with port(tmp_path, starting=True) as client:
        answer = client.get("/status")
        assert (answer.status, answer.value["code"]) == (503, "CEP0968")
        assert client.get("/openapi.json").status == 200


def test_two_types_of_one_name_have_no_schema_in_common() -> None:
    components: dict[str, object] = {}
    schema_of(make_dataclass("Told", [("number", int)]), components)
    schema_of(make_dataclass("Told", [("number", int)]), components)
    with pytest.raises(AssertionError, match="two types are called Told"):
        schema_of(make_dataclass("Told", [("text", str)]), components)
