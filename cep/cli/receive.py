"""`cep receive`: a small receiver that verifies webhooks and prints the alerts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import OK, OutsideError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from alerts.receive import Received
    from cep.cli.arguments import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "receive",
        help="a small receiver that verifies webhooks and prints them",
        description="Accept signed alerts on any path, verify them, and print each new one as a line.",
    )
    parser.set_defaults(
        usual='cep receive --secret "$SECRET", with the secret of the receiver in job.toml',
        stray="a secret stands behind its option: --secret SECRET",
        elsewhere=dict.fromkeys(("--port", "--host"), "an address is one word: --listen 127.0.0.1:8091"),
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
        raise UsageError(f"--secret: {error}", _secret_meant(arguments.secret)) from error
    try:
        serve(receiver, lambda url: print(f"listening on {url}", file=sys.stderr, flush=True))
    except ReceiveError as error:
        file = str(error).startswith("the file")
        help_ = "name a file that can be written, in a folder that is there" if file else _ELSEWHERE
        raise OutsideError(str(error), help_) from error
    except KeyboardInterrupt:
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(receiver.counts.items()))
        print(told or "nothing was received", file=sys.stderr)
        raise
    return OK


_ELSEWHERE = "choose another address with --listen; port 0 is any that is free"


def _secret_meant(given: Sequence[str]) -> str:
    """The help for secrets of which one cannot be right."""
    if "" in given:
        return 'the variable is empty or not set: export SECRET=..., then --secret "$SECRET"'
    if any("$" in one for one in given):
        return 'a variable is replaced by the shell, in double quotes or without any: --secret "$SECRET"'
    if file := next((one for one in given if one.startswith("file:")), None):
        return f'a file is read by the shell: --secret "$(cat {file.removeprefix("file:")})"'
    return "give the one that the sender signs with; a new one is whsec_ and `openssl rand -base64 32`"


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
    if colon and port.isascii() and port.isdigit() and int(port) > 65535:
        raise UsageError(f"--listen {listen}: there is no port {port}", "ports go up to 65535; 0 is any")
    if not colon or not port.isascii() or not port.isdigit():
        raise UsageError(f"--listen {listen} is no address", "write it as 127.0.0.1:8091")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
