"""The growth of `cep check` with the rules of a pack and with the values of a list: time and memory.

    python benchmarks/large_packs.py [--rules 1000 10000 100000] [--values 2000 20000 200000]

Each is a whole process. Rules are patterns of two steps that differ in their constants; values stand in a
`let` and in an `in (...)`. `growth` is the processor time against the row above, divided by what the pack
grew by; 1.0 is linear. Memory is the greatest that was resident (on Linux).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration import calibration

HEAD = """pack large version "1.0.0"

stream payment {
  payment_id: string
  occurred_at: timestamp
  card_id: string
  amount: long
  country: string?
  id payment_id
  time occurred_at
}
"""
RULE = """
rule r{n} {{
  severity high
  by card_id
  match a: payment[amount > {n}] -> b: payment[country == "C{n}"]
  within 30 minutes
  emit card_id, x = a.amount
}}"""


PROGRAM = """
import re, time
from cep.cli.main import main
begin = time.perf_counter()
if main():
    raise SystemExit("the pack has errors")
resident = re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1]
print(time.perf_counter() - begin, time.process_time(), resident)
"""


def rules(number: int) -> str:
    """A pack of so many rules."""
    return HEAD + "".join(RULE.format(n=n) for n in range(number))


def named_values(number: int) -> str:
    """A pack with a list of so many strings that has a name."""
    values = ", ".join(f'"v{n}"' for n in range(number))
    return f"{HEAD}let listed = ({values})\nrule r {{ on payment[card_id in listed] emit card_id }}\n"


def values(number: int) -> str:
    """A pack with a list of so many numbers in a condition."""
    listed = ", ".join(map(str, range(number)))
    return f"{HEAD}rule r {{ on payment[amount in ({listed})] emit card_id }}\n"


def checked(text: str, folder: Path) -> tuple[float, float, float]:
    """Seconds by the clock and of processor time, and MB, of a `cep check`."""
    file = folder / "large.rules"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-P", "-c", PROGRAM, "check", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    clock, processor, resident = map(float, done.stdout.splitlines()[-1].split())
    return clock, processor, resident / 1024


def table(what: str, sizes: Sequence[int], text: Callable[[int], str]) -> None:
    """Prints a row for every size."""
    print(f"\n{what:>22}{'s':>9}{'cpu s':>9}{'us each':>9}{'growth':>8}{'MB':>8}")
    before: tuple[int, float] | None = None
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            clock, processor, resident = checked(text(size), Path(folder))
            growth = "" if before is None else f"{processor / before[1] / (size / before[0]):.2f}"
            each = processor / size * 1e6
            print(
                f"{size:>22,}{clock:>9.2f}{processor:>9.2f}{each:>9.0f}{growth:>8}{resident:>8.0f}",
                flush=True,
            )
            before = size, processor


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rules", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options.add_argument("--values", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    given = options.parse_args()
    print(calibration())
    table("rules", given.rules, rules)
    table("values in a `let`", given.values, named_values)
    table("values in `in (...)`", given.values, values)


if __name__ == "__main__":
    main()
