"""The media desk's job over a day of articles, compared with `cep eval` over the same files.

Exits with 1 if the two raise different alerts, or none.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from articles import write

from alerts.outbox import Outbox

HERE = Path(__file__).parent
CEP = Path(sys.executable).with_name("cep")


def command(*arguments: object) -> str:
    """What a command of `cep` prints. Raises CalledProcessError, its words printed, if it fails."""
    done = subprocess.run([str(CEP), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout, done.stderr, sep="", file=sys.stderr)
        done.check_returncode()
    return done.stdout + done.stderr


def demo(work: Path) -> Sequence[dict[str, object]]:
    """Runs the job and `cep eval`; the job's alerts. Raises SystemExit where they differ."""
    shutil.rmtree(work, ignore_errors=True)
    inbox = work / "inbox" / "article"
    inbox.mkdir(parents=True)
    text = (HERE / "job.toml").read_text("utf-8").replace("work/", "")
    job = work / "job.toml"
    job.write_text(text.replace('"packs/"', json.dumps(str(HERE / "packs"))), "utf-8")
    files = write(inbox, 6)
    print("the media desk: 999 articles of a day, 2,030 standing queries ...", flush=True)
    begun = time.monotonic()
    command("run", job, "--once", "--drain")
    print(f"cep run --once --drain  {time.monotonic() - begun:.0f} s, most of it Spark's start", flush=True)
    outbox = Outbox.open(f"sqlite:///{work}/state/outbox.db", create=False)
    try:
        raised = [one.alert for one in outbox.alerts()]
    finally:
        outbox.close()
    events = [f"article={files[0]}", *files[1:]]
    written = work / "alerts.jsonl"
    print(command("eval", HERE / "packs", "--events", *events, "--drain", "--output", written).strip())
    expected = {json.loads(line)["id"] for line in written.read_text("utf-8").splitlines()}
    if not raised or {alert["id"] for alert in raised} != expected:
        raise SystemExit("the job and `cep eval` raised different alerts, or none")
    return raised


def report(alerts: Sequence[dict[str, object]]) -> None:
    """Prints what was found."""
    rules = Counter(str(alert["rule"]) for alert in alerts)
    for rule, number in rules.most_common():
        print(f"  {number:5,}  {rule}")
    queries = Counter(str(alert["emit"]["query"]) for alert in alerts if alert["kind"] == "hit")  # type: ignore[index]
    print("the desk's queries that hit most: " + ", ".join(f"{q} ({n})" for q, n in queries.most_common(5)))
    for alert in [a for a in alerts if a["rule"] == "war_in_two_editions"][:3]:
        print(f"  {alert['time']}  {alert['summary']}")
    print("the job and `cep eval` raised the same alerts")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--work", type=Path, default=HERE / "work", help="where files go (default: beside it)"
    )
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    report(demo(parser.parse_args().work.absolute()))
