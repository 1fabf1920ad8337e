"""Card payments with three known kinds of fraud, and the chargebacks that follow them.

The population and the scenarios are those of the Fraud Detection Handbook (Le Borgne et al., 2022,
chapter 3, "Transaction data simulator"): customers pay at terminals near them, with amounts and a
pace of their own, and

    1  every payment above 220 is fraud;
    2  every day two terminals are compromised: all that they take for 28 days is fraud;
    3  every day three cards are stolen: for 14 days a third of their payments is fraud, five times
       the usual amount.

A chargeback is reported seven days after each fraudulent payment. Events are written in order of
arrival, up to `LATENESS` seconds out of order, with some redelivered, some malformed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CARDS, TERMINALS, RADIUS = 5_000, 10_000, 5.0
DAYS = 22
LATENESS = 120
CHARGEBACK_AFTER = 7 * 86_400
START = datetime(2026, 1, 5, tzinfo=UTC)

USUAL = ("groceries", "fuel", "pharmacy", "restaurant", "books and music", "hardware store", "train ticket")
STOLEN = ("prepaid gift card", "Gift card, online code", "electronics", "gift-card bundle", "jewellery")
BENIGN = ("gift card refund", "refund: gift card unused")


@dataclass(frozen=True, slots=True)
class Generated:
    """The files written: those of each stream in order, and how many lines of each sort."""

    files: dict[str, list[Path]]
    payments: int
    redelivered: int
    malformed: int
    chargebacks: int

    @property
    def lines(self) -> int:
        """All lines of all files."""
        return self.payments + self.redelivered + self.malformed + self.chargebacks


@dataclass(frozen=True, slots=True)
class Payments:
    """One row a payment, in order of event time; `scenario` 0 is an honest one."""

    seconds: NDArray[np.float64]
    card: NDArray[np.int64]
    terminal: NDArray[np.int64]
    amount: NDArray[np.float64]
    memo: NDArray[np.str_]
    scenario: NDArray[np.int64]


def simulate(count: int, random: np.random.Generator) -> Payments:
    """The first `count` payments of the population; seconds since `START`."""
    places = random.uniform(0, 100, (CARDS, 2))
    terminals = random.uniform(0, 100, (TERMINALS, 2))
    mean = random.uniform(5, 100, CARDS)
    pace = random.uniform(0, 4, CARDS)

    number = random.poisson(pace[:, None], (CARDS, DAYS))
    card = np.repeat(np.arange(CARDS), number.sum(axis=1))
    day = np.concatenate([np.repeat(np.arange(DAYS), row) for row in number])
    second = random.normal(43_200, 20_000, len(card))
    amount = random.normal(mean[card], mean[card] / 2)
    amount = np.where(amount < 0, random.uniform(0, 2 * mean[card]), amount)
    terminal = np.empty(len(card), dtype=np.int64)
    begins = np.searchsorted(card, np.arange(CARDS + 1))
    for c in range(CARDS):
        near = np.flatnonzero(((terminals - places[c]) ** 2).sum(axis=1) < RADIUS**2)
        terminal[begins[c] : begins[c + 1]] = (
            random.choice(near, begins[c + 1] - begins[c]) if len(near) else -1
        )
    inside = (second > 0) & (second < 86_400) & (terminal >= 0)
    seconds = np.round(day * 86_400 + second, 3)
    order = np.argsort(seconds, kind="stable")
    order = order[inside[order]][:count]
    if len(order) < count:
        raise SystemExit(f"the population makes {len(order)} payments in {DAYS} days; ask for no more")
    seconds, card, terminal, amount = seconds[order], card[order], terminal[order], amount[order]
    day = (seconds // 86_400).astype(np.int64)

    scenario = np.where(amount > 220, 1, 0)
    for first in range(-28, DAYS):
        for bad in random.choice(TERMINALS, 2, replace=False):
            scenario[(terminal == bad) & (day >= first) & (day < first + 28)] = 2
    for first in range(-14, DAYS):
        for bad in random.choice(CARDS, 3, replace=False):
            taken = np.flatnonzero((card == bad) & (day >= first) & (day < first + 14))
            stolen = random.choice(taken, len(taken) // 3, replace=False)
            amount[stolen] *= 5
            scenario[stolen] = 3
    memo = random.choice(USUAL, len(card))
    memo[random.random(len(card)) < 0.001] = BENIGN[0]
    thief = scenario == 3
    memo = np.where(thief, random.choice(STOLEN, len(card)), memo.astype("U24"))
    return Payments(seconds, card, terminal, np.maximum(np.round(amount, 2), 0.01), memo, scenario)


def instant(seconds: float) -> str:
    """RFC 3339 with milliseconds."""
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Line = tuple[float, str]


def arrivals(payments: Payments, random: np.random.Generator) -> tuple[list[Line], list[Line], int, int]:
    """Payments and chargebacks as lines with their time of arrival, sorted by it.

    Also how many of the payments' lines are redeliveries, and how many are malformed.
    """
    redelivered = bad = 0
    delay = np.minimum(random.exponential(4, len(payments.card)), LATENESS - 1)
    lines: list[Line] = []
    back: list[Line] = []
    for i in range(len(payments.card)):
        seconds = float(payments.seconds[i])
        event = {
            "payment_id": f"p{i:06d}",
            "occurred_at": instant(seconds),
            "card_id": f"c{payments.card[i]:04d}",
            "terminal_id": f"t{payments.terminal[i]:05d}",
            "amount": float(payments.amount[i]),
            "memo": str(payments.memo[i]),
        }
        line = json.dumps(event)
        lines.append((seconds + float(delay[i]), line))
        if random.random() < 0.0005:
            lines.append((seconds + float(delay[i]) + 1, line))
            redelivered += 1
        if random.random() < 0.0002:
            lines.append((seconds + float(delay[i]), malformed(event, int(random.integers(4)))))
            bad += 1
        if payments.scenario[i]:
            report = seconds + CHARGEBACK_AFTER
            claim = {
                "chargeback_id": f"b{i:06d}",
                "reported_at": instant(report),
                "payment_id": event["payment_id"],
                "card_id": event["card_id"],
                "terminal_id": event["terminal_id"],
                "amount": event["amount"],
            }
            back.append((report + float(delay[i]), json.dumps(claim)))
    return sorted(lines), sorted(back), redelivered, bad


def malformed(event: dict[str, object], kind: int) -> str:
    """The event with one of four mistakes that real feeds make."""
    match kind:
        case 0:
            return json.dumps(event)[:-20]
        case 1:
            return json.dumps({**event, "amount": "12,50"})
        case 2:
            return json.dumps({k: v for k, v in event.items() if k != "card_id"})
        case _:
            return json.dumps({**event, "occurred_at": "yesterday"})


def write(folder: Path, name: str, lines: Sequence[Line], cuts: Sequence[float]) -> list[Path]:
    """One JSON lines file for each interval between cuts (times of arrival), in order."""
    folder.mkdir(parents=True, exist_ok=True)
    bounds = np.searchsorted([at for at, _ in lines], [*cuts, np.inf])
    files, start = [], 0
    for number, end in enumerate(bounds):
        path = folder / f"{name}-{number:03d}.jsonl"
        path.write_text("".join(f"{line}\n" for _, line in lines[start:end]), "utf-8")
        files.append(path)
        start = int(end)
    return files


def generate(folder: Path, count: int, files: int, seed: int) -> Generated:
    """Write payments, chargebacks and labels.csv (payment_id, scenario) below `folder`.

    A chargeback that would be reported after the last payment is not written.
    """
    random = np.random.default_rng(seed)
    payments = simulate(count, random)
    lines, back, redelivered, bad = arrivals(payments, random)
    end = lines[-1][0]
    back = [claim for claim in back if claim[0] <= end]
    cuts = [lines[len(lines) * k // files][0] for k in range(1, files)]
    written = {
        "payment": write(folder / "payment", "payment", lines, cuts),
        "chargeback": write(folder / "chargeback", "chargeback", back, cuts),
    }
    with (folder / "labels.csv").open("w", encoding="utf-8") as labels:
        labels.write("payment_id,scenario\n")
        labels.writelines(f"p{i:06d},{s}\n" for i, s in enumerate(payments.scenario))
    return Generated(written, count, redelivered, bad, len(back))


def main() -> None:
    """The command line of the generator."""
    parser = argparse.ArgumentParser(description="Write card payments with labelled fraud, and chargebacks.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--payments", type=int, default=200_000)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    generate(options.folder, options.payments, options.files, options.seed)


if __name__ == "__main__":
    main()
