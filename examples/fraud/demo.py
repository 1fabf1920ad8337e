"""The main job from end to end: `make demo`.

Generates 200,000 payments with labelled fraud, starts `cep run` on them and a receiver that verifies
what it gets, deploys a changed pack half way, drains the job, and prints what every rule caught.
Exits with 1 if anything is missing: an event, an alert, a delivery, a dead letter.
"""

from __future__ import annotations

import argparse
import base64
import csv
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from generate import Generated, generate
from prometheus_client.parser import text_string_to_metric_families
from score import report, scores

from alerts.outbox import Outbox
from cep import deadletters

HERE = Path(__file__).parent
CEP = Path(sys.executable).with_name("cep")
PATIENCE = 300.0


class DemoError(Exception):
    """Something that the demo promises did not happen; the text says what."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where this run of the demo keeps its files, and the ports that it found free."""

    work: Path
    desk: int
    http: int

    @property
    def job(self) -> Path:
        """The job file: job.toml with the ports of this run."""
        return self.work / "job.toml"

    @property
    def accepted(self) -> Path:
        """What the receiver verified and accepted: its ledger, one webhook a line."""
        return self.work / "accepted.jsonl"


def free_ports(count: int) -> list[int]:
    """Ports on loopback that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def prepare(work: Path) -> Place:
    """An empty work folder with a job file of its own."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    desk, http = free_ports(2)
    text = (HERE / "job.toml").read_text("utf-8")
    text = text.replace("work/", "").replace('"packs/"', f'"{HERE / "packs"}"')
    text = text.replace(":8091", f":{desk}").replace(":8090", f":{http}")
    place = Place(work, desk, http)
    place.job.write_text(text, "utf-8")
    for stream in ("payment", "chargeback"):
        (work / "inbox" / stream).mkdir(parents=True)
    return place


