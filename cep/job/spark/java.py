"""A check that there is a Java that Spark can run on, found the way Spark's own scripts find it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cep.errors import OutsideError

OLDEST = 17
_INSTALL = "on Debian or Ubuntu: apt-get install openjdk-17-jre-headless; elsewhere: https://adoptium.net"


def require_java(environment: Mapping[str, str]) -> Path:
    """The program `java`, of JAVA_HOME if that is set, else of PATH. Raises OutsideError."""
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        if not program.is_file():
            raise OutsideError(
                f"Java {OLDEST} or newer is needed, and JAVA_HOME names {home}, where there is no bin/java",
                f"correct JAVA_HOME or unset it; {_INSTALL}",
            )
    else:
        found = shutil.which("java", path=environment.get("PATH", ""))
        if found is None:
            raise OutsideError(f"Java {OLDEST} or newer is needed, and there is no java on PATH", _INSTALL)
        program = Path(found)
    version = version_of(program)
    if version is None:
        raise OutsideError(f"{program} does not say which Java it is", _INSTALL)
    if version < OLDEST:
        raise OutsideError(f"Java {OLDEST} or newer is needed, and {program} is Java {version}", _INSTALL)
    return program


def version_of(program: Path) -> int | None:
    """The feature version, from the installation's `release` file, else from the program itself."""
    try:
        text = (program.resolve().parent.parent / "release").read_text("utf-8", "replace")
    except OSError:
        text = ""
    if found := re.search(r'^JAVA_VERSION="?([^"\n]+)', text, re.MULTILINE):
        return _feature(found[1])
    try:
        told = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "([^"]+)"', told.stderr + told.stdout)
    return _feature(found[1]) if found else None


def _feature(version: str) -> int | None:
    """17 of `17.0.15`, 8 of `1.8.0_402` (JEP 223)."""
    parts = re.findall(r"\d+", version)
    if not parts:
        return None
    return int(parts[1]) if parts[0] == "1" and len(parts) > 1 else int(parts[0])
