"""One thing that was looked at, and how it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` names what was looked at, in a word or two; `help` and `code` may be empty.

    `configured`: an error of a job file, and none of the world outside.
    """

    check: str
    level: Level
    said: str
    help: str = ""
    code: str = ""
    configured: bool = False
