"""Jars beside a pom.xml: which they are says a list of digests, jars.sha256; Maven copies them.

The list is as `sha256sum` writes and checks it.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cep.errors import OutsideError

KAFKA, S3 = Path(__file__).parent / "kafka", Path(__file__).parent / "s3"
MISSING = "CEP0872"
_NEEDED = {KAFKA: "Kafka", S3: "a state in a bucket"}
COMMAND = "python -m cep.job.spark.jars"
_MAVEN = "on Debian or Ubuntu: apt-get install maven; elsewhere: https://maven.apache.org"


def jars(folder: Path) -> tuple[Path, ...]:
    """The jars of a folder, each as its list has it, by name. Raises OutsideError."""
    found = tuple(folder / "jars" / name for name in sorted(listed(folder)))
    wrong = _wrong(folder, folder / "jars")
    if wrong:
        again = COMMAND if folder in (KAFKA, S3) else f"{COMMAND} {folder}"
        raise OutsideError(
            f"{folder / 'jars'} lacks what {_NEEDED.get(folder, 'Kafka')} needs: {wrong[0]}",
            f"run `{again}` once, where there is Maven and a network; in a checkout `make setup` does",
            MISSING,
        )
    return found


def listed(folder: Path) -> dict[str, str]:
    """The SHA-256 of each jar of a folder, by file name, as the list beside its pom.xml has them."""
    lines = (folder / "jars.sha256").read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def fetch(folder: Path) -> bool:
    """Fetches the jars of a folder, unless they are there; False if they were. Raises OutsideError.

    They are copied beside and put in place when all are as the list has them, so that several processes may
    do so at once.
    """
    target = folder / "jars"
    if not _wrong(folder, target):
        return False
    maven = shutil.which("mvn")
    if maven is None:
        raise OutsideError("Maven (mvn) is needed to fetch jars", _MAVEN, MISSING)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".jars-") as beside:
        copied = Path(beside) / "jars"
        _copy(maven, folder, copied)
        if wrong := _wrong(folder, copied):
            help_ = f"correct {folder / 'jars.sha256'} if that is meant, else tell who keeps the registry"
            raise OutsideError(
                f"Maven brought other jars than {folder.name} lists: {wrong[0]}", help_, MISSING
            )
        with suppress(FileNotFoundError):
            target.rename(Path(beside) / "old")
        if not target.exists():
            copied.rename(target)
    return True


def _copy(maven: str, folder: Path, target: Path) -> None:
    """Has Maven copy what a pom.xml names. Raises OutsideError with what it says."""
    told = subprocess.run(
        [maven, "--quiet", "--batch-mode", "--file", folder / "pom.xml", "dependency:copy-dependencies",
         f"-DoutputDirectory={target.absolute()}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if told.returncode:
        said = [line for line in (told.stdout + told.stderr).splitlines() if "ERROR" in line]
        why = said[0] if said else "it says nothing"
        raise OutsideError(
            f"Maven could not fetch the jars of {folder / 'pom.xml'}: {why}",
            "its first run needs a network; a mirror is named in ~/.m2/settings.xml",
            MISSING,
        )


def _wrong(folder: Path, found: Path) -> list[str]:
    """Sentences about what is amiss with the jars in `found`, which the folder's list describes."""
    return [said for name, digest in listed(folder).items() for said in _amiss(found / name, digest)]


def _amiss(path: Path, digest: str) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError as error:
        yield f"{path.name}: {error.strerror}"
        return
    if not same:
        yield f"{path.name} is not the one that jars.sha256 names"
