"""The time that packs take to read, resolve and check as they grow, and what hostile texts cost.

    python benchmarks/front_end.py [--rules 10 100 1000 5000]

Processor seconds of one pass over each text, after one that builds the grammar. Rules are typical: a
pattern of three steps with conditions, a key, a bound and outputs; each tenth has a test. The last column
is the time a rule (or a character) takes, against the first row: 1.0 is linear. `start` is the time of a
whole `cep check` process, best of five.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from calibration import calibration

from rules.checks import check
from rules.grammar import parse
from rules.resolve import resolve
from rules.resolve.findings import Findings
from rules.source import SourceFile
from rules.structure import with_structures

STREAMS = """pack cards version "1"
stream payment {
  payment_id: string  card_id: string  at: timestamp  kind: string  amount: double  n: long  country: string?
  device: { os: string  version: long? }?  tags: list<string>
  id payment_id  time at  lateness 30 seconds
}
stream login { login_id: string  card_id: string  at: timestamp  ok: boolean  id login_id  time at }
let risky = ("NG", "RU", "KP")
"""
RULE = """
rule probe_{n} {{
  severity high
  tags     "card-testing", "desk-{n}"
  summary  "{{n}} probes on {{card_id}}, then {{amount}}"
  by       card_id
  match    probe: payment[amount < {n} and kind in ("auth", "wire") and country is not null]{{3,}}
        -> big: payment[amount > 20 * avg(probe.amount) and country != last(probe.country)
                        and not (country in risky) and device.os == "ios"]
        -> absent login[ok and hour(at) between 8 and 17] for 2 hours
  within   1 day
  emit     card_id, n = count(probe), spent = round(sum(probe.amount), 2), amount = big.amount
  suppress 1 hour by card_id
}}
"""
TEST = """
test probe_{n} "three probes, then a large purchase" {{
  at 0s  payment {{ card_id: "c1", amount: 1.00, country: "DE", kind: "auth" }} x 3 every 10s
  at 5m  payment {{ card_id: "c1", amount: 900, country: "FR", device: {{ os: "ios" }} }}
  expect at 125m {{ card_id: "c1", n: 3 }}
}}
"""


def pack(rules: int) -> str:
    """The text of a pack of so many rules."""
    return STREAMS + "".join(
        RULE.format(n=n) + (TEST.format(n=n) if n % 10 == 0 else "") for n in range(rules)
    )


def on(condition: str) -> str:
    """A pack of one rule over single payments."""
    return f"{STREAMS}rule r {{ on payment[{condition}] }}"


def hostile(size: int) -> Mapping[str, str]:
    """Texts of one rule that grow with `size`."""
    return {
        "terms": on(" and ".join(f"n != {i}" for i in range(size))),
        "terms of or": on(" or ".join(f'kind == "k{i}"' for i in range(size))),
        "a list": on("n in (" + ", ".join(map(str, range(size))) + ")"),
        "a string": on('kind == "' + "x" * (100 * size) + '"'),
        "a comment": on("n > 5 # " + "x" * (100 * size) + "\n"),
        "fields": STREAMS
        + "stream s { at: timestamp "
        + " ".join(f"f{i}: long?" for i in range(size))
        + " time at }",
        "open brackets": on("(" * size),
        "open records": STREAMS + "stream s { a: " + "{ a: " * size,
        "test values": STREAMS + 'test r "t" { at 1s payment { tags: [' + ", ".join(['"a"'] * size) + "] } }",
        "events of a test": on("n > 5")
        + ' test r "t" { '
        + "at 1s payment { n: 1 }\n" * size
        + " expect nothing }",
        "errors": on("n > 5") + " rule q { on payment[n >] }" * size,
    }


def seconds(text: str) -> tuple[float, float, float]:
    """Processor seconds for reading, resolving and checking."""
    begin = time.process_time()
    tree, problems = parse(SourceFile("pack.rules", text))
    read = time.process_time()
    findings = Findings()
    findings.diagnostics.extend(problems)
    typed_pack, declared = resolve([tree], findings)
    resolved = time.process_time()
    if not any(d.level == "error" for d in findings.diagnostics):
        check(with_structures(typed_pack), [tree], declared)
    return read - begin, resolved - read, time.process_time() - resolved


def start_up(text: str) -> float:
    """Seconds on the clock of a whole `cep check`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pack.rules"
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "cep.cli.main", "check", str(file)]
        best = float("inf")
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            best = min(best, time.perf_counter() - begin)
    return best


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rules", type=int, nargs="+", default=[10, 100, 1000, 5000])
    given = options.parse_args()
    print(calibration())
    seconds(pack(1))
    stages = "".join(f"{name:>10}" for name in ("parse s", "resolve s", "checks s", "total s"))
    print(f"{'rules':>18}{stages}{'us/rule':>10}{'ratio':>7}")
    first = 0.0
    for rules in given.rules:
        spent = seconds(pack(rules))
        each = sum(spent) / rules
        first = first or each
        columns = " ".join(f"{part:9.3f}" for part in (*spent, sum(spent)))
        print(f"{rules:18,} {columns} {each * 1e6:9.0f} {each / first:6.2f}")
    print(f"\n{'10,000 of':>18}{stages}{'against 1,000':>15}")
    small, large = hostile(1_000), hostile(10_000)
    for name, text in large.items():
        spent, less = seconds(text), sum(seconds(small[name]))
        columns = " ".join(f"{part:9.3f}" for part in (*spent, sum(spent)))
        print(f"{name:>18} {columns} {sum(spent) / less / 10:14.2f}")
    for rules in (10, 1000):
        print(f"\ncep check of {rules:,} rules: {start_up(pack(rules)):.2f} s", end="")
    print()


if __name__ == "__main__":
    main()
