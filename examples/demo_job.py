"""Parts that the demos share: a job and its receiver as processes, files moved into its inbox, metrics."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select

from alerts.outbox import Outbox
from alerts.outbox.schema import ERASED, alerts
from alerts.receivers.notification import TEST_PACK
from cep.job.state_folder import dead_letters

CEP = Path(sys.executable).with_name("cep")
PATIENCE = 300.0


_TOKEN = """
[tokens.demo]
secret = "${DEMO_TOKEN}"
scopes = ["operate"]
"""
"""With what one signs in on the page of a demo."""


class DemoError(Exception):
    """Something that a demo promises did not happen; the text says what."""


@dataclass(frozen=True, slots=True)
class DemoRun:
    """Where a run of a demo keeps its files, the ports that it found free, and its environment."""

    work: Path
    desk: int
    http: int
    env: Mapping[str, str]

    @property
    def job(self) -> Path:
        """The job file: the example's job.toml with the ports of this run."""
        return self.work / "job.toml"

    @property
    def page(self) -> str:
        """The address of the job's page."""
        return f"http://127.0.0.1:{self.http}/"

    @property
    def accepted(self) -> Path:
        """The alerts that the receiver verified and accepted: its ledger, one webhook a line."""
        return self.work / "accepted.jsonl"

    def received(self) -> list[dict[str, Any]]:
        """The alerts in it, in order of arrival."""
        lines = self.accepted.read_text("utf-8").splitlines()
        return [json.loads(json.loads(line)["body"])["data"] for line in lines]


@dataclass(frozen=True, slots=True)
class OutboxContent:
    """The content of the outbox at the end: alerts by id, deliveries still open, dead letters; the ids of
    alerts that somebody erased who looked around."""

    alerts: Mapping[str, Mapping[str, Any]]
    open_deliveries: int
    dead: int
    erased: frozenset[str] = frozenset()


def prepare(example: Path, work: Path, streams: Sequence[str]) -> DemoRun:
    """An empty work folder with a job file of its own and an inbox for each stream."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    desk, http = _free_ports(2)
    text = (example / "job.toml").read_text("utf-8")
    text = text.replace("work/", "").replace('"packs/"', f'"{example / "packs"}"')
    text = text.replace(":8091", f":{desk}").replace(":8090", f":{http}")
    secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    token = secrets.token_urlsafe(18)
    place = DemoRun(work, desk, http, {**os.environ, "DESK_SECRET": secret, "DEMO_TOKEN": token})
    place.job.write_text(f"{text}{_TOKEN}", "utf-8")
    for stream in streams:
        (work / "inbox" / stream).mkdir(parents=True)
    return place


def _free_ports(count: int) -> list[int]:
    """Ports on loopback that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@contextmanager
def desk(place: DemoRun) -> Iterator[None]:
    """A receiver that verifies what it gets."""
    command = [CEP, "receive", "--secret-env", "DESK_SECRET", "--listen", f"127.0.0.1:{place.desk}"]
    with _running("the receiver", [*command, "--output", place.accepted], place, "receiver.log"):
        yield


