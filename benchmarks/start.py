"""Start-up times: of commands that only read rules, of tests, of a small file, of a job's first batch.

    python benchmarks/start.py [--times 5] [--only NAME...] [--before FOLDER]

Each command runs in a process of its own, with Python's bytecode in place, as in an ordinary install: seconds
by the clock and of processor time, the medians. `run` is timed until the line about its first batch,
with the processor time of all its processes; `run archive` is a job that has its archive of classes, which is
made first and takes half a minute. With `--before`, a checkout of another version, both versions take turns,
and the ratios of the medians are printed: beside other work they say more than the seconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from time import perf_counter

import psutil
from calibration import calibration

HERE = Path(__file__).parents[1]
CARDS = HERE / "examples" / "cards"
PROGRAM = ("-P", "-c", "import sys; from cep.cli.main import main; sys.exit(main())")
RULES = 10
JOB = """
[job]
name = "start"
packs = "{cards}"
state = "state/"

[feeds.payment]
source = "files"
path = "{cards}/*.jsonl"
"""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "help": ("--help",),
    "explain": ("explain", "CEP0111"),
    "fmt": ("fmt", "--check", "{cards}"),
    "check": ("check", "{cards}"),
    "test": ("test", "{ten}"),
    "eval": ("eval", "{cards}", "--events", "payment={cards}/payments.jsonl", "--output", "-"),
    "run": ("run", "{job}", "--once"),
    "run archive": ("run", "{job}", "--once"),
}
"""Name to arguments; `{ten}` is a pack of ten rules with a test each."""
FIRST = "batch 0 "


def main() -> None:
    """Prints a line for every command."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--times", type=int, default=5)
    arguments.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), metavar="NAME")
    arguments.add_argument("--before", type=Path)
    options = arguments.parse_args()
    print(calibration())
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "ten.rules").write_text(_ten(), "utf-8")
        if "run archive" in options.only:
            _make_archive(work)
        versions = [HERE] if options.before is None else [options.before.resolve(), HERE]
        columns = ("before", "cpu", "now", "cpu", "ratio", "cpu") if options.before else ("s", "cpu s")
        print(f"{'':<12}" + "".join(f"{column:>8}" for column in columns))
        for name in options.only:
            took: dict[Path, list[tuple[float, float]]] = {version: [] for version in versions}
            for turn in range(options.times + 1):
                for version in versions:
                    found = _took(name, version, work)
                    if turn:  # the first writes bytecode
                        took[version].append(found)
            medians = [_medians(took[version]) for version in versions]
            figures = [*medians[0], *(medians[1] if options.before else ())]
            if options.before:
                figures += [now / before for before, now in zip(*medians, strict=True)]
            print(f"{name:<12}" + "".join(f"{figure:>8.2f}" for figure in figures), flush=True)


def _took(name: str, version: Path, work: Path) -> tuple[float, float]:
    """Seconds by the clock and of processor time that a command takes, a job until its first batch."""
    places = {"cards": CARDS, "ten": work / "ten.rules", "job": work / "job.toml"}
    given = [part.format_map(places) for part in COMMANDS[name]]
    rmtree(work / "state", ignore_errors=True)
    (work / "job.toml").write_text(JOB.format(cards=CARDS), "utf-8")
    cache = work / "cache" if name == "run archive" else ""
    environment = {**os.environ, "PYTHONPATH": str(version), "CEP_CACHE": str(cache)}
    environment["PYTHONPYCACHEPREFIX"] = str(work / "bytecode")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, *given],
        env=environment, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    return _until_the_first_batch(process, begun) if given[0] == "run" else _until_its_end(process, begun)


def _medians(took: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(clock for clock, _ in took), statistics.median(used for _, used in took)


def _until_its_end(process: subprocess.Popen[str], begun: float) -> tuple[float, float]:
    _, status, used = os.wait4(process.pid, 0)
    seconds = perf_counter() - begun
    assert process.stderr is not None
    if status:
        raise SystemExit(process.stderr.read())
    process.stderr.close()
    process.returncode = 0
    return seconds, used.ru_utime + used.ru_stime


def _until_the_first_batch(process: subprocess.Popen[str], begun: float) -> tuple[float, float]:
    used: dict[int, float] = {}
    ended = threading.Event()

    def look() -> None:
        """Notes what every process has used so far: some end before the first batch."""
        for one in (top, *top.children(recursive=True)):
            try:
                times = one.cpu_times()
            except psutil.Error:
                continue
            used[one.pid] = times.user + times.system

    def keep_looking() -> None:
        while not ended.wait(0.2):
            look()

    top = psutil.Process(process.pid)
    watching = threading.Thread(target=keep_looking)
    watching.start()
    seconds, said = 0.0, []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if line.startswith(FIRST):
            seconds = perf_counter() - begun
            ended.set()
            watching.join()
            look()
    ended.set()
    if process.wait() or not seconds:
        raise SystemExit("".join(said))
    return seconds, sum(used.values())


def _make_archive(work: Path) -> None:
    """Lets a job list its classes, and makes the archive of them at once."""
    from cep.job.spark.class_archive import VARIABLE, Pace, class_archive, made_later
    from cep.job.spark.java import require_java
    from cep.job.spark.session import classes_of
    from cep.job.state_folder.folder import StateFolder

    classes = classes_of(StateFolder(work / "state"))
    archive = class_archive(require_java(os.environ), classes, {VARIABLE: str(work / "cache")})
    assert archive is not None
    _took("run archive", HERE, work)  # without one yet
    begun = perf_counter()
    listed, at_once = work / "state" / "scratch" / "classes", Pace(0, os.getpriority(os.PRIO_PROCESS, 0))
    with made_later(archive, listed, work / "log", pace=at_once) as thread:
        assert thread is not None
        thread.join()
    made = archive.there()
    assert made is not None, (work / "log").read_text("utf-8")
    print(f"archive of classes: {made.stat().st_size / 1e6:.0f} MB, made in {perf_counter() - begun:.0f} s")


def _ten() -> str:
    """The pack of examples/cards with its rule and one of its tests ten times."""
    text = (CARDS / "cards.rules").read_text("utf-8")
    begin, test = text.index("rule card_testing"), text.index("test card_testing")
    rule, first = text[begin:test], text[test : text.index("test card_testing", test + 1)]
    named: Sequence[str] = [f"card_testing_{number}" for number in range(RULES)]
    return text[:begin] + "".join((rule + first).replace("card_testing", name) for name in named)


if __name__ == "__main__":
    main()
