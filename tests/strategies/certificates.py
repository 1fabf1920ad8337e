"""A certificate for servers of tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    """A certificate that signs itself, for localhost, 127.0.0.1 and desk.example, and its key."""

    certificate: Path
    key: Path
