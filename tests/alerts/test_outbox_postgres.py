"""The outbox on PostgreSQL comes to what it does on SQLite. Needs a server on this machine, and psycopg."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from erasable import ROUTES, VALUE, erasable
from some_alerts import SECOND, raised
from sqlalchemy import create_engine, inspect, text

from alerts.outbox import BatchRecord, Outbox, OutboxError, Recorded, Settled, Wanted
from alerts.outbox.episodes import assign_some
from alerts.raised import Raised
from alerts.routing import Route
from cep.config.job import Retention
from cep.job.running.retention import removals
from cep.web.desk.acting import Actor
from cep.web.desk.erasing import erase

pytest.importorskip("psycopg")
GOLDEN = Path(__file__).with_name("outbox_version_2.sql")
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
INITDB = shutil.which("initdb", path=os.pathsep.join([os.environ["PATH"], *map(str, BINARIES[-1:])]))
pytestmark = pytest.mark.skipif(INITDB is None, reason="no server of PostgreSQL is installed")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server that listens on a socket in a folder of its own; the address of its databases."""
    # its programs refuse to run as root; a socket's path is short
    own = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    if own:
        shutil.chown(folder, own["user"])
    where = Path(str(INITDB)).resolve().parent

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [where / program, "-D", folder / "data", *arguments],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, **own,
        )  # fmt: skip

    run("initdb", "-A", "trust", "-U", "cep", "--no-sync")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", options)
    yield f"postgresql://cep@/DATABASE?host={folder}"
    run("pg_ctl", "stop", "-m", "immediate")
    shutil.rmtree(folder)


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """A database of its own for each test."""
    name = re.sub(r"\W", "_", request.node.name.lower())
    engine = create_engine(server.replace("DATABASE", "postgres"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("DATABASE", name)


def new_database(url: str) -> str:
    """The address of a new outbox, in a schema of its own beside another."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA fresh"))
    engine.dispose()
    found = f"{url}&options=-csearch_path%3Dfresh"
    Outbox.open(found).close()
    return found


def _shape(url: str) -> dict[str, object]:
    """Columns and indexes by table; SQLite's files say INTEGER for what is BIGINT here."""
    engine = create_engine(url)
    about = inspect(engine)
    found = {
        table: (
            sorted(
                (one["name"], str(one["type"]).replace("INTEGER", "BIGINT"), one["nullable"])
                for one in about.get_columns(table)
            ),
            sorted(str(one["column_names"]) for one in about.get_indexes(table)),
            about.get_pk_constraint(table)["constrained_columns"],
        )
        for table in about.get_table_names()
    }
    engine.dispose()
    return found


def told(recorded: Recorded) -> tuple[list[str], list[str], int, bool]:
    alerts, withheld = ([one.body for one in some] for some in (recorded.alerts, recorded.withheld))
    return alerts, withheld, recorded.repeated, recorded.already


def some(random: Random) -> list[Raised]:
    """Of rules that suppress and that do not; ids come again; keys that only escapes can write."""
    return [
        raised(
            random.randrange(400),
            rule=(rule := random.choice(["a", "b", "c"])),
            key=random.choice(["x", "y\N{LATIN SMALL LETTER E WITH ACUTE}", "\ud800", "\t", "long" * 2_000]),
            time=random.randrange(100),
            severity=random.choice(["high", "low"]),
            suppress={"a": 5, "b": 20, "c": None}[rule],
        )
        for _ in range(random.randrange(200))
    ]


ASKED = [
    Wanted(rule="a"),
    Wanted(severity="low", since=20 * SECOND),
    Wanted(key={"card_id": "x"}),
    Wanted(batch=3),
    Wanted(key={"card_id": "long" * 2_000}, before=50),
    Wanted(after=100, until=70 * SECOND),
    Wanted(pack="none"),
]


@pytest.mark.slow
def test_both_databases_come_to_the_same(url: str, tmp_path: Path) -> None:
    boxes = [Outbox.open(one, clock=lambda: 5) for one in (url, f"sqlite:///{tmp_path}/outbox.db")]
    random = Random(7)
    routes = [Route("desk"), Route("grave", frozenset("a"), "high")]
    for number in [*range(7), 6, *range(7, 12)]:
        came, batch = some(random), BatchRecord(number, f"d{number}", {})
        one, other = (told(box.record(batch, came, routes)) for box in boxes)
        assert one == other
    for wanted in ASKED:
        for how in ({}, {"limit": 7}, {"limit": 7, "newest_first": True}):
            pages = [box.alerts(wanted, **how) for box in boxes]
            assert pages[0] == pages[1], (wanted, how)
    for box in boxes:
        box.settle([])
    assert boxes[0].due("grave", 5, 99) == boxes[1].due("grave", 5, 99)
    assert boxes[0].status() == boxes[1].status()
    first = boxes[0].alerts(limit=1)[0].alert["id"]
    assert boxes[0].alert(str(first)) == boxes[1].alert(str(first)) is not None
    assert boxes[0].deliveries(str(first)) == boxes[1].deliveries(str(first))
    for box in boxes:
        box.close()


@pytest.mark.slow
def test_old_alerts_go_from_both_databases(url: str, tmp_path: Path) -> None:
    now = [0]
    boxes = [Outbox.open(one, clock=lambda: now[0]) for one in (url, f"sqlite:///{tmp_path}/outbox.db")]
    random = Random(8)
    kept = Retention(alerts=40 * SECOND, deliveries=20 * SECOND, late=SECOND, dead_letters=SECOND)
    for number in range(20):
        now[0] = number * 5 * SECOND
        came = some(random)
        for box in boxes:
            box.record(BatchRecord(number * 50, f"d{number}", {}), came, [Route("desk")])
            due = [one.number for one in box.due("desk", now[0], 9_999)]
            settled = [n for n in due if n % 7]
            box.settle([Settled("desk", n, "delivered", 1, "204", None, now[0]) for n in settled])
            with box.writing() as connection:
                assign_some(connection, lambda *_: SECOND)
    before = len(boxes[0].alerts())
    for box in boxes:
        list(removals(box, kept, now[0]))
    left, other = ([one.number for one in box.alerts()] for box in boxes)
    assert left == other
    assert 0 < len(left) < before
    for id_ in (str(one.alert["id"]) for one in boxes[0].alerts()):
        assert boxes[0].deliveries(id_) == boxes[1].deliveries(id_)
    for wanted in ASKED:
        assert boxes[0].alerts(wanted) == boxes[1].alerts(wanted)
    for box in boxes:
        box.close()


def holding(outbox: Outbox, *forms: bytes) -> list[str]:
    """The tables in which a row holds one of these bytes."""
    found = []
    with outbox.reading() as connection:
        for table in inspect(connection).get_table_names():
            rows = connection.execute(text(f"SELECT t::text FROM {table} t")).scalars().all()
            data = [bytes.fromhex(one) for row in rows for one in re.findall(r"\\\\x((?:[0-9a-f]{2})+)", row)]
            if any(form in one for one in (*(row.encode() for row in rows), *data) for form in forms):
                found.append(table)
    return found


@pytest.mark.slow
def test_what_is_erased_goes_from_postgres_too(url: str, tmp_path: Path) -> None:
    place = erasable(tmp_path, url)
    outbox = place.desk.outbox
    assert {"dead_letters", "late_events", "outbox_alerts", "outbox_suppression"} <= {
        *holding(outbox, b"zq7-")
    }
    for key in (f"card={VALUE}", f"used={VALUE}"):
        ann = Actor("ann", place.desk.clock())
        done = erase(place.desk, key, ann, dry_run=False, rest=lambda _: None)
        assert done.left == ()
    assert holding(outbox, b"zq7-") == []
    assert {one.state for one in outbox.deliveries(place.ids["large"][0])} == {"erased"}
    again = [one for some in place.raised for one in some]
    recorded = outbox.record(BatchRecord(3, "d3", {}), again, ROUTES)
    assert (len(recorded.alerts), len(recorded.withheld)) == (0, 3)
    outbox.close()


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_outbox_of_before_is_brought_up_to_date(url: str, tmp_path: Path, version: int) -> None:
    golden = GOLDEN.with_name(f"outbox_version_{version}.sql").read_text("utf-8")
    statements = re.sub(r"(GENERATED ALWAYS AS \(.*\))", r"\1 STORED", golden.replace("WITHOUT ROWID", ""))
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in re.split(r";\n", statements):
            if statement.strip() and not re.match(r"\s*(BEGIN|COMMIT)", statement):
                connection.exec_driver_sql(statement)
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / "outbox.db")) as database, database:
        database.executescript(golden)
    database.close()
    urls = (url, f"sqlite:///{tmp_path}/outbox.db")
    for one in urls:
        with pytest.raises(OutboxError, match=f"is of version {version} or half way"):
            Outbox.open(one, create=False)
    boxes = [Outbox.open(one, clock=lambda: 5, create=False, upgrade=True) for one in urls]
    assert boxes[0].alerts() == boxes[1].alerts() != []
    assert (
        boxes[0].alerts(Wanted(key={"card_id": "b"})) == boxes[1].alerts(Wanted(key={"card_id": "b"})) != []
    )
    assert boxes[0].due("desk", 2**62, 9) == boxes[1].due("desk", 2**62, 9) != []
    assert _shape(url) == _shape(new_database(url)), "tables, columns and indexes are those of a new one"
    came = [raised(1, key="a"), raised(8, key="a", time=100, suppress=100)]
    one, other = (told(box.record(BatchRecord(2, "d", {}), came, [Route("desk")])) for box in boxes)
    assert one == other
    for box in boxes:
        box.close()
