"""Reasons that stop a command: `cep.cli.main` prints each as one sentence and turns it into an exit code.

CommandError      a sentence, what helps, an exit code
├── UsageError      2: the command, a path or a configuration cannot be right
└── OutsideError    3: a broker, Java, a receiver, a disk, a port did not do its part

A rules.diagnostics.DiagnosticsError that a verb raises is drawn and exits 2: a configuration is wrong.
"""

from __future__ import annotations

OK, FINDINGS, USAGE, OUTSIDE, HUNG_UP = 0, 1, 2, 3, 141
"""Exit codes of every verb; the last is the shell's for one ended by SIGPIPE (cep.cli.signals has others)."""


class CommandError(Exception):
    """`message` is one sentence without a full stop; `help` says what to do; `code` may be empty."""

    exit_code = OUTSIDE

    def __init__(self, message: str, help: str, code: str = "") -> None:  # noqa: A002  the word users see
        super().__init__(message)
        self.message = message
        self.help = help
        self.code = code


class UsageError(CommandError):
    """The command line, a path that it names, or a configuration file is wrong."""

    exit_code = USAGE


class OutsideError(CommandError):
    """Something outside of the program failed."""

    exit_code = OUTSIDE
