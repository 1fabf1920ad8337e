"""`cep receive`: a small receiver that verifies webhooks and prints the alerts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    parser.set_defaults(
        usual="cep receive --secret-env NAME, where $NAME is the secret of the receiver in job.toml",
        stray="a secret stands behind its option: --secret-env NAME",
        elsewhere=dict.fromkeys(("--port", "--host"), "an address is one word: --listen 127.0.0.1:8091"),
    )
    secrets = parser.add_argument_group("secrets", "One is needed at least; each may be repeated.")
    for option, shown, help_ in (
        ("env", "NAME", "the environment variable that holds whsec_..."),
        ("file", "PATH", "the file that holds whsec_..."),
        ("", "SECRET", "whsec_..., which other users of this machine can then see in its list of processes"),
    ):
        secrets.add_argument(
            f"--secret-{option}".rstrip("-"),
            action="append",
            dest="secrets",
            type=partial(_Given, option),
            metavar=shown,
            help=help_,
        )
    parser.add_argument(
        "--listen", default="127.0.0.1:8091", metavar="HOST:PORT", help="default: 127.0.0.1:8091; port 0: any"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="append each accepted body to a file of JSON lines"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal asks to end. Raises UsageError, OutsideError, and KeyboardInterrupt at its end.

    Raises BrokenPipeError when nobody reads what it prints.
    """
    from alerts.receive import AlertReceiver, ReceiveError, serve

    host, port = _address(arguments.listen)
    show = _as_json if arguments.format == "json" else _as_text
    receiver = AlertReceiver(
        _secrets(arguments.secrets), host=host, port=port, file=arguments.output, accepted=show, keep=False
    )
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


@dataclass(frozen=True, slots=True)
class _Given:
    """A secret of the command line: what kind of place it is in, empty for itself, and the place."""

    kind: str
    text: str

    @property
    def option(self) -> str:
        return f"--secret-{self.kind}".rstrip("-")

    def reveal(self, environ: Mapping[str, str]) -> str:
        """Raises SecretError, as for a secret of job.toml."""
        from cep.secrets import Secret, SecretError

        match self.kind:
            case "env" if self.text not in environ:
                named = "" if self.text.startswith("whsec_") else f" {self.text}"  # a secret, by mistake
                raise SecretError(f"there is no environment variable{named}", "export it before this command")
            case "env":
                return environ[self.text]
            case "file":
                return Secret(f"file:{self.text}", Path()).reveal(environ)
            case _:
                return Secret(self.text, Path()).reveal(environ)


def _secrets(given: Sequence[_Given] | None) -> list[str]:
    """The secrets themselves. Raises UsageError."""
    from alerts.signing import secret_key
    from cep.secrets import SecretError

    if not given:
        raise UsageError("a secret is missing", "name the variable that holds it: --secret-env NAME")
    found = []
    for one in given:
        try:
            found.append(one.reveal(os.environ))
        except SecretError as error:
            raise UsageError(f"{one.option}: {error}", error.help) from error
        try:
            secret_key(found[-1])
        except ValueError as error:
            raise UsageError(f"{one.option}: {error}", _meant(one.kind, found[-1])) from error
    return found


_ELSEWHERE = "choose another address with --listen; port 0 is any that is free"


def _meant(kind: str, given: str) -> str:
    """The help for a secret that cannot be right, of that kind of place."""
    if not given and kind == "file":
        return "the file is empty: write the secret into it"
    if not given:
        return "the variable is empty or not set: export NAME=..., then --secret-env NAME"
    if "$" in given:
        return "name the variable, without a dollar: --secret-env NAME"
    return "give the one that the sender signs with; a new one is whsec_ and `openssl rand -base64 32`"


def _as_text(message: Received) -> None:
    from alerts.receivers.console import group_lines, text_line

    data: dict[str, Any] = message.alert
    try:
        together = group_lines(data["alerts"], data["count"]) if "alerts" in data else [text_line(data)]
        line = "\n".join(together)
    except (KeyError, TypeError, ValueError):  # signed by a sender of something else
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
