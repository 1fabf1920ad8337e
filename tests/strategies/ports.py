"""Ports for servers that a test starts."""

from __future__ import annotations

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """A port that nothing listens on, below those that systems hand out: no other process is given it."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("every port is taken")
