"""A job as its operator meets it: the command, its port, deploys, a second start, a signal."""

from __future__ import annotations

import json
import re
import resource
import signal
import socket
import subprocess
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest
from job_folder import JobFolder, RunningJob, command, get
from ports import free_port
from rules_of_tests import OTHER, pack, payments

from alerts.outbox import Outbox
from cep.job.state_folder import dead_letters

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("operated")]


PORT = free_port()
TOKEN = "ann-0123456789-0123456789"
AHEAD = {"payment_id": "ahead", "at": "2261-01-01T00:00:00Z", "card": "c1", "amount": 5.0}
"""Of a clock that is wrong: if it moved the watermark, every other event would be late."""
HANDLES = 256
"""Files and connections that the job may have open."""
ATTACKERS = 1_500
HALF = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: "


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningJob]:
    """A running job with a first batch."""
    folder = JobFolder(
        tmp_path_factory.mktemp("operated") / "job",
        pack(idle="idle 1 second"),
        ("payment",),
        more=f'[http]\nlisten = "127.0.0.1:{PORT}"\n'
        '[receivers.desk]\nkind = "console"\nrules = ["whale", "wahs"]\n'
        '[tokens.ann]\nsecret = "file:ann.token"\nscopes = ["operate"]\n',
    )
    (folder.root / "ann.token").write_text(f"{TOKEN}\n", "utf-8")
    folder.put(
        "payment", [AHEAD, *payments(1, 300), b'{"payment_id": "torn', b'{"payment_id": "x", "at": 3}']
    )
    with ExitStack() as stack:
        with _handles(HANDLES):
            running = stack.enter_context(folder.running())
        running.wait_for_batch(0)
        yield running
        assert running.stop(signal.SIGTERM) == 143, folder.told
        assert not re.search("Traceback|uvicorn|asyncio|socket", folder.told)
        assert folder.logged == ""
        assert folder.state.lock_file.exists() is False


