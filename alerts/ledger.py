"""The alerts that a receiver has accepted, as JSON lines: written before it answers, read at its start."""

from __future__ import annotations

import json
from pathlib import Path


class Ledger:
    """One line {"id", "timestamp", "body"} for every accepted message. Raises OSError where the file does.

    Lines are handed to the operating system one by one, so that they survive the end of the process,
    though not a loss of power. A line that was torn by a crash or a full disk is skipped.
    """

    def __init__(self, path: Path) -> None:
        self.ids: set[str] = set()
        self._torn = False
        if path.exists():
            content = path.read_bytes()
            self._torn = bool(content) and not content.endswith(b"\n")
            for line in content.split(b"\n"):
                self._remember(line)
        self._file = path.open("ab", buffering=0)

    def _remember(self, line: bytes) -> None:
        try:
            self.ids.add(json.loads(line)["id"])
        except (ValueError, KeyError, TypeError):
            return  # torn, hence never answered

    def append(self, id_: str, timestamp: int, body: bytes) -> None:
        """Keeps a message and its id."""
        message = {"id": id_, "timestamp": timestamp, "body": body.decode()}
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        if self._torn:
            line = b"\n" + line
        self._torn = True
        while line:
            line = line[self._file.write(line) :]
        self._torn = False
        self.ids.add(id_)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
