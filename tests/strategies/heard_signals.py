"""Signals for a command under test, however the tests themselves were started."""

from __future__ import annotations

import signal
from collections.abc import Collection

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a command to end."""


def hear(ignored: Collection[signal.Signals] = ()) -> None:
    """Have this process, a new child, end by those signals again; ignore some.

    A process that a shell starts in the background ignores SIGINT, one under nohup SIGHUP, and so do their
    children.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
