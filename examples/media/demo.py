"""The media desk's job from end to end: the second half of `make demo`.

999 articles arrive as if over a day and meet 2,067 standing queries; half way a changed watchlist is
deployed to the running job. Prints what the queries and the rules found. Exits with 1 if anything is
missing: an article, an alert, a delivery, a dead letter; or if `cep eval` over the same files raises others.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

from demo_job import CEP, DemoError, DemoRun, check_nothing_is_missing, desk, drain, job, kept, prepare
from media.arrivals import Arrived, arrive

HERE = Path(__file__).parent
RULES = (
    "disaster",
    "alarm",
    "conflict_grows",
    "taken_back",
    "election_trouble",
    "feed_silent",
    "topic_burst",
)
ADDED = {
    "id": "desk-rescue",
    "query": "(rescue* OR lifeboat* OR surviv*) NEAR/8 (sea OR fire OR crew OR passenger* OR accident)",
    "tags": ["alarm"],
    "priority": 5,
}
"""The query that is added while the job runs."""


def next_packs(work: Path) -> Path:
    """The pack as it is deployed half way: one more query in its watchlist."""
    packs = work / "next"
    shutil.copytree(HERE / "packs", packs)
    rules = packs / "media.rules"
    rules.write_text(rules.read_text("utf-8").replace('version "1.0.0"', 'version "1.1.0"'), "utf-8")
    with (packs / "watchlist.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(ADDED) + "\n")
    return packs


def demo(work: Path, seed: int) -> None:
    """The whole demo. Raises DemoError where something is missing."""
    begun = time.monotonic()
    place = prepare(HERE, work, ("article",))
    arrived = arrive(place.work / "generated", files=24, seed=seed)
    before, after = arrived.files[:12], arrived.files[12:]
    with desk(place):
        with job(place) as running:
            lines, _ = running.take(before)
            print(f"{lines:,} articles; deploying a watchlist with one more query ...", flush=True)
            running.deploy(next_packs(place.work))
            more, _ = running.take(after)
            print(f"{more:,} articles; ending the stream ...", flush=True)
        drain(place)
    conclude(place, arrived)
    compare(place)
    print(f"the media demo  {time.monotonic() - begun:.0f} s")


def compare(place: DemoRun) -> None:
    """The job raised what `cep eval` does, but for the query that it had only for half a day.

    Raises DemoError.
    """
    files = [str(path) for path in sorted((place.work / "inbox" / "article").iterdir())]
    output = place.work / "eval.jsonl"
    command = [CEP, "eval", place.work / "next", "--events", f"article={files[0]}", *files[1:], "--drain"]
    done = subprocess.run(
        [*map(str, command), "--output", str(output)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise DemoError(f"cep eval ended with {done.returncode}:\n{done.stderr}")
    alerts = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    evaluated, received = (
        {alert["id"] for alert in found if alert["emit"].get("query") != ADDED["id"]}
        for found in (alerts, place.received())
    )
    if evaluated != received:
        raise DemoError(f"cep eval raises other alerts: {len(evaluated ^ received)} differ")
    print(f"cep eval        the same {len(evaluated):,} alerts over the same files")


def conclude(place: DemoRun, arrived: Arrived) -> None:
    """Print what was found, and check that nothing is missing. Raises DemoError."""
    received, held = place.received(), kept(place)
    by_rule = Counter(str(alert["rule"]) for alert in received)
    by_query = Counter(str(alert["emit"]["query"]) for alert in received if alert["kind"] == "hit")
    examples = {str(alert["rule"]): str(alert["summary"]) for alert in received}
    print(f"\n{'rule':<18} {'alerts':>6}  for example")
    for rule in RULES:
        print(f"{rule:<18} {by_rule[rule]:>6}  {examples.get(rule, '')[:80]}")
    print(f"\n{'query':<26} {'hits':>6}")
    for query, hits in by_query.most_common():
        print(f"{query:<26} {hits:>6}")
    print(f"\narticles        {arrived.lines:,} lines, {arrived.malformed:,} of them malformed")
    print(f"alerts          {len(held.alerts):,} in the outbox")
    print(f"deliveries      {len(received):,} verified by the receiver, {held.open_deliveries:,} still open")
    print(f"dead letters    {held.dead:,} kept of {arrived.malformed:,} malformed lines")
    silent = [rule for rule in RULES if not by_rule[rule]]
    if silent:
        raise DemoError(f"no alert of {', '.join(silent)}")
    if not by_query[str(ADDED["id"])]:
        raise DemoError(f"no hit of {ADDED['id']}, the query that was added half way")
    check_nothing_is_missing(place, held, arrived.malformed)


def main() -> None:
    """The command line of the demo."""
    parser = argparse.ArgumentParser(description="The media desk's job from end to end.")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--work", type=Path, default=HERE / "work" / "demo")
    options = parser.parse_args()
    try:
        demo(options.work.resolve(), options.seed)
    except DemoError as error:
        raise SystemExit(f"demo: {error}") from None


if __name__ == "__main__":
    main()
