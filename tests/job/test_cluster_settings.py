"""What a job tells a cluster, what it refuses to tell it, and how a machine that does not fit is told."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cep.config import Machines, load_job
from cep.config.against_machine import check_machine
from cep.config.machines import FIXED, MADE_HERE, masters
from cep.errors import ConfigurationError, OutsideError
from cep.job.shipping.blobs import Sender, opened
from cep.job.shipping.declared import AWAY_FROM
from cep.job.shipping.folders import Shared
from cep.job.shipping.program import Program, installed
from cep.job.shipping.rows import Kind
from cep.job.spark import cluster, session
from cep.job.state_folder.folder import StateFolder
from cep.job.workers.machine import Ready
from cep.secrets import Secret

MACHINES = Machines(4, "spark://127.0.0.1:7077")
MAY_DIFFER = {
    "spark.driver.bindAddress",
    "spark.executor.extraJavaOptions",
    "spark.executor.memory",
    "spark.task.maxFailures",
}
"""What a job sets unless [spark.conf] says otherwise."""
LOST = "most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 0):"
DAEMON = "cep.job.workers.daemon"


def test_every_setting_that_results_depend_on_is_refused_in_conf(tmp_path: Path) -> None:
    told = session.settings(StateFolder(tmp_path), 2) | cluster.clustered(MACHINES, 4, ())
    assert {name for name in told if name not in MADE_HERE and not name.startswith(FIXED)} == MAY_DIFFER


def test_what_may_differ_is_taken_from_conf() -> None:
    given = {
        "spark.executor.memory": "4g",
        "spark.driver.bindAddress": "0.0.0.0",  # what a container needs
        "spark.executor.extraJavaOptions": "-Dcom.example=1",
        "spark.task.maxFailures": "8",
    }
    told = cluster.clustered(Machines(4, "spark://127.0.0.1:7077", conf=given), 4, (Path("/a.jar"),))
    assert told["spark.jars"] == "file:///a.jar"
    assert told["spark.executor.extraJavaOptions"].split()[-1] == "-Dcom.example=1"
    assert {name: told[name] for name in given if "Java" not in name} == {
        name: value for name, value in given.items() if "Java" not in name
    }


def test_the_driver_is_reached_by_its_address_on_the_way_to_the_master() -> None:
    assert masters("spark://a:7077,[::1]:7078") == [("a", 7077), ("::1", 7078)]
    assert cluster.clustered(MACHINES, 4, ())["spark.driver.host"] == "127.0.0.1"
    assert (
        cluster.clustered(Machines(4, "spark://a.invalid:1", host="10.0.0.5"), 4, ())[
            "spark.driver.bindAddress"
        ]
        == "10.0.0.5"
    )
    with pytest.raises(OutsideError, match=r"no way leads to the master a\.invalid") as raised:
        cluster.way_to("spark://a.invalid:7077")
    assert raised.value.code == "CEP0890"


def test_a_master_that_does_not_answer_is_told_before_a_start(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        port = taken.getsockname()[1]
        text = (
            f'[job]\nname = "a"\npacks = "packs/"\nstate = "state/"\n[spark]\nmaster = "spark://127.0.0.1:{port}"\n'
            f'cores = 2\n[feeds.payment]\nsource = "files"\npath = "*.csv"\n'
        )
        (tmp_path / "job.toml").write_text(text)
        (one,) = [
            found
            for found in check_machine(load_job(tmp_path / "job.toml", {}).need(), {})
            if found.code == "CEP0890"
        ]
        assert one.message == f"no master answers at 127.0.0.1:{port}: connection refused"
        assert one.span is not None
        assert one.span.text == f'"spark://127.0.0.1:{port}"'
        taken.listen()
        found = check_machine(load_job(tmp_path / "job.toml", {}).need(), {})
        assert "CEP0890" not in {one.code for one in found}


def test_a_machine_with_another_version_is_told_by_name() -> None:
    here = installed()
    here.check(here)
    other = Program(tuple((name, "0.1" if name == "pyarrow" else have) for name, have in here.versions))
    with pytest.raises(ConfigurationError, match=r"has pyarrow [\d.]+ where the job has 0\.1") as raised:
        other.check(here)
    assert raised.value.code == "CEP0891"
    assert socket.gethostname() in raised.value.message
    assert dict(here.versions)["cep"] != dict(Program(()).versions).get("cep")


@pytest.mark.slow
def test_a_machine_that_does_not_see_the_folders_is_told(tmp_path: Path) -> None:
    shared = Shared.of(StateFolder(tmp_path / "state"), cluster=True)
    assert shared.blobs is None
    assert shared.program == installed()
    seen, feeds = tmp_path / "state" / "scratch" / "seen", tmp_path / "inbox"
    ready = Ready(shared, seen, (feeds,))
    with pytest.raises(ConfigurationError, match="does not see the state folder") as unseen:
        list(ready([]))
    seen.write_text("x", "ascii")
    with pytest.raises(ConfigurationError, match=f"does not see the folder {feeds} of a feed") as no_feed:
        list(ready([]))
    assert {unseen.value.code, no_feed.value.code} == {"CEP0893"}
    feeds.mkdir()
    assert list(ready([])) == []
    assert [one.name for one in seen.parent.iterdir() if one.name.startswith("seen")] == ["seen"]


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="a folder that nobody may write is Linux's")
def test_a_machine_that_may_not_write_the_state_folder_is_told(tmp_path: Path) -> None:
    shared = Shared.of(StateFolder(tmp_path / "state"), cluster=True)
    with pytest.raises(ConfigurationError, match="cannot write into /proc: ") as raised:
        list(Ready(shared, Path("/proc/version"), ())([]))
    assert raised.value.code == "CEP0893"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f'{LOST} java.io.IOException: Cannot run program "/opt/cep/bin/python": error=2',
            "the machine 10.0.0.7 has no program /opt/cep/bin/python",
        ),
        (
            (
                f"{LOST} org.apache.spark.SparkException: Error from python worker:\n  /usr/bin/python3: "
                f"Error while finding module specification for '{DAEMON}' "
                "(ModuleNotFoundError: No module named 'cep')"
            ),
            "the Python of the machine 10.0.0.7 cannot run the job: No module named 'cep'",
        ),
    ],
)
def test_a_machine_without_the_program_is_told_by_name(text: str, said: str) -> None:
    found = cluster.without_python(text)
    assert found is not None
    assert (found.message, found.code) == (said, "CEP0892")


def test_the_master_s_words_are_told() -> None:
    said = "Application has been killed. Reason: Master removed our application: FAILED"
    log = f"2026-01-05T09:00:00Z ERROR StandaloneSchedulerBackend: {said}\n"
    found = cluster.ended_by(log)
    assert found is not None
    assert found.message == "the cluster ended the job: Master removed our application: FAILED"
    assert cluster.ended_by("WARN something else") is None


def test_without_a_folder_that_all_see_every_payload_goes_through_spark() -> None:
    sender = Sender(None, "task")
    rows = [sender.row(Kind.EVENTS, bytes(size)) for size in (0, AWAY_FROM - 1, 4 * AWAY_FROM)]
    sender.close()
    assert [(kind, len(payload)) for kind, payload in opened(None, rows)] == [
        (Kind.EVENTS, 0),
        (Kind.EVENTS, AWAY_FROM - 1),
        (Kind.EVENTS, 4 * AWAY_FROM),
    ]


def test_variables_of_secrets_are_known(tmp_path: Path) -> None:
    assert Secret("${A}-${B}", tmp_path).variables == ("A", "B")
    assert Secret("file:${A}", tmp_path).variables == ()
