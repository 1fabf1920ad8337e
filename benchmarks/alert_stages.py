"""The cost of what stands between the outbox and a receiver: routes, silences, inhibitions, groups.

    python benchmarks/alert_stages.py [--alerts 20000] [--routes 20] [--silences 50] [--cards 1000]

Alerts that one core routes in a second, by rules and severities alone and by the values of alerts; those that
it asks silences about; and those that pass all stages of a receiver, which read each alert once. Medians of
five turns in processor time. Half of the silences name a rule that is not there, the others a value that no
alert has. With as many cards as alerts no value comes again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
from alert_episodes import raised
from calibration import calibration

from alerts.due import Due
from alerts.grouping import Grouping, Manner
from alerts.inhibiting import Inhibition
from alerts.matchers import Labels, Matchers
from alerts.raised_columns import RaisedColumns
from alerts.routing import Branch, Branches
from alerts.settings import Settings
from alerts.silences import Silence
from alerts.stages.candidate import Candidate
from alerts.stages.inhibit import Inhibitors
from alerts.stages.mute import Silences
from alerts.stages.notifying import Notifying
from alerts.stages.outgoing import Outgoing
from alerts.stages.to_receiver import sent

TURNS = 5
INHIBITION = Inhibition(
    Matchers.of(["severity = critical"]),
    Matchers.of(["rule =~ card.*"]),
    ("card_id",),
    10**12,
    "inhibition 1",
)


def main() -> None:
    """Prints the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--alerts", type=int, default=20_000)
    options.add_argument("--routes", type=int, default=20)
    options.add_argument("--silences", type=int, default=50)
    options.add_argument("--cards", type=int, default=1_000)
    given = options.parse_args()
    print(calibration())
    came = RaisedColumns.of([raised(number, given.cards) for number in range(given.alerts)])
    coming = Outgoing(np.arange(given.alerts), came, np.zeros(given.alerts, np.int64))
    bodies = [one.body for one in came]
    of_rules = branches(given.routes, "rule = rule{}", "severity =~ critical|low")
    of_values = branches(given.routes, "card_id =~ card-{}.", "n = 3")
    some = [
        Silence(
            str(n),
            "ann",
            "noise",
            0,
            2**62,
            Matchers.of([f"rule =~ r{n}.*" if n % 2 else f"card_id =~ x{n}.*", "n != 4"]),
        )
        for n in range(given.silences)
    ]
    silences = Silences(some)
    tell(f"{given.routes} routes by rule", given.alerts, lambda: list(sent(coming, of_rules, 5)))
    tell(f"{given.routes} routes by value", given.alerts, lambda: list(sent(coming, of_values, 5)))
    tell("routes, silences, groups", given.alerts, lambda: whole(came, coming, of_rules, some))
    tell(
        f"{given.silences} silences",
        given.alerts,
        lambda: [silences.mute(Labels(json.loads(body)), 5) for body in bodies],
    )


def whole(came: RaisedColumns, coming: Outgoing, routes: Branches, silences: list[Silence]) -> None:
    """Routes alerts, then passes each through the stages of its receiver, as the dispatcher does."""
    list(sent(coming, routes, 5))
    manner = Manner(Grouping(("rule", "card_id")))
    stages = Notifying("desk", Settings({"desk": manner}, (), [INHIBITION]), Inhibitors([INHIBITION]), {})
    stages.mute.silences = Silences(silences)
    for number, one in enumerate(came):
        stages(Candidate(Due(number, one.id, one.body, 0, 0, one.time)), 5)


def branches(count: int, *matchers: str) -> Branches:
    """So many routes that take few alerts, and one behind them for all."""
    some = [Branch(Matchers.of(one.format(n) for one in matchers), ("pager",)) for n in range(count)]
    return Branches((*some, Branch(Matchers(), ("desk",))))


def tell(name: str, alerts: int, work: Callable[[], object]) -> None:
    """Prints how many alerts a second of processor time are worked on."""
    spent = []
    for _ in range(TURNS):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    print(f"{name:24}{alerts / statistics.median(spent):12,.0f} alerts a second")


if __name__ == "__main__":
    main()
