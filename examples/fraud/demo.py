"""The fraud desk's job from end to end: `make demo`.

Generates 200,000 payments with labelled fraud, starts `cep run` on them and a receiver that verifies
what it gets, deploys a changed pack half way, leaves the job's page to whoever sits at a terminal, drains
the job, and prints what every rule caught.
Exits with 1 if anything is missing: an event, an alert, a delivery, a dead letter.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from demo_job import (
    DemoError,
    DemoRun,
    check_nothing_is_missing,
    desk,
    drain,
    job,
    kept,
    look_around,
    prepare,
)
from fraud.generate import Generated, generate
from fraud.score import report, scores

HERE = Path(__file__).parent


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
    place = prepare(HERE, work, ("payment", "chargeback"))
    print(f"generating {payments:,} payments ...", flush=True)
    generated = generate(place.work / "generated", payments, files=40, seed=seed)
    before, after = first_half(generated)
    with desk(place):
        with job(place) as running:
            lines, speed = running.take(before)
            print(f"{lines:,} events, {speed:,.0f} a second; deploying the changed pack ...", flush=True)
            running.deploy(HERE / "next")
            more, then = running.take(after)
            print(f"{more:,} events, {then:,.0f} a second", flush=True)
            look_around(place, "velocity")
        drain(place)
    conclude(place, generated, (lines + more) / (lines / speed + more / then))
    print(f"the fraud demo  {time.monotonic() - begun:.0f} s")


def conclude(place: DemoRun, generated: Generated, speed: float) -> None:
    """Print what was caught, and check that nothing is missing. Raises DemoError."""
    with (place.work / "generated" / "labels.csv").open(encoding="utf-8") as text:
        labels = {row["payment_id"]: int(row["scenario"]) for row in csv.DictReader(text)}
    received, held = place.received(), kept(place)
    found = scores(received)
    print(f"\n{report(found, labels)}\n")
    print(f"events          {generated.lines:,}, {speed:,.0f} a second")
    print(f"alerts          {len(held.alerts):,} in the outbox")
    print(f"deliveries      {len(received):,} verified by the receiver, {held.open_deliveries:,} still open")
    print(f"dead letters    {held.dead:,} kept of {generated.malformed:,} malformed lines")
    silent = [rule for rule, score in found.items() if not score.alerts]
    if silent:
        raise DemoError(f"no alert of {', '.join(silent)}")
    check_nothing_is_missing(place, held, generated.malformed)


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
