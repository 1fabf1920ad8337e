"""The long runs before a release, in parts that can be stopped and gone on with.

    python tests/soak_in_parts.py [PART ...] [--effort 10] [--seed N] [--at-once 2] [--told] [--anew]

A part is a list of pieces of some minutes, each a run of pytest with a seed of its own. What a piece came
to is a line of `build/soak/pieces.jsonl`, what it printed a file beside it. Started again, the pieces that
passed with that effort are left out, and one that failed is run again with the seed that it had.
`--told` says only what is there, and `--anew` begins from nothing. Without a part: all, in their order. Ends
with 0 if every piece of the parts passed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

MARKS = "not spark and not soak"
LONG = "tests/cep/test_agreement_for_long.py"
WINDOWS = "tests/windows/test_windows_agree_for_long.py"
LINES = "tests/cep/test_decode_kernel.py"
DUEL = "tests/percolator/test_long_duel.py"
SIGNALS = "tests/job/test_job_signals.py"
FAULTS = "tests/job/test_fault_sequences.py"
PARTS = (LONG, WINDOWS, LINES, DUEL, FAULTS)
ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "soak"
TOTAL = re.compile(r"seeds from \d+: (.*)")
"""What a long test says at its end: numbers, each followed by what it counts."""
NOTHING_THERE = 5
"""Pytest's exit code where all tests of a file are of another part."""
APART = 1_000_000
"""Between the seeds of two pieces, since some count up from theirs."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of pytest: `arguments`, and what is set in its environment besides its seed."""

    part: str
    name: str
    arguments: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """What a piece came to. `code` is pytest's, `tests` its last line, `counted` what it says it compared."""

    part: str
    piece: str
    effort: float
    seed: int
    commit: str
    code: int
    processor_s: float
    tests: str
    counted: Mapping[str, int]


def generated(part: str, folders: Sequence[str], effort: float, marks: str = MARKS) -> list[Piece]:
    """Each test file that has tests with more examples for more effort."""
    files = sorted(path for folder in folders for path in (ROOT / "tests" / folder).rglob("test_*.py"))
    return [
        Piece(part, path.stem, (str(path.relative_to(ROOT)), "-m", marks), {"CEP_EFFORT": f"{effort:g}"})
        for path in files
        if re.search(r"\b(examples|each)\(\d|@given\(", path.read_text("utf-8"))
    ]


def split(part: str, test: str, pieces: int, effort: float) -> list[Piece]:
    """A long test in so many pieces at effort 10, each with a share of its work and a seed of its own."""
    number = max(1, round(pieces * effort / 10))
    share = {"CEP_EFFORT": f"{effort / 10 / number:g}"}
    return [Piece(part, f"{part}-{n}", (test, "-s", "-m", "soak"), share) for n in range(number)]


def marked(part: str, folder: str) -> list[Piece]:
    """Each test file of a folder with tests for this run alone, but those that are a part by themselves."""
    files = sorted((ROOT / "tests" / folder).rglob("test_*.py"))
    return [
        Piece(part, f"{path.stem}-marked", (str(path.relative_to(ROOT)), "-m", "soak"), {})
        for path in files
        if "pytest.mark.soak" in path.read_text("utf-8") and str(path.relative_to(ROOT)) not in PARTS
    ]


NO_JVM = ("programs", "windows", "queries", "lines", "cep", "percolator", "rules", "others")
JVM = ("jobs", "signals", "kills", "faults")
"""Parts that start a JVM: a piece at a time."""


def pieces(part: str, effort: float) -> list[Piece]:
    """All pieces of a part."""
    match part:
        case "programs":
            return split(part, LONG, 35, effort)
        case "windows":
            return split(part, WINDOWS, 35, effort)
        case "queries":
            return split(part, DUEL, 10, effort)
        case "lines":
            return split(part, LINES, 4, effort)
        case "faults":
            return split(part, FAULTS, 40, effort)
        case "cep" | "percolator" | "rules":
            return [*generated(part, [part], effort), *marked(part, part)]
        case "others":
            known = {"cep", "percolator", "rules"}
            folders = sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir())
            others = [folder for folder in folders if folder not in known]
            long = [piece for folder in others if folder != "job" for piece in marked(part, folder)]
            return [*generated(part, others, effort), *long]
        case "jobs":
            return generated(part, ["job"], effort, "spark and not soak")
        case "kills":
            return marked(part, "job")
        case "signals":
            lives, test = {"CEP_SIGNALS": "5"}, (SIGNALS, "-m", "spark", "-k", "loses_an_alert")
            return [Piece(part, f"signals-{n}", test, lives) for n in range(max(1, round(effort / 2.5)))]
        case _:
            raise SystemExit(f"there is no part {part}: {', '.join(NO_JVM + JVM)}")