@contextmanager
def running(
    name: str, command: Sequence[object], log: Path, env: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is asked to stop at the end; what it prints goes to `log`."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(c) for c in command], stdout=output, stderr=subprocess.STDOUT, env=env
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
                    print(f"demo: {name} did not stop when asked and was killed; see {log}", file=sys.stderr)


def until(what: str, condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a condition while a process lives. Raises DemoError if it ends or time runs out."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            raise DemoError(
                f"the job ended with {process.returncode} while waiting for {what}:\n{log.read_text()}"
            )
        if time.monotonic() > deadline:
            raise DemoError(f"no {what} within {PATIENCE:.0f} seconds; see {log}")
        time.sleep(0.1)


def metrics(place: Place) -> dict[str, float]:
    """The job's metrics: for every sample name the sum over its labels; empty while nobody answers.

    Of events, those outcomes that exclude each other; the others say more of accepted ones.
    """
    try:
        text = httpx.get(f"http://127.0.0.1:{place.http}/metrics", trust_env=False).text
    except httpx.HTTPError:
        return {}
    sums: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.labels.get("outcome", "accepted") in ("accepted", "late", "dead"):
                sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    return sums


def deliver(place: Place, files: Sequence[Path]) -> int:
    """Rename files into the job's inbox; the number of lines in them."""
    lines = 0
    for path in files:
        lines += path.read_bytes().count(b"\n")
        path.rename(place.work / "inbox" / path.parent.name / path.name)
    return lines


def rate(place: Place, lines: int, before: float, process: subprocess.Popen[bytes], log: Path) -> float:
    """Events a second from now until the job has seen `lines` more than `before`."""
    start = time.monotonic()
    until(
        f"{lines:,} events", lambda: metrics(place).get("cep_events_total", 0) >= before + lines, process, log
    )
    return lines / (time.monotonic() - start)


def first_half(generated: Generated) -> tuple[list[Path], list[Path]]:
    """The files before the deploy and those after it, of all streams."""
    before: list[Path] = []
    after: list[Path] = []
    for paths in generated.files.values():
        before += paths[: len(paths) // 2]
        after += paths[len(paths) // 2 :]
    return before, after


def demo(work: Path, payments: int, seed: int) -> None:
    """The whole demo. Raises DemoError where something is missing."""
    begun = time.monotonic()
    place = prepare(work)
    print(f"generating {payments:,} payments ...", flush=True)
    generated = generate(place.work / "generated", payments, files=40, seed=seed)
    before, after = first_half(generated)
    secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    env = {**os.environ, "DESK_SECRET": secret}
    receive = [CEP, "receive", "--secret", secret, "--listen", f"127.0.0.1:{place.desk}"]
    job_log, desk_log = place.work / "job.log", place.work / "receiver.log"
    with running("the receiver", [*receive, "--output", place.accepted], desk_log, env):
        with running("the job", [CEP, "run", place.job], job_log, env) as job:
            print("starting the job (Spark takes some seconds) ...", flush=True)
            start = time.monotonic()
            until("first batch", lambda: batches(place) > 0, job, job_log)
            print(f"first batch after {time.monotonic() - start:.1f} s", flush=True)
            lines = deliver(place, before)
            speeds = [rate(place, lines, 0, job, job_log)]
            print(f"{lines:,} events, {speeds[0]:,.0f} a second; deploying the changed pack ...", flush=True)
            deploy(place, env)
            more = deliver(place, after)
            speeds.append(rate(place, more, lines, job, job_log))
            print(f"{more:,} events, {speeds[1]:,.0f} a second; ending the stream ...", flush=True)
        drain_log = place.work / "drain.log"
        with running("the drain", [CEP, "run", place.job, "--once", "--drain"], drain_log, env) as drain:
            if drain.wait(PATIENCE):
                raise DemoError(
                    f"cep run --once --drain ended with {drain.returncode}:\n{drain_log.read_text()}"
                )
    conclude(place, generated, (lines + more) / (lines / speeds[0] + more / speeds[1]))
    print(f"the whole demo  {time.monotonic() - begun:.0f} s")


def batches(place: Place) -> float:
    """How many batches the job has run."""
    return metrics(place).get("cep_batch_duration_seconds_count", 0)


def deploy(place: Place, env: dict[str, str]) -> None:
    """Deploy the changed pack and show what the command says. Raises DemoError if it fails."""
    command = [str(CEP), "deploy", str(HERE / "next"), "--job", str(place.job)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    print("".join(f"    {line}\n" for line in (done.stdout + done.stderr).splitlines()), end="", flush=True)
    if done.returncode:
        raise DemoError(f"cep deploy ended with {done.returncode}")


def conclude(place: Place, generated: Generated, speed: float) -> None:
    """Print what was caught, and check that nothing is missing. Raises DemoError."""
    accepted = [json.loads(line) for line in place.accepted.read_text("utf-8").splitlines()]
    received = [json.loads(one["body"])["data"] for one in accepted]
    with (place.work / "generated" / "labels.csv").open(encoding="utf-8") as text:
        labels = {row["payment_id"]: int(row["scenario"]) for row in csv.DictReader(text)}
    found = scores(received)
    outbox = Outbox.open(f"sqlite:///{place.work / 'state' / 'outbox.db'}", create=False)
    try:
        kept = {stored.alert["id"] for stored in outbox.alerts()}
        open_deliveries = outbox.pending("desk")
        with outbox.reading() as connection:
            dead = deadletters.count(connection)
    finally:
        outbox.close()
    print(f"\n{report(found, labels)}\n")
    print(f"events          {generated.lines:,}, {speed:,.0f} a second")
    print(f"alerts          {len(kept):,} in the outbox")
    print(f"deliveries      {len(received):,} verified by the receiver, {open_deliveries:,} still open")
    print(f"dead letters    {dead:,} kept of {generated.malformed:,} malformed lines")
    silent = [rule for rule, score in found.items() if not score.alerts]
    if silent:
        raise DemoError(f"no alert of {', '.join(silent)}")
    if {alert["id"] for alert in received} != kept or open_deliveries:
        raise DemoError("what the receiver verified is not what the outbox holds")
    if dead != generated.malformed:
        raise DemoError(f"{generated.malformed:,} malformed lines were sent, {dead:,} dead letters were kept")


def main() -> None:
    """The command line of the demo."""
    parser = argparse.ArgumentParser(description="The fraud desk's job from end to end.")
    parser.add_argument("--payments", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "demo")
    options = parser.parse_args()
    try:
        demo(options.work.resolve(), options.payments, options.seed)
    except DemoError as error:
        raise SystemExit(f"demo: {error}") from None


if __name__ == "__main__":
    main()
