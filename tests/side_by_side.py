"""All tests: those with a JVM, which wait for much of their time, beside the others, and then a browser.

    python tests/side_by_side.py [JVMS]

`JVMS` of them run at a time, one more than there are cores where nothing is said, and as many others: all
wait for a part of their time. Generated tests try EFFORT of their usual number of examples, the same every
time; CEP_EFFORT=1 tries all, and `make soak` new ones. Those with a JVM go first on the processor. A browser
begins when they or the others have ended. Prints what the others come to as they run, then what those with a
JVM came to. Ends as pytest does: with 0 if all passed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PYTEST = [sys.executable, "-m", "pytest", "-q"]
EFFORT = "0.1"
AT_ONCE = str(len(os.sched_getaffinity(0)) + 1)
JVM, OTHERS = "(spark or kafka) and not soak", "not spark and not kafka and not soak and not browser"
ONE_BY_ONE = ("--dist", "loadgroup", "--no-loadscope-reorder")
"""Each test goes to whoever is free, in order; those of a group, which share a job, to one."""
LONGEST = ("test_job_conformance.py", "test_job_poison.py", "test_job_signals.py", "test_lost_processes.py")
"""Files whose tests take most: they begin first, so that none of them is left alone at the end."""


def with_mark(*marks: str) -> list[str]:
    """The files that have tests of a mark, the longest first: no other is imported to look for them."""
    found = Path(__file__).parent.rglob("test_*.py")
    files = sorted(found, key=lambda path: (path.name not in LONGEST, path))
    wanted = tuple(f"pytest.mark.{mark}" for mark in marks)
    return [str(path) for path in files if any(one in path.read_text("utf-8") for one in wanted)]


def wait_for_one(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """Returns when one of them has ended."""
    while all(one.poll() is None for one in running):
        time.sleep(1)


def main(jvms: str) -> int:
    """The exit code of the run that failed, or 0."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    environment = {"CEP_EFFORT": EFFORT, **os.environ, "CI": "true"}  # the same examples every time
    if "CI" in os.environ:
        environment["CEP_TOOLS"] = "needed"  # elsewhere tests without them are skipped
    with tempfile.TemporaryFile() as told:
        beside = subprocess.Popen(
            [*PYTEST, "-n", jvms, *ONE_BY_ONE, "-m", JVM, *with_mark("spark", "kafka")],
            env=environment,
            stdout=told,
            stderr=subprocess.STDOUT,
        )
        others = subprocess.Popen(
            ["nice", "-n", "4", *PYTEST, "-n", AT_ONCE, "--dist", "worksteal", "-m", OTHERS],
            env=environment,
        )
        running = [others, beside]
        try:
            wait_for_one(running)
            browser = [*PYTEST, "-m", "browser", *with_mark("browser")]  # one chromium at a time
            running.append(subprocess.Popen(browser, env=environment))
            codes = [one.wait() for one in running]
        except KeyboardInterrupt:  # from a terminal all have it already; a second one ends them at once
            for one in running:
                one.send_signal(signal.SIGINT)
            codes = [one.wait() for one in running] + [130]
        told.seek(0)
        print(f"\nWith a JVM, beside these:\n\n{told.read().decode(errors='replace')}", flush=True)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [AT_ONCE]))
