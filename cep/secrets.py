"""Values that a job file may leave to the environment or to a file, so that it holds no secret itself.

SecretError    the variable or file is not there when the value is asked for
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rules.hidden import hidden_from

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_FILE = "file:"
_LONGEST = 1 << 16
_ELSEWHERE = re.compile(r"\$\(?(\w+)\)?|%(\w+)%|\$?\{?env[:.](\w+)\}?|\{\{ ?(?:env\.)?(\w+) ?\}\}")
"""Variables as shells, Windows and others write them."""


_GIVEN = re.compile(
    r"(?i)(?:(?=whsec_)|(?=\w+://[^\s/@]*@)|(?=bearer\s)|"
    r"(?<![\w-])[\w-]*(?:secre?t|passw|token|credential|key|authorization|cookie|url)[\w-]*[\"']?\s*[=:]\s*)"
)
"""Where a line of a job file gives a secret, or an address, which may hold one; also where it is no TOML."""
_PLAIN = re.compile(
    r"""["']?(?:\$\{\w+\}|file:[^"'\s]*|sqlite:[^"'\s@]*|https?://(?![^"'\s]*/(?:services|hooks|workflows)/)[^"'\s@?]*)["']?(?=[\s,}\]]|\Z)|\Z"""
)
"""The part that may be seen: where a secret stands, and addresses without any."""


def without_secrets(text: str) -> str:
    """A job file as messages show it, character by character: secrets are blank."""
    return "\n".join(map(_without_secret, text.split("\n")))


def _without_secret(line: str) -> str:
    at = 0
    while found := _GIVEN.search(line, at):
        plain = _PLAIN.match(line, found.end())
        if plain is None:
            return hidden_from(line, found.end())
        at = max(plain.end(), found.end() + 1)
    return line


class SecretError(Exception):
    """A secret that is not there. The text names the variable or file, never a value; `help` is the fix."""

    def __init__(self, message: str, help: str) -> None:  # noqa: A002  as diagnostics call it
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text with `${NAME}` in it, or `file:PATH`; `folder` is where a relative PATH begins.

    Its repr shows what the job file says, and only if that is a reference.
    """

    written: str
    folder: Path

    def __repr__(self) -> str:
        return f"Secret({self.written!r})" if self.refers else "Secret(...)"

    @property
    def refers(self) -> bool:
        """True if the value stands elsewhere."""
        return self.written.startswith(_FILE) or _VARIABLE.search(self.written) is not None

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that the value is made of."""
        return () if self.written.startswith(_FILE) else tuple(_VARIABLE.findall(self.written))

    @property
    def meant(self) -> str | None:
        """The reference that was probably meant by a value in another notation, such as `$NAME`."""
        found = None if self.refers else _ELSEWHERE.fullmatch(self.written)
        return None if found is None else f"${{{next(filter(None, found.groups()))}}}"

    def reveal(self, environ: Mapping[str, str]) -> str:
        """The value: variables replaced, or the file's text without the line end behind it.

        Raises SecretError.
        """
        if self.written.startswith(_FILE):
            path = self.folder / self.written.removeprefix(_FILE)
            return read_text(path).rstrip("\r\n")
        missing = [name for name in _VARIABLE.findall(self.written) if name not in environ]
        if missing:
            raise SecretError(
                f"the environment variable {missing[0]} is not set",
                f"set it where the job is started: export {missing[0]}=...",
            )
        return _VARIABLE.sub(lambda found: environ[found[1]], self.written)


def read_text(path: Path) -> str:
    """The text of a file that a job file names by `file:PATH`. Raises SecretError."""
    try:
        return _text(path)
    except FileNotFoundError:
        raise SecretError(f"there is no file {path}", "make it, or correct the path") from None
    except IsADirectoryError:
        raise SecretError(f"{path} is a folder", "name a file in it") from None
    except OSError as error:
        raise SecretError(f"{path} cannot be read: {error.strerror}", "let the job's user read it") from None
    except UnicodeDecodeError:
        raise SecretError(f"{path} is not text", "save the file as UTF-8") from None


def _text(path: Path) -> str:
    """The text of a file of a secret. Raises OSError, UnicodeDecodeError and SecretError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SecretError(f"{path} is no regular file", "name a file that holds the secret alone")
        data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise SecretError(
            f"{path} is longer than {_LONGEST:,} bytes", "name a file that holds the secret alone"
        )
    return data.decode("utf-8")