class Job:
    """A running `cep run`, which has run its first batch."""

    def __init__(self, place: DemoRun, process: subprocess.Popen[bytes]) -> None:
        self.place = place
        self._process = process
        self._lines = 0

    def metrics(self) -> dict[str, float]:
        """For every sample name the sum over its labels; empty while nobody answers.

        Of events, those outcomes that exclude each other; the others say more of accepted ones.
        """
        try:
            text = httpx.get(f"http://127.0.0.1:{self.place.http}/metrics", trust_env=False).text
        except httpx.HTTPError:
            return {}
        sums: dict[str, float] = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.labels.get("outcome", "accepted") in ("accepted", "late", "dead"):
                    sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
        return sums

    def until(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait for a condition while the job lives. Raises DemoError if it ends or time runs out."""
        log = self.place.work / "job.log"
        deadline = time.monotonic() + PATIENCE
        while not condition():
            code = self._process.poll()
            if code is not None:
                raise DemoError(f"the job ended with {code} while waiting for {what}:\n{log.read_text()}")
            if time.monotonic() > deadline:
                raise DemoError(f"no {what} within {PATIENCE:.0f} seconds; see {log}")
            time.sleep(0.1)

    def take(self, files: Sequence[Path]) -> tuple[int, float]:
        """Rename files into the inbox of the stream that their folder names, and wait until they are read.

        Returns how many lines they have, and lines a second.
        """
        lines = 0
        for path in files:
            lines += path.read_bytes().count(b"\n")
            path.rename(self.place.work / "inbox" / path.parent.name / path.name)
        self._lines += lines
        start = time.monotonic()
        self.until(f"{lines:,} events", lambda: self.metrics().get("cep_events_total", 0) >= self._lines)
        return lines, lines / (time.monotonic() - start)

    def kill(self) -> None:
        """Ends it as a loss of power would."""
        self._process.kill()
        self._process.wait()

    def deploy(self, packs: Path) -> None:
        """Deploy packs and show what the command says. Raises DemoError if it fails."""
        command = [str(CEP), "deploy", str(packs), "--job", str(self.place.job)]
        done = subprocess.run(command, env=self.place.env, capture_output=True, text=True, check=False)
        shown = "".join(f"    {line}\n" for line in (done.stdout + done.stderr).splitlines())
        print(shown, end="", flush=True)
        if done.returncode:
            raise DemoError(f"cep deploy ended with {done.returncode}")


@contextmanager
def job(place: DemoRun) -> Iterator[Job]:
    """`cep run`, from its first batch on."""
    with _running("the job", [CEP, "run", place.job], place, "job.log") as process:
        print("starting the job (Spark takes some seconds) ...", flush=True)
        print(f"its page is {place.page}, to sign in there: {place.env['DEMO_TOKEN']}", flush=True)
        start = time.monotonic()
        started = Job(place, process)
        started.until("first batch", lambda: started.metrics().get("cep_batch_duration_seconds_count", 0) > 0)
        print(f"first batch after {time.monotonic() - start:.1f} s", flush=True)
        yield started


def look_around(place: DemoRun, silenced: str) -> None:
    """Leave the job's page to whoever sits there until Ctrl-C, with a silence of a rule to try; with
    DEMO_SERVE=1 also where nobody sits at a terminal. What silences hold goes out then."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) and os.environ.get("DEMO_SERVE") != "1":
        return
    add = ["add", f"rule = {silenced}", "--for", "2h", "--why", "too many of them while we look around"]
    _silences(place, *add)
    print(f"\nthe job goes on; look around on {place.page} (token {place.env['DEMO_TOKEN']}):")
    print(f"alerts, episodes to acknowledge and close, a silence of {silenced}. Ctrl-C ends it.", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
    print("\ntaking silences back, then ending the stream ...", flush=True)
    for one in json.loads(_silences(place, "list", "--format", "json"))["silences"]:
        _silences(place, "expire", one["id"])


def _silences(place: DemoRun, *arguments: str) -> str:
    """The lines that `cep silences` prints. Raises DemoError."""
    command = [str(CEP), "silences", *arguments, "--job", str(place.job)]
    done = subprocess.run(command, env=place.env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DemoError(f"cep silences {arguments[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def drain(place: DemoRun) -> None:
    """`cep run --once --drain`: settles what is still open. Raises DemoError if it fails."""
    command, log = [CEP, "run", place.job, "--once", "--drain"], place.work / "drain.log"
    with _running("the drain", command, place, log.name) as process:
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            said = f"cep run --once --drain has not ended within {PATIENCE:.0f} seconds; see {log}"
            raise DemoError(said) from None
        if code:
            raise DemoError(f"cep run --once --drain ended with {code}:\n{log.read_text()}")


def run_to_the_end(job: Path) -> list[Mapping[str, Any]]:
    """`cep run --once --drain` with its messages shown; the alerts of its outbox. Raises DemoError."""
    code = subprocess.run([str(CEP), "run", str(job), "--once", "--drain"], check=False).returncode
    if code:
        raise DemoError(f"cep run --once --drain ended with {code}")
    outbox = Outbox.open(f"sqlite:///{job.parent / 'state' / 'outbox.db'}")
    try:
        return [stored.alert for stored in outbox.alerts()]
    finally:
        outbox.close()


@contextmanager
def _running(
    name: str, command: Sequence[object], place: DemoRun, log: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is asked to stop at the end; what it prints goes to a file of the work folder."""
    path = place.work / log
    with path.open("wb") as output:
        process = subprocess.Popen(
            [str(c) for c in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=place.env,
            process_group=0,  # Ctrl-C is the demo's, which ends what it began
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    print(f"demo: {name} did not stop when asked and was killed; see {path}", file=sys.stderr)


def kept(place: DemoRun) -> OutboxContent:
    """The content of the job's outbox."""
    outbox = Outbox.open(f"sqlite:///{place.work / 'state' / 'outbox.db'}", create=False)
    try:
        with outbox.reading() as connection:
            dead = dead_letters.count(connection)
            erased = connection.scalars(select(alerts.c.id).where(alerts.c.key == ERASED)).all()
        found = {stored.alert["id"]: stored.alert for stored in outbox.alerts()}
        return OutboxContent(found, outbox.pending("desk"), dead, frozenset(erased))
    finally:
        outbox.close()


def check_nothing_is_missing(place: DemoRun, held: OutboxContent, malformed: int) -> None:
    """Every alert was verified by the receiver, every malformed line kept. Raises DemoError."""
    received = {alert["id"] for alert in place.received() if alert["pack"] != TEST_PACK}
    if received - held.erased != held.alerts.keys() or held.open_deliveries:
        raise DemoError("what the receiver verified is not what the outbox holds")
    if held.dead != malformed:
        raise DemoError(f"{malformed:,} malformed lines were sent, {held.dead:,} dead letters were kept")
