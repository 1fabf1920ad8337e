"""Alerts on a terminal or in a log: one line each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, Protocol

from alerts.due import Made
from alerts.envelope import group_data
from alerts.receivers.receiver import Outcome
from alerts.shown import shown


class Stream(Protocol):
    """A taker of lines: a file, or one that puts them above another line of the terminal."""

    def write(self, text: str, /) -> object:
        """Takes a whole line. Raises OSError, and ValueError once it is closed."""

    def flush(self) -> object:
        """Has it shown. Raises as `write` does."""


class ConsoleReceiver:
    """Writes time, severity, rule and summary as one line to `stream`, or the alert's JSON."""

    in_flight = 1
    apart = False

    def __init__(self, name: str, stream: Stream, style: Literal["text", "json"] = "text") -> None:
        self.name = name
        self._stream = stream
        self._style = style

    def send(self, id_: str, body: str, now: int) -> Outcome:  # noqa: ARG002
        """Writes the line. A stream that is closed or full counts as unreachable."""
        return self._print(body if self._style == "json" else text_line(json.loads(body)))

    def send_group(self, group: Made, now: int) -> Outcome:  # noqa: ARG002
        """Writes how many alerts go out together, and a line for each that it carries."""
        if self._style == "json":
            return self._print(group_data(group.id, group.bodies, group.count))
        return self._print("\n".join(group_lines(list(map(json.loads, group.bodies)), group.count)))

    def _print(self, text: str) -> Outcome:
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:
            return Outcome("unreachable", f"cannot write: {error}")
        return Outcome("delivered", "printed")

    def close(self) -> None:
        """Leaves the stream open: it is not ours."""


def group_lines(alerts: Sequence[dict[str, object]], count: int) -> list[str]:
    """`12 alerts:`, and below it a line for each that there is."""
    of = "" if len(alerts) == count else f", the newest {len(alerts)} of them"
    return [f"{count:,} alerts{of}:", *(f"  {text_line(one)}" for one in alerts)]


def text_line(alert: dict[str, object]) -> str:
    """`2018-07-11T10:05:00Z high     card_testing 3 probes on c1`, and how many were withheld before."""
    suppressed = f" (+{alert['suppressed']} withheld)" if alert["suppressed"] else ""
    line = f"{alert['time']} {alert['severity']!s:<8} {alert['rule']} {alert['summary']}{suppressed}"
    return shown(line)