def run(piece: Piece, effort: float, seed: int) -> Told:
    """Runs the piece; what it prints is kept."""
    environ = {**os.environ, **piece.environ, "CEP_SEED": str(seed)}
    environ.pop("CI", None)  # which has generated tests try the same examples every time
    output = KEPT / f"{piece.part}.{piece.name}.txt"
    line = [sys.executable, "-m", "pytest", "-q", "--timeout", "0", "-p", "no:cacheprovider"]
    with output.open("wb") as printed:
        process = subprocess.Popen(
            [*line, f"--hypothesis-seed={seed}", *piece.arguments],
            cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed,
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    said = output.read_text("utf-8", "replace")
    spent = round(used.ru_utime + used.ru_stime, 1)
    last = (said.rstrip().splitlines() or [""])[-1]
    return Told(
        piece.part,
        piece.name,
        effort,
        seed,
        commit(),
        0 if code == NOTHING_THERE else code,
        spent,
        last,
        counted(said),
    )


def counted(said: str) -> dict[str, int]:
    """The sums of what is told at the ends of long tests."""
    sums: Counter[str] = Counter()
    for total in TOTAL.findall(said):
        for number, what in re.findall(r"(\d[\d,]*) ([^,\n]+)", total):
            sums[what.strip()] += int(number.replace(",", ""))
    return dict(sums)


def commit() -> str:
    """The commit that is tried, without what is not committed; empty where there is no git."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip()


def told_before(effort: float) -> dict[tuple[str, str], Told]:
    """What pieces came to at that effort, the last time."""
    kept = KEPT / "pieces.jsonl"
    lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
    found = [Told(**json.loads(line)) for line in lines]
    return {(one.part, one.piece): one for one in found if one.effort == effort}


def summary(part: str, wanted: Sequence[Piece], told: Mapping[tuple[str, str], Told]) -> str:
    """A row of the table in benchmarks/README.md."""
    done = [told[part, piece.name] for piece in wanted if (part, piece.name) in told]
    sums: Counter[str] = Counter()
    for one in done:
        sums.update(one.counted)
    failed = [f"{one.piece} (seed {one.seed})" for one in done if one.code]
    seeds = f"seeds {min(one.seed for one in done)} to {max(one.seed for one in done)}" if done else ""
    said = ", ".join(f"{number:,} {what}" for what, number in sums.items())
    minutes = sum(one.processor_s for one in done) / 60
    return (
        f"| {part} | {len(done) - len(failed)} of {len(wanted)} passed, {minutes:.0f} min of processor"
        f"{'; ' if said else ''}{said}; {seeds}{'; failed: ' if failed else ''}{', '.join(failed)} |"
    )


def part_passes(part: str, wanted: Sequence[Piece], options: argparse.Namespace) -> bool:
    """Runs what is left of the part; True if all of it passed."""
    told = told_before(options.effort)
    left = [piece for piece in wanted if getattr(told.get((part, piece.name)), "code", 1)]
    if not options.told:
        seeds = {piece.name: options.seed + APART * number for number, piece in enumerate(wanted)}
        with ThreadPoolExecutor(1 if part in JVM else options.at_once) as running:

            def go(piece: Piece) -> Told:
                before = told.get((part, piece.name))
                return run(piece, options.effort, before.seed if before else seeds[piece.name])

            try:
                for done in as_completed([running.submit(go, piece) for piece in left]):
                    one = done.result()
                    with (KEPT / "pieces.jsonl").open("a", encoding="utf-8") as kept:
                        kept.write(json.dumps(asdict(one)) + "\n")
                    told[part, one.piece] = one
                    print(f"{time.strftime('%H:%M:%S')} {part} {one.piece}: {one.tests}", flush=True)
            except KeyboardInterrupt:
                running.shutdown(cancel_futures=True)
                raise
    print(summary(part, wanted, told), flush=True)
    return not any(getattr(told.get((part, piece.name)), "code", 1) for piece in wanted)


def main(arguments: Sequence[str]) -> int:
    """0 if every piece passed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(NO_JVM + JVM))
    parser.add_argument("--effort", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--told", action="store_true")
    parser.add_argument("--anew", action="store_true")
    options = parser.parse_args(arguments)
    KEPT.mkdir(parents=True, exist_ok=True)
    if options.anew:
        (KEPT / "pieces.jsonl").unlink(missing_ok=True)
    parts = options.parts or NO_JVM + JVM
    passed = [part_passes(part, pieces(part, options.effort), options) for part in parts]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