@contextmanager
def _handles(number: int) -> Iterator[None]:
    """Who is started within may have so many."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def _metric(name: str) -> float:
    lines = [
        line for line in get(f"http://127.0.0.1:{PORT}/metrics")[1].splitlines() if line.startswith(name)
    ]
    assert lines, f"no metric {name}"
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def test_what_is_malformed_goes_to_the_dead_letters_and_the_job_goes_on(job: RunningJob) -> None:
    outbox = Outbox.open(f"sqlite:///{job.folder.root}/state/outbox.db", create=False)
    try:
        with outbox.reading() as connection:
            letters = [stored.letter for stored in dead_letters.read(connection)]
    finally:
        outbox.close()
    assert [json.loads(letter.data) for letter in letters[:1]] == [AHEAD]
    assert "2261-01-01T00:00:00Z, is more than PT24H ahead of the clock" in letters[0].reason
    assert [letter.data for letter in letters[1:]] == [
        b'{"payment_id": "torn',
        b'{"payment_id": "x", "at": 3}',
    ]
    assert all(letter.file.startswith(str(job.folder.root)) for letter in letters)
    assert job.folder.alerts()


def test_metrics_and_health_say_how_the_job_stands(job: RunningJob) -> None:
    def healthy() -> bool:
        status, text = get(f"http://127.0.0.1:{PORT}/healthz")
        return status == 200 and json.loads(text)["status"] == "running"

    job.wait_for(healthy, "a healthy answer")
    assert _metric('cep_events_total{outcome="accepted",stream="payment"}') == 300
    assert _metric('cep_events_total{outcome="dead",stream="payment"}') == 3
    assert _metric("cep_alerts_total") == len(job.folder.alerts())
    assert _metric("cep_batch_duration_seconds_count") >= 1
    assert _metric("cep_state_bytes") > 0
    assert _metric('cep_runs{rule="probing"}') > 0
    assert _metric('cep_pack_info{pack="desk"') == 1
    assert _metric('cep_watermark_lag_seconds{stream="payment"}') > 0


def test_a_desk_works_at_the_port(job: RunningJob) -> None:
    url = f"http://127.0.0.1:{PORT}"
    job.wait_for(lambda: get(f"{url}/healthz")[0] == 200, "the port")
    status = json.loads(get(f"{url}/api/v1/status")[1])
    assert (status["status"], status["dead_letters"]) == ("running", 3)
    assert status["batch_seconds"] > 0
    assert sum(status["alerts"]["24 hours"].values()) == len(job.folder.alerts())
    (feed,) = json.loads(get(f"{url}/api/v1/feeds")[1])["feeds"]
    assert (feed["stream"], feed["lag_seconds"] > 0) == ("payment", True)
    rules = json.loads(get(f"{url}/api/v1/rules")[1])["rules"]
    assert {one["rule"] for one in rules if one["runs"]} == {"probing"}
    text = json.loads(get(f"{url}/api/v1/rules/desk/whale")[1])["text"]
    assert text.startswith("rule whale")

    add = ("silences", "add", "rule = whale", "--for", "1 hour", "--why", "a test", "--url", url)
    refused = command(*add)
    assert (refused.returncode, "CEP0961" in refused.stderr) == (2, True)
    added = command(*add, "--token-env", "ANN", environ={"ANN": TOKEN})
    assert added.returncode == 0, added.stderr
    here, there = (
        json.loads(command("silences", "list", *target, "--format", "json").stdout)["silences"]
        for target in (("--url", url), ("--job", job.folder.description))
    )
    assert [(one["id"], one["who"]) for one in here] == [(added.stdout.strip(), "ann")]
    assert [one["id"] for one in there] == [one["id"] for one in here]
    letters = command("deadletters", "list", "--url", url)
    assert letters.stdout.count("payment") >= 3


def test_time_goes_on_while_the_feed_is_silent(job: RunningJob) -> None:
    def watermark() -> str:
        text: str = json.loads(get(f"http://127.0.0.1:{PORT}/healthz")[1])["watermark"]
        return text

    job.wait_for(lambda: get(f"http://127.0.0.1:{PORT}/healthz")[0] == 200, "the port")
    before = watermark()
    job.wait_for(lambda: watermark() > before, "a watermark that the clock moved")


def test_a_deploy_names_its_batch_and_a_bad_one_leaves_the_running_pack(job: RunningJob) -> None:
    root = job.folder.root
    new, bad = root / "new.rules", root / "bad.rules"
    new.write_text(pack(big="amount > 80", idle="idle 1 second"), "utf-8")
    bad.write_text(pack(big="amont > 80"), "utf-8")

    done = command("deploy", new, "--job", job.folder.description)
    assert done.returncode == 0, done.stderr
    assert "runs since batch" in done.stdout
    assert "probing  kept (" in done.stdout

    refused = command("deploy", bad, "--job", job.folder.description)
    assert refused.returncode == 1
    assert "CEP0202" in refused.stderr
    assert "Traceback" not in refused.stderr

    unfed = root / "unfed.rules"
    unfed.write_text(pack(more=OTHER), "utf-8")
    refused = command("deploy", unfed, "--job", job.folder.description)
    assert refused.returncode == 1
    assert "CEP0711" in refused.stderr
    assert "what ran before runs on" in refused.stderr
    assert _metric("cep_pack_last_deploy_successful") == 0

    again = command("deploy", new, "--job", job.folder.description, "--format", "json")
    answer = json.loads(again.stdout)
    assert answer["revision"] == answer["previous"]
    assert answer["batch"] > 0
    assert _metric("cep_pack_last_deploy_successful") == 1
    assert _metric("cep_pack_info") == 1


def test_a_pack_is_taken_back_as_the_page_says(job: RunningJob) -> None:
    root, description = job.folder.root, job.folder.description
    page = (Path(__file__).parents[2] / "docs" / "job.md").read_text("utf-8")
    recipe = (
        page.partition("### Taking a pack back")[2].partition("    cep deploy")[0].partition("    mkdir ")[2]
    )
    newer = root / "newer.rules"
    newer.write_text(pack(big="amount > 70", idle="idle 1 second"), "utf-8")
    deployed = json.loads(command("deploy", newer, "--job", description, "--format", "json").stdout)

    script = textwrap.dedent(f"    mkdir {recipe}").replace("bea9dbe79e31cd4f", deployed["previous"])
    subprocess.run(["sh", "-ec", script], cwd=root, check=True)
    back = json.loads(command("deploy", root / "before", "--job", description, "--format", "json").stdout)
    assert (back["revision"], back["previous"]) == (deployed["previous"], deployed["revision"])
    assert {rule["rule"]: rule["fate"] for rule in back["rules"]} == {"probing": "kept", "whale": "kept"}


def test_a_deploy_that_takes_a_rule_from_a_receiver_says_so(job: RunningJob) -> None:
    assert job.folder.told.count("warning[CEP0714]: no pack has a rule `wahs`") == 1
    renamed = job.folder.root / "renamed.rules"
    renamed.write_text(pack(idle="idle 1 second").replace("rule whale", "rule shark"), "utf-8")
    done = command("deploy", renamed, "--job", job.folder.description)
    assert done.returncode == 0, done.stderr
    assert "whale    removed" in done.stdout
    place, message = f"{job.folder.description}:14:10: CEP0714: ", "no pack has a rule `whale`"
    assert done.stderr.count("warning: ") == done.stderr.count(f"warning: {place}{message}") == 1
    assert "the rules are `probing`, `shark`" in done.stderr
    job.wait_for(lambda: f"warning: {message}" in job.folder.told, "the warning on the job's own terminal")


def test_half_sent_requests_by_the_thousand_cost_the_job_nothing(job: RunningJob) -> None:
    with ExitStack() as held:
        for seed in (7, 8):
            for _ in range(ATTACKERS // 2):
                one = held.enter_context(socket.create_connection(("127.0.0.1", PORT), timeout=60))
                one.sendall(HALF)
            assert get(f"http://127.0.0.1:{PORT}/healthz")[0] == 200
            assert psutil.Process(job.process.pid).num_fds() < HANDLES
            job.folder.put("payment", payments(seed, 200))
            job.wait_until_read()
        assert get(f"http://127.0.0.1:{PORT}/healthz")[0] == 200
        assert get(f"http://127.0.0.1:{PORT}/metrics")[0] == 200


def test_a_second_job_on_the_folder_or_the_port_is_told_so(job: RunningJob, tmp_path: Path) -> None:
    second = command("run", job.folder.description)
    assert second.returncode == 2
    assert f"process {job.process.pid} runs a job on the state folder" in second.stderr

    other = JobFolder(tmp_path / "job", pack(), ("payment",), more=f'[http]\nlisten = "127.0.0.1:{PORT}"\n')
    busy = command("run", other.description)
    assert busy.returncode == 3
    assert f"the port {PORT} of 127.0.0.1 is taken" in busy.stderr
