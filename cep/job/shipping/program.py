"""The program that runs on a machine: a job's results are the same on all of a cluster if this is."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from cep.errors import ConfigurationError

OTHER = "CEP0891"
_OURS = ("alerts", "cep", "kernels", "percolator", "rules")
_LIBRARIES = ("numba", "numpy", "pyarrow", "pyspark", "pyparsing", "whoosh")
"""What has a part in what a rule means, or in how bytes on their way between machines are read."""


@dataclass(frozen=True, slots=True)
class Program:
    """Versions by name; that of the job's own packages is a digest of their modules."""

    versions: tuple[tuple[str, str], ...]

    def check(self, here: Program) -> None:
        """Raises ConfigurationError where this machine's differs from that of the job."""
        theirs = dict(here.versions)
        differing = [
            f"{name} {theirs.get(name, '')} where the job has {wanted}"
            for name, wanted in self.versions
            if theirs.get(name) != wanted
        ]
        if differing:
            raise ConfigurationError(
                f"the machine {socket.gethostname()} has {', '.join(differing)}",
                f"install there what the job runs with, at the path {sys.executable}",
                OTHER,
            )


@cache
def installed() -> Program:
    """The program of this process."""
    python = ".".join(map(str, sys.version_info[:2]))
    found = [("Python", python), ("cep", _digest()), *((name, _version(name)) for name in _LIBRARIES)]
    return Program(tuple(found))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _digest() -> str:
    """Twelve digits of the SHA-256 of all modules, by path."""
    digest = sha256()
    for package in _OURS:
        found = find_spec(package)
        if found is None or found.origin is None:
            continue
        root = Path(found.origin).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{package}/{path.relative_to(root)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
