"""`cep receive`: a small receiver that verifies webhooks and prints the alerts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OK, OutsideError, UsageError

if TYPE_CHECKING:
    from alerts.receive import Received
    from cep.cli.arguments import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "receive",
        help="a small receiver that verifies webhooks and prints them",
        description="Accept signed alerts on any path, verify them, and print each new one as a line.",
    )
    parser.add_argument(
        "--secret", action="append", required=True, metavar="SECRET", help="whsec_...; may be repeated"
    )
    parser.add_argument(
        "--listen", default="127.0.0.1:8091", metavar="HOST:PORT", help="default: 127.0.0.1:8091; port 0: any"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="append each accepted body to a file of JSON lines"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal asks to end. Raises UsageError, OutsideError, and KeyboardInterrupt at its end."""
    from alerts.receive import AlertReceiver, ReceiveError, serve

    host, port = _address(arguments.listen)
    show = _as_json if arguments.format == "json" else _as_text
    try:
        receiver = AlertReceiver(
            arguments.secret, host=host, port=port, file=arguments.output, accepted=show, keep=False
        )
    except ValueError as error:
        help_ = "give the one that the sender signs with; a new one is whsec_ and `openssl rand -base64 32`"
        raise UsageError(f"--secret: {error}", help_) from error
    try:
        serve(receiver, lambda url: print(f"listening on {url}", file=sys.stderr, flush=True))
    except ReceiveError as error:
        raise OutsideError(str(error), "choose another address with --listen, or another file") from error
    except KeyboardInterrupt:
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(receiver.counts.items()))
        print(told or "nothing was received", file=sys.stderr)
        raise
    return OK


def _as_text(message: Received) -> None:
    from alerts.receivers.console import text_line

    try:
        line = text_line(message.alert)
    except KeyError:  # signed by a sender of something else
        return _as_json(message)
    return print(line, flush=True)


def _as_json(message: Received) -> None:
    import json

    print(json.dumps(message.alert, ensure_ascii=False, separators=(",", ":")), flush=True)


def _address(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--listen {listen} is no address", "write it as 127.0.0.1:8091")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
