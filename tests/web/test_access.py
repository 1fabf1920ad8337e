"""Who may what at the job's port: a table of all routes, compared with those that exist."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Client, port
from some_desk import TOKENS
from starlette.routing import Mount, Route

from alerts.web_server import Certificate
from cep.job.running.port import served
from cep.web.access.attempts import Attempts
from cep.web.access.callers import Caller, Refusal, caller
from cep.web.access.policy import Access, Shown
from cep.web.access.tokens import Tokens
from cep.web.api.known import OPERATIONS, PREFIX
from cep.web.api.routes import application as api
from cep.web.metrics import Metrics
from cep.web.server import Health, application

OPEN, READ, OPERATE, INGEST = "open", "read", "operate", "ingest"
TABLE = {
    ("GET", "/livez"): OPEN,
    ("GET", "/healthz"): OPEN,
    ("GET", "/metrics"): READ,
    ("GET", "/api/v1/openapi.json"): READ,
    ("GET", "/api/v1/status"): READ,
    ("GET", "/api/v1/alerts"): READ,
    ("GET", "/api/v1/alerts/{id}"): READ,
    ("GET", "/api/v1/alerts/{id}/events"): READ,
    ("GET", "/api/v1/episodes"): READ,
    ("GET", "/api/v1/episodes/precision"): READ,
    ("GET", "/api/v1/episodes/{id}"): READ,
    ("GET", "/api/v1/silences"): READ,
    ("GET", "/api/v1/receivers"): READ,
    ("GET", "/api/v1/rules"): READ,
    ("GET", "/api/v1/rules/{pack}/{rule}"): READ,
    ("GET", "/api/v1/packs"): READ,
    ("GET", "/api/v1/feeds"): READ,
    ("GET", "/api/v1/deadletters"): READ,
    ("GET", "/api/v1/deadletters/{number}"): READ,
    ("GET", "/api/v1/queries"): READ,
    ("POST", "/api/v1/queries/try"): READ,
    ("GET", "/api/v1/batches"): READ,
    ("GET", "/api/v1/audit"): OPERATE,
    ("POST", "/api/v1/episodes/{id}/acknowledge"): OPERATE,
    ("POST", "/api/v1/episodes/acknowledge"): OPERATE,
    ("POST", "/api/v1/episodes/{id}/close"): OPERATE,
    ("POST", "/api/v1/episodes/close"): OPERATE,
    ("POST", "/api/v1/episodes/{id}/reopen"): OPERATE,
    ("POST", "/api/v1/episodes/reopen"): OPERATE,
    ("POST", "/api/v1/silences"): OPERATE,
    ("DELETE", "/api/v1/silences/{id}"): OPERATE,
    ("POST", "/api/v1/silences/expire"): OPERATE,
    ("POST", "/api/v1/alerts/{id}/redeliver"): OPERATE,
    ("POST", "/api/v1/alerts/redeliver"): OPERATE,
    ("POST", "/api/v1/redeliver"): OPERATE,
    ("POST", "/api/v1/alerts/erase"): OPERATE,
    ("POST", "/api/v1/deadletters/replay"): OPERATE,
    ("POST", "/api/v1/receivers/{name}/resume"): OPERATE,
    ("POST", "/api/v1/receivers/{name}/test"): OPERATE,
    ("POST", "/api/v1/events/{stream}"): INGEST,
}
SHOWN = (None, "wrong-0123456789-0123456789", "READ_TOKEN", "DESK_TOKEN", "DEPLOY_TOKEN", "SHOP_TOKEN")
MAY = {
    "READ_TOKEN": {READ},
    "DESK_TOKEN": {READ, OPERATE},
    "DEPLOY_TOKEN": {READ},
    "SHOP_TOKEN": {INGEST},
}


def expected(needs: str, token: str | None, *, loopback: bool) -> int | None:
    """The status of the refusal; None where the request may pass."""
    if needs == OPEN or (needs == READ and token is None and loopback):
        return None
    if token not in MAY:
        return 401
    return None if needs in MAY[token] else 403


def routes_of(access: Access) -> set[tuple[str, str]]:
    """Every method and path that is served; HEAD goes with GET."""
    found = set()
    app = application(Metrics(), lambda: Health(True, {}), more=served(access, lambda: None))
    for one in app.routes:
        if isinstance(one, Mount) and not one.path:
            continue  # the page: tests/page/test_page_over_http.py tries every address that it has
        if isinstance(one, Mount):
            assert one.path == PREFIX, "an application that is new here comes into the table"
            inner = [(f"{PREFIX}{route.path}", route) for route in api(access, lambda: None).routes]
        else:
            inner = [(one.path, one)]  # type: ignore[attr-defined]
        for path, route in inner:
            assert isinstance(route, Route)
            found |= {(method, path) for method in route.methods or () if method != "HEAD"}
    return found


def test_the_table_has_every_route_and_no_other() -> None:
    assert routes_of(Access(Tokens(), True)) == TABLE.keys()
    assert {(one.method, PREFIX + one.path): one.scope for one in OPERATIONS}.items() <= TABLE.items()


@pytest.fixture(scope="module", params=[True, False], ids=["this machine", "other machines"])
def reached(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[bool, Client]]:
    with port(tmp_path_factory.mktemp("desk"), loopback=request.param) as client:
        yield request.param, client


@pytest.mark.parametrize("token", SHOWN)
@pytest.mark.parametrize("route", TABLE, ids=" ".join)
def test_who_may_what(reached: tuple[bool, Client], route: tuple[str, str], token: str | None) -> None:
    loopback, client = reached
    client.clock.now += 60
    method, template = route
    path = template.format(id="0" * 64, name="nobody", number="99", pack="p", rule="r", stream="s")
    answer = client.ask(method, path, b"[]" if method == "POST" else None, token)
    refused = expected(TABLE[route], token, loopback=loopback)
    if refused is None:
        assert answer.status in (200, 400, 404), "past the guard it is the operation's own answer"
    else:
        assert answer.status == refused
        assert answer.value["code"] == {401: "CEP0961", 403: "CEP0962"}[refused]
        assert "0123456789" not in answer.text
        assert ("www-authenticate" in answer.headers) == (refused == 401)
    if method == "GET":
        assert client.ask("HEAD", path, None, token).status == answer.status


def test_probes_without_a_token_get_one_word(tmp_path: Path) -> None:
    with port(tmp_path, loopback=False) as client:
        assert client.ask("GET", "/healthz").value == {"status": "running"}
        assert client.ask("GET", "/healthz", None, "READ_TOKEN").value == {
            "status": "running",
            "job": "cards",
        }
        assert client.ask("GET", "/livez").value == {"status": "alive"}


@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("localhost", True), ("LOCALHOST:8090", True), ("127.0.0.1:1", True), ("[::1]:8090", True),
        ("job.localhost", True), ("evil.example", False), ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False), ("", False), ("evil\u00e9", False), ("x" * 5_000, False),
    ],
)  # fmt: skip
def test_a_name_that_was_pointed_here_reads_nothing(host: str, passes: bool) -> None:
    access = Access(Tokens.of((), {}), True)
    found = access.may(Shown(None, host, "127.0.0.1"), "read")
    assert isinstance(found, Caller) == passes
    if isinstance(found, Refusal):
        assert len(found.message) < 200


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "Bearer " + "x" * 10_000, "Bearer \u00e9\x1b"],
)
def test_a_header_that_is_no_token_is_refused_also_where_reading_is_open(header: str) -> None:
    found = Access(Tokens.of((), {}), True).may(Shown(header, "localhost", "127.0.0.1"), "read")
    assert isinstance(found, Refusal)
    assert (found.status, found.code) == (401, "CEP0961")


def test_wrong_tokens_come_to_an_end_and_to_a_new_beginning(tmp_path: Path) -> None:
    with port(tmp_path) as client:
        for _ in range(10):
            assert client.get("/status", "wrong").status == 401
        answer = client.get("/status", "READ_TOKEN")
        assert (answer.status, answer.value["code"]) == (429, "CEP0963")
        assert answer.headers["retry-after"] == "6"
        assert client.get("/status").status == 200, "who shows none reads on"
        client.clock.now += 6
        assert client.get("/status", "READ_TOKEN").status == 200
        assert client.get("/status", "wrong").status == 401
        assert client.get("/status", "READ_TOKEN").status == 429


def test_clients_fail_apart_and_are_forgotten() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for _ in range(50):
        attempts.failed("a")
    assert (attempts.wait("a"), attempts.wait("b")) == (246, None)
    for number in range(20_000):
        attempts.failed(f"c{number}")
    assert attempts.wait("a") is None


def test_a_token_is_kept_as_a_digest_and_a_change_of_it_is_seen(tmp_path: Path) -> None:
    with port(tmp_path) as client:
        tokens = Tokens.of(client.desk.job.tokens, TOKENS)
        assert all(
            secret not in repr(tokens) and secret.encode() not in str(tokens.all).encode()
            for secret in TOKENS.values()
        )
        other = Tokens.of(client.desk.job.tokens, TOKENS | {"DESK_TOKEN": "another-0123456789-01234"})
        assert tokens.mark("ann") != other.mark("ann")
        assert (tokens.mark("reader"), tokens.mark("nobody")) == (other.mark("reader"), "")
        assert tokens.named("ann") == caller("ann", ("operate",))
        assert tokens.named("") is None


def test_it_is_served_under_tls(tmp_path: Path, certificate: Certificate) -> None:
    with port(tmp_path, loopback=False, certificate=certificate) as client:
        assert client.get("/status", "READ_TOKEN").value["job"] == "cards"
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as plain:
            plain.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
            assert not plain.recv(100).startswith(b"HTTP"), "nothing is said without TLS"
        assert client.get("/status", "READ_TOKEN").status == 200
