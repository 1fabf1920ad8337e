"""The page as clients without a browser meet it: who may what, its stream, headers, files of others."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import html
import http.client
import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served_desk import SECRETS, ServedDesk, alert, prepared, run_also, served, with_queries
from starlette.routing import Route

from alerts.outbox import StoredAlert
from alerts.raised_columns import key_text
from cep.job.state_folder import letter_replays
from cep.web.access.policy import Access
from cep.web.desk.acting import Actor
from cep.web.desk.erasing import erase
from cep.web.page.app import ACTS, READING_ACTS, STREAM, VIEWS, PageSettings, page
from cep.web.page.forms import query_of
from cep.web.page.headers import POLICY
from cep.web.page.live import Pace
from rules.packs import load

pytestmark = [pytest.mark.usefixtures("store"), pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CSRF = re.compile('name="csrf" value="([^"]+)"')


def client(place: ServedDesk, **given: Any) -> httpx.Client:
    return httpx.Client(base_url=place.address, trust_env=False, timeout=30, **given)


def signed_in(place: ServedDesk, who: str) -> tuple[httpx.Client, str]:
    """A client that signed in, and what its forms carry."""
    found = client(place)
    asked = CSRF.search(found.get("/sign-in").text)
    assert asked
    token = {"csrf": asked[1], "token": SECRETS[who], "next": "/silences"}
    assert found.post("/sign-in", data=token).headers["location"] == "/silences"
    carried = CSRF.search(found.get("/silences").text)
    assert carried
    return found, carried[1]


def test_every_address_asks_for_what_it_should(place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    """On this machine everybody reads; only a token that may operate, with the session's text, acts.
    Elsewhere one reads with a token that may read."""
    named = {
        "id": work["failed"].alert["id"], "pack": "fraud", "rule": "velocity", "number": "1", "name": "desk",
        "does": "reopen",
    }  # fmt: skip
    anna, anna_csrf = signed_in(place, "ANNA")
    rita, rita_csrf = signed_in(place, "RITA")
    dora, dora_csrf = signed_in(place, "DORA")
    nobody = client(place)
    shop = SECRETS["SHOP"]
    for token, status in (
        (shop, 403),
        ("wrong-0123456789-0123456789", 401),
        ("", 401),
        ("é\u202e" * 999, 401),
    ):
        csrf = CSRF.search(nobody.get("/sign-in").text)
        assert csrf
        answer = nobody.post("/sign-in", data={"csrf": csrf[1], "token": token, "next": "/"})
        assert answer.status_code == status
        assert token[:20] not in answer.text or not token
        assert nobody.post("/silences", data={"csrf": csrf[1]}).status_code == 401
    for path, _ in VIEWS:
        assert nobody.get(path.format(**named)).status_code == 200, path
        elsewhere = nobody.get(path.format(**named), headers={"host": "desk.example"})
        assert (elsewhere.status_code, elsewhere.headers["location"][:8]) == (303, "/sign-in"), path
        for token, status in (("RITA", 200), ("ANNA", 200), ("DORA", 200), ("SHOP", 403)):
            shown = {"host": "desk.example", "authorization": f"Bearer {SECRETS.get(token, token)}"}
            assert nobody.get(path.format(**named), headers=shown).status_code == status, (path, token)
    assert nobody.get(STREAM, headers={"host": "desk.example"}).status_code == 303
    for path, _ in ACTS:
        address = path.format(**named)
        assert nobody.post(address, data={"csrf": anna_csrf}).status_code == 401, path
        assert rita.post(address, data={"csrf": rita_csrf}).status_code == 403, path
        assert dora.post(address, data={"csrf": dora_csrf}).status_code == 403, path
        bearer = {"authorization": f"Bearer {SECRETS['ANNA']}"}
        assert nobody.post(address, headers=bearer).status_code == 403, "a token alone sends no form"
        for wrong in ({}, {"csrf": ""}, {"csrf": rita_csrf}, {"csrf": "é"}):
            assert anna.post(address, data=wrong).status_code == 403, path
        assert (
            anna.post(address, data={"csrf": anna_csrf, "next": "//evil.example"}).headers["location"] == "/"
        )
    assert place.outbox.silences(0) == []
    assert anna.post("/sign-out", data={"csrf": anna_csrf}).status_code == 303
    assert anna.post("/silences", data={"csrf": anna_csrf}).status_code == 401


def test_an_erased_alert_has_a_page_that_says_so(place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    gone = work["failed"].alert
    key = json.dumps(gone["key"])
    assert html.escape(query_of({"key": key_text(gone["key"])})) in client(place).get("/").text  # type: ignore[arg-type]
    done = erase(place.desk, key, Actor("anna", place.now[0]), dry_run=False, rest=lambda _: None)
    assert done.alerts
    answer = client(place).get(f"/alerts/{gone['id']}")
    assert answer.status_code == 410
    assert "This alert was erased" in answer.text
    assert "CEP0969" in answer.text
    for path in ("/", "/alerts", "/episodes", "/rules", "/receivers", "/alerts.jsonl", "/alerts.csv"):
        shown = client(place).get(path)
        assert shown.status_code == 200, path
        assert str(gone["id"]) not in shown.text
        assert all(str(one) not in shown.text for one in gone["key"].values())  # type: ignore[attr-defined]


def test_no_address_is_beside_the_tables(place: ServedDesk) -> None:
    app = page(place.desk, Access.of(place.job, place.desk.environ, "127.0.0.1"), PageSettings("k"))
    told = [path for path, _ in (*VIEWS, *ACTS)]
    told += [path for path, _ in READING_ACTS]
    beside = ["/static/{digest}/{name:path}", "/sign-in", "/sign-in", "/sign-out", STREAM]
    assert sorted(one.path for one in app.routes if isinstance(one, Route)) == sorted(told + beside)
    assert len(app.routes) == len(told + beside)


def test_the_cookie_is_for_the_page_alone(place: ServedDesk) -> None:
    found = client(place)
    asked = CSRF.search(found.get("/sign-in").text)
    assert asked
    answer = found.post("/sign-in", data={"csrf": asked[1], "token": SECRETS["ANNA"]})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert SECRETS["ANNA"] not in cookie
    forged = client(place, cookies={"cep_session": "eyJuYW1lIjoiYW5uYSJ9.x.y"})
    assert forged.post("/silences", data={"csrf": "x"}).status_code == 401
    for _ in range(12):
        wrong = found.post("/sign-in", data={"csrf": found_csrf(found), "token": "no"})
    assert wrong.status_code == 429


def found_csrf(of: httpx.Client) -> str:
    asked = CSRF.search(of.get("/sign-in").text)
    assert asked
    return asked[1]


def test_every_answer_has_the_policy(place: ServedDesk) -> None:
    for path in (
        "/",
        "/alerts",
        "/nothing",
        "/alerts/000000",
        "/sign-in",
        "/alerts.csv",
        "/static/0/page.css",
    ):
        answer = client(place).get(path)
        assert answer.headers["content-security-policy"] == POLICY
        assert "style=" not in answer.text
        assert not re.search(r"<script(?! src=)|\son\w+=", answer.text)
    sheet = re.search(r'/static/[^"]*page\.css', client(place).get("/").text)
    assert sheet
    assert "immutable" in client(place).get(sheet[0]).headers["cache-control"]


class Stream:
    """An open stream, read event by event."""

    def __init__(self, place: ServedDesk, query: str = "", **headers: str) -> None:
        self.connection = http.client.HTTPConnection(place.address.removeprefix("http://"), timeout=30)
        self.connection.request("GET", f"/alerts/stream{query}", headers=headers)
        self.response = self.connection.getresponse()

    def events(self) -> Iterator[dict[str, str]]:
        found: dict[str, str] = {}
        while line := self.response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name:
                found[name] = value
            elif line == "\n" and found:
                yield found
                found = {}

    def numbers(self, count: int) -> list[int]:
        """The ids of the next so many events."""
        every = (int(one["id"]) for one in self.events() if "id" in one)
        return [next(every) for _ in range(count)]


def test_a_stream_is_resumed_without_gap_or_double(place: ServedDesk) -> None:
    first = place.raise_alerts([alert(n) for n in range(40)])
    numbers = [one.number for one in first]
    assert Stream(place, "?after=0").numbers(40) == numbers
    half = numbers[19]
    resumed = Stream(place, "?after=0", **{"last-event-id": str(half)})
    assert resumed.numbers(20) == numbers[20:]
    more = [one.number for one in place.raise_alerts([alert(n) for n in range(100, 130)])]
    assert resumed.numbers(30) == more
    filtered = Stream(place, "?after=0&key=card_id%3Dc7")
    assert filtered.numbers(1) == [numbers[7]]
    place.raise_alerts([alert(207, key={"card_id": "c7"}), alert(208)])
    assert len(filtered.numbers(1)) == 1
    ahead = Stream(place, f"?after={more[-1] + 2}")  # told by a page that read on before the stream began
    new = place.raise_alerts([alert(300)])
    assert ahead.numbers(1) == [new[0].number]


def test_who_lacks_too_much_is_told_so(place: ServedDesk) -> None:
    place.raise_alerts([alert(n) for n in range(300)])
    found = list(Stream(place, "?after=0").events())
    assert [one["event"] for one in found if "event" in one] == ["alert"] * 250 + ["missed"]
    assert found[-1]["data"] == "50"


def test_a_silent_stream_says_that_it_is_there(tmp_path: Path) -> None:
    with served(prepared(tmp_path), pace=Pace(0.01, 0.05)) as place:
        lines = Stream(place).response
        assert lines.readline() == b"retry: 1000\n"
        assert [lines.readline() for _ in range(3)][1:] == [b": nothing new\n", b"\n"]


def test_streams_end_with_the_server(tmp_path: Path) -> None:
    with served(prepared(tmp_path)) as place:
        stream = Stream(place)
        assert stream.response.readline() == b"retry: 1000\n"
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        stream.response.read()
    assert place.live.watchers == 0


def test_exports_hold_what_is_filtered(place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    place.raise_alerts([alert(50, rule="large_amount", summary="=1+1", severity="high")])
    lines = client(place).get("/alerts.jsonl?severity=high").text.splitlines()
    assert [json.loads(one)["rule"] for one in lines] == [
        "large_amount", "large_amount", "spending_jump", "large_amount",
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(client(place).get("/alerts.csv?rule=large_amount").text)))
    assert [row["summary"] for row in rows] == ["1200 on c2 at t3", "980 on c6 at t1", "'=1+1"]
    assert len(client(place).get("/alerts.jsonl").text.splitlines()) == len(place.outbox.alerts())
    assert work["failed"].alert in [
        json.loads(one) for one in client(place).get("/alerts.jsonl").text.splitlines()
    ]


@pytest.mark.parametrize("folder", ["cep/web/page/static/vendored", "tests/page/vendored"])
def test_what_others_wrote_is_as_they_wrote_it(folder: str) -> None:
    told = tomllib.loads((ROOT / folder / "vendored.toml").read_text("utf-8"))["packages"]
    files = {file["name"]: file["sha256"] for one in told for file in one["files"]}
    licences = {one["licence_file"] for one in told}
    assert {one.name for one in (ROOT / folder).iterdir()} == {*files, *licences, "vendored.toml"}
    for name, digest in files.items():
        assert hashlib.sha256((ROOT / folder / name).read_bytes()).hexdigest() == digest, name
    for one in told:
        assert one["version"]
        assert one["integrity"].startswith("sha512-")


@pytest.mark.usefixtures("work")
def test_dead_letters_are_marked_mended_and_replayed(place: ServedDesk) -> None:
    for text in (b"<script>alert(1)</script>", b"\xff", b"second"):
        place.bury(text, "no JSON")
    anna, csrf = signed_in(place, "ANNA")
    told = "Replay the marked ones"
    assert told in anna.get("/deadletters").text
    assert told not in client(place).get("/deadletters").text
    assert "Mend it" in anna.get("/deadletters/2").text
    assert "Mend it" not in anna.get("/deadletters/3").text, "what is no text cannot come back from a form"

    def send(**fields: object) -> str:
        answer = anna.post("/deadletters/replay", data={"csrf": csrf, "next": "/deadletters"} | fields)
        assert answer.headers["location"] == "/deadletters"
        return html.unescape(anna.get("/deadletters").text)

    assert "No dead letter is chosen. Mark those that are to be read again." in send()
    assert "Can be read again: 4 of 4 dead letters." in send(do="count")
    assert "The next batches read again: 1 of 1 dead letter." in send(number="2", do="mended", text="{}\r\n")
    assert "read again: 2 of 2 dead letters." in send(number=["1", "3"])
    assert "Dead letter 1 waits to be read again already." in send(number="1")
    left = send(do="all", feed="payment")
    assert "again: 1 of 4 dead letters. 3 not: each waits to be read again already." in left
    one = html.unescape(anna.get("/deadletters/2").text)
    assert "anna had it read again, mended" in one
    assert "it waits for a batch" in one
    assert "<script>alert(1)</script>" not in anna.get("/deadletters/2").text
    with place.outbox.reading() as connection:
        taken = letter_replays.waiting(connection, ["payment"])
    # one at a time of those that have one place
    assert [one.letter.data for one in taken] == [b'{"payment_id": "p1", "amount": ']


def test_standing_queries_are_tried_by_whoever_may_read(place: ServedDesk) -> None:
    hostile = {"id": "<b>q", "query": 'recall* OR "<script>alert(1)</script>"', "tags": ["<i>"]}
    with_queries(place, [hostile, {"id": "second", "query": "tyre"}, {"id": "broken", "query": "("}])
    nobody = client(place)
    first = nobody.get("/queries")
    assert first.status_code == 200
    carried = CSRF.search(first.text)
    assert carried
    assert "&lt;b&gt;q" in first.text
    assert "the job does not run, so that nothing is counted" in first.text

    def tried(text: str, csrf: str = carried[1]) -> httpx.Response:
        return nobody.post("/queries/try", data={"csrf": csrf, "set": "watchlist", "document": text})

    assert tried("recall", csrf="wrong").status_code == 403
    hit = tried("a <b>recalled</b> tyre")
    assert hit.status_code == 200
    assert "2 queries hit it." in hit.text
    assert "<mark>recalled</mark>" in hit.text
    assert "<mark>tyre</mark>" in hit.text
    assert "<b>recalled" not in hit.text
    assert "<script>alert" not in hit.text
    assert "0 queries hit it." in tried("nothing").text
    assert "1 query hits it." in tried('{"title": "tyre"}').text
    assert "documents have no field" in html.unescape(tried('{"titel": "tyre"}').text)
    assert tried("x" * 300_000).status_code == 413
    assert "100,000 characters" in tried("x" * 110_000).text
    assert "second" not in nobody.get("/queries", params={"text": "RECALL"}).text.split("Queries of")[1]
    assert nobody.get("/queries", params={"by": "speed"}).status_code == 400
    assert nobody.get("/queries", params={"set": "gone"}).status_code == 404
    elsewhere = nobody.post(
        "/queries/try", data={"csrf": carried[1], "document": "x"}, headers={"host": "desk.example"}
    )
    assert elsewhere.status_code == 401


def test_a_client_may_have_so_many_streams(tmp_path: Path) -> None:
    """Of an address without a token, of a token wherever it is; who has none open goes on."""
    place = prepared(tmp_path)
    with served(place, pace=Pace(0.05), streams_each=2), contextlib.ExitStack() as stack:
        nobody = client(place)
        anna, _ = signed_in(place, "ANNA")
        kept: list[Iterator[str]] = []
        for one in (nobody, nobody, anna, anna):
            held = stack.enter_context(one.stream("GET", STREAM))
            assert held.status_code == 200
            kept.append(held.iter_lines())  # a generator that is gone closes its stream
            assert next(kept[-1]) == "retry: 1000"
        assert place.live.watchers == 4
        for one in (nobody, anna):
            refused = one.get(STREAM)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
            assert "you have 2 streams open" in refused.text
        rita, _ = signed_in(place, "RITA")
        other = stack.enter_context(rita.stream("GET", STREAM))
        assert other.status_code == 200


HOSTILE_RULES = """pack hostile version "1</pre><script>alert(1)</script>"
stream payment { payment_id: string  card_id: string  amount: double  at: timestamp  id payment_id  time at }
# <img src=x onerror=alert(1)> مرحبا {{ 7*7 }} %
rule loud {
  on payment [amount > 1]
  by card_id
  severity high
  tags "<b>bold</b>", "{{ 7*7 }}"
  runbook "https://desk.example/?a=\\"><script>alert(4)</script>"
  summary "<img src=x onerror=alert(2)> LONG"
}
test loud "<script>alert(3)</script>" {
  at 0s payment { payment_id: "p1", card_id: "c1", amount: 5 }
  expect at 0s { severity: "high" }
}
"""


def test_the_text_of_a_rule_is_only_shown(place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    """Script, markup, directions of writing and a very long text in every part of a pack."""
    folder = place.folder / "hostile"
    folder.mkdir()
    text = HOSTILE_RULES.replace("LONG", "x" * 500_000)
    (folder / "hostile.rules").write_text(text, "utf-8")
    pack = load([folder / "hostile.rules"]).need()
    run_also(place, pack)
    assert work
    with client(place) as reading:
        for path in ("/", "/rules", "/rules/hostile/loud", "/packs", "/rules/hostile/%3Cimg%20src=x%3E"):
            shown = reading.get(path).text
            assert len(shown) < 200_000, path
            for one in ("<img", "<b>bold", "<script>alert", "‮", "⁦", 'href="javascript'):
                assert one not in shown, (path, one)
        assert "&lt;img src=x onerror=alert(2)&gt;" in reading.get("/rules/hostile/loud").text
