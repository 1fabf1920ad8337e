"""`cep run`: the job that a job.toml describes, until it is stopped or everything is read."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cep.cli.failure import OK, USAGE, OutsideError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cep.cli.arguments import Subparsers
    from cep.config import Job
    from cep.job.running.progress import Progress
    from cep.job.running.stopping import Stop
    from rules.diagnostics import Diagnostic
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "run",
        help="run the job that a job.toml describes",
        description="Read the feeds, match the rules, deliver the alerts, until the job is stopped (Ctrl-C). "
        "Stopped or killed, it goes on where it was at the next start.",
    )
    parser.add_argument("job", type=Path, metavar="JOB", help="the job's description, job.toml")
    parser.add_argument("--once", action="store_true", help="take what is there, deliver, and stop")
    parser.add_argument(
        "--drain",
        action="store_true",
        help="with --once: then end time, which settles everything still open, and close the state folder",
    )
    parser.add_argument(
        "--standby",
        action="store_true",
        help="wait while another process runs the job, then take it over; its outbox has to be on PostgreSQL",
    )
    parser.add_argument(
        "--accept-loss",
        action="append",
        default=[],
        metavar="FILE",
        help="let the batch that is open go without a file that is missing or was changed; may be repeated",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the job; returns the exit code."""
    from cep.cli.signals import supervised
    from cep.job.running.progress import Progress
    from cep.job.running.stopping import Stop

    if arguments.drain and not arguments.once:
        raise UsageError("--drain goes with --once", "a job that runs on has no end of time")
    if arguments.standby and arguments.once:
        raise UsageError("--standby does not go with --once", "a standby waits, and then runs on")
    progress = Progress(sys.stderr)
    stop = Stop(progress.tell)

    def end() -> None:
        sentence = stop.now()
        progress.end()
        progress.tell(sentence)

    try:
        return supervised(lambda: _run(arguments, progress, stop), stop.ask, end)
    finally:
        progress.end()


def _run(arguments: argparse.Namespace, progress: Progress, stop: Stop) -> int:
    from cep.config import load_job
    from rules.diagnostics import DiagnosticsError

    loaded = load_job(arguments.job, os.environ)
    tell(loaded.diagnostics)
    if loaded.job is None:
        return USAGE
    try:
        return _live(loaded.job, arguments, progress, stop)
    except DiagnosticsError as error:
        tell(error.diagnostics)
        return USAGE


def _live(job: Job, arguments: argparse.Namespace, progress: Progress, stop: Stop) -> int:
    from cep.errors import ConfigurationError, JobError
    from cep.job.running import journal, lifecycle
    from cep.job.state_folder.folder import StateFolder

    accepted = frozenset(map(os.path.realpath, arguments.accept_loss))
    how = arguments.once, arguments.drain, arguments.standby
    mode, stderr = lifecycle.Mode(*how, accepted), sys.stderr
    try:
        with journal.kept(
            StateFolder(job.state).logs / "python.log",
            lambda sentence: None if stop.is_set() else progress.tell(sentence),
        ):
            lifecycle.run(
                lifecycle.Launch(job, lambda: first_packs(job, stderr), os.environ, mode),
                progress,
                warn=lambda found: tell(found, stderr),
                stop=stop,
            )
    except ConfigurationError as error:
        raise UsageError(error.message, error.help, error.code) from error
    except JobError as error:
        raise OutsideError(error.message, error.help, error.code) from error
    return OK


def first_packs(job: Job, stream: TextIO | None = None) -> Sequence[Pack]:
    """The packs of the job's folder, warnings to `stream`, stderr. Raises DiagnosticsError."""
    from cep.cli.packs import load_of
    from cep.packs.read import runnable
    from rules.diagnostics import DiagnosticsError

    checked = load_of(job)
    packs = [pack for one in checked if (pack := runnable(one)) is not None]
    if len(packs) < len(checked):
        raise DiagnosticsError([d for one in checked for d in one.diagnostics])
    tell([d for one in checked for d in one.diagnostics], stream)
    return packs


def tell(diagnostics: Sequence[Diagnostic], stream: TextIO | None = None) -> None:
    """Print diagnostics where a user looks for them, by default on stderr."""
    from cep.cli.output import diagnostics_text

    out = sys.stderr if stream is None else stream
    print(diagnostics_text(diagnostics, out), end="", file=out, flush=True)
