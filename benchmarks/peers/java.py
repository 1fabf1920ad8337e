"""The programs of the folder `java`: built by Maven, started with a heap and settings of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).with_name("java")
OLDEST = 17


class MissingError(Exception):
    """A program that is needed and not there; its text says how to come by it."""


def java() -> str:
    """The command of Java. Raises MissingError."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    if found is not None:
        said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
        version = re.search(r'version "(\d+)', said)
        if version and int(version[1]) >= OLDEST:
            return found
    raise MissingError(
        f"Java {OLDEST} or newer is needed, a JDK: on Debian apt-get install openjdk-{OLDEST}-jdk-headless"
    )


def maven() -> str:
    """The command of Maven. Raises MissingError."""
    found = shutil.which("mvn")
    if found is None:
        raise MissingError("Maven (mvn) is needed to build the peers: on Debian apt-get install maven")
    return found


def build() -> None:
    """Builds the programs, or those that have changed. Raises MissingError where Maven fails."""
    java()
    command = [maven(), "--quiet", "--batch-mode", "package"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr)[-3000:]
        raise MissingError(
            f"`{' '.join(command)}` failed in {FOLDER.name}/; its first run needs a registry:\n{said}"
        )


def program(name: str, options: Sequence[str]) -> list[str]:
    """The command that starts one of the programs. Raises MissingError."""
    target = FOLDER / name / "target"
    path = f"{target / 'classes'}{os.pathsep}{target / 'lib'}/*"
    return [java(), *options, "-cp", path, f"peers.{name}.Main"]
