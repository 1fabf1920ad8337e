"""The command `cep`: finds the verb, loads its module and no other, and turns what ends it into an exit code.

A verb is a module with `register(subparsers)`, which adds its parser, and `run(arguments) -> int`. Both the
module's import and `register` must be cheap: what a verb needs is imported by its `run`.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from cep.cli.failure import HUNG_UP, OK, OUTSIDE, USAGE, CommandError

VERBS: dict[str, tuple[str, str]] = {
    "new": ("cep.cli.new", "make a folder with a job that runs"),
    "check": ("cep.cli.check", "check rule packs: syntax, types, lints"),
    "explain": ("cep.cli.explain", "what a diagnostic means; how a rule runs"),
    "fmt": ("cep.cli.fmt", "lay out rule files in the one way"),
    "test": ("cep.cli.test", "run the test blocks of rule packs"),
    "eval": ("cep.cli.eval", "run a pack over files, in this process"),
    "percolate": ("cep.cli.percolate", "standing queries over documents, in this process"),
    "run": ("cep.cli.run", "run the job that a job.toml describes"),
    "deploy": ("cep.cli.deploy", "hand a pack to the running job"),
    "alerts": ("cep.cli.alerts", "a job's alerts: list, show, explain, redeliver, export"),
    "episodes": ("cep.cli.episodes", "what a desk works on: list, acknowledge, close with a verdict"),
    "deadletters": ("cep.cli.deadletters", "what became no event: list, show, replay"),
    "queries": ("cep.cli.queries", "standing queries of a job: list, try"),
    "silences": ("cep.cli.silences", "what nobody wants to be told of for a while: add, list, expire"),
    "routes": ("cep.cli.routes", "the receivers that an alert goes to, and why"),
    "doctor": ("cep.cli.doctor", "what this machine lacks to run a job, and how to get it"),
    "receivers": ("cep.cli.receivers", "how receivers stand; try one; resume one that is paused"),
    "receive": ("cep.cli.receive", "a small receiver that verifies webhooks and prints them"),
}
"""Verb to its module and its line in the help, in the order of the help."""

_NO_PANDAS = frozenset({"check", "eval", "explain", "fmt", "percolate", "run", "test"})
"""Verbs that nobody waits half a second for."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 ok, 1 findings, 2 usage, 3 the outside world.

    Never raises but SystemExit, and never shows a traceback: what nobody foresaw goes to a report file.
    """
    from cep.cli.signals import exit_code, interrupting

    given = list(sys.argv[1:] if argv is None else argv)
    alone = argv is None
    _survive_any_locale()
    try:
        with interrupting() if alone else contextlib.nullcontext():
            return _ended(given, alone)
    except KeyboardInterrupt as asked:
        try:
            _flush()
        except (OSError, ValueError):
            _let_go_of_stdout()  # whoever read it was asked to end, too
        return exit_code(asked)


def _ended(given: list[str], alone: bool) -> int:
    try:
        try:
            code = _dispatch(given, alone)
        except (Exception, SystemExit):
            _flush()
            raise
        _flush()
        return code
    except CommandError as failure:
        _say_error(failure.message, failure.help, failure.code)
        return failure.exit_code
    except BrokenPipeError:
        _let_go_of_stdout()
        return HUNG_UP
    except OSError as error:
        from cep.cli.report import remedy, sentence

        _say_error(sentence(error), remedy(error))
        return OUTSIDE
    except Exception as error:
        return _diagnosed(error) or _of_job(error) or _clock(error) or _unforeseen(error, given)


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _let_go_of_stdout() -> None:
    """Python flushes stdout once more at exit, which would print about the closed pipe again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(given: list[str], alone: bool) -> int:
    """Run a verb. `alone`: the process does nothing else."""
    verb = next((word for word in given if not word.startswith("-")), None)
    if verb is not None and verb not in VERBS:
        import difflib

        close = difflib.get_close_matches(verb, VERBS, n=1)
        _say_error(
            f"there is no verb `{verb}`",
            f"did you mean `cep {close[0]}`?" if close else "verbs are " + ", ".join(VERBS),
        )
        return USAGE
    parser, of_verb = _parser(verb)
    if not given:
        parser.print_help(sys.stderr)
        return USAGE
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        of_verb.refuse(unknown)
    if verb is None:
        parser.error("a verb is missing: one of " + ", ".join(VERBS))
    if alone and verb in _NO_PANDAS:
        from cep.without_pandas import hide_pandas

        hide_pandas()
    if alone and verb == "run":
        from cep.allocator import share_freed

        share_freed()
    code: int = importlib.import_module(VERBS[verb][0]).run(arguments)
    return code


class _Parser(argparse.ArgumentParser):
    """argparse's parser with messages in the form of all our others."""

    def error(self, message: str) -> NoReturn:
        """End the command; where something is missing, with the way in which a verb is usually written."""
        missing = message.startswith(("the following arguments are required", "one of the arguments"))
        self._end(message, str(self.get_default("usual") or "") if missing else "")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End the command for words that it does not know: with the option that is meant, or their place.

        The place is the default of `stray`, which a verb may set, with `{}` for the word. That of `elsewhere`
        has the help for options that other programs have.
        """
        from rules.suggest import did_you_mean

        first, fix = unknown[0], ""
        stray = self.get_default("stray")
        if first.startswith("--"):
            long = [name for name in self._option_string_actions if name.startswith("--")]
            fix = did_you_mean(first.partition("=")[0], long)
        elsewhere = self.get_default("elsewhere") or {}
        if first.partition("=")[0] in elsewhere:
            fix = elsewhere[first.partition("=")[0]]
        elif stray and not first.startswith("-"):
            fix = stray.format(first)
        self._end(f"`{self.prog}` knows no {', '.join(f'`{word}`' for word in unknown)}", fix)

    def _end(self, message: str, fix: str) -> NoReturn:
        _say_error(message, fix or f"see `{self.prog} --help`")
        sys.exit(USAGE)


class _Version(argparse.Action):
    """`--version`, which reads the installed version only when asked."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        from importlib import metadata

        print(f"cep {metadata.version('standing-rules')}")
        parser.exit(OK)


def _parser(verb: str | None) -> tuple[_Parser, _Parser]:
    """The parsers of the command and of the verb; of the verbs, only the given one's arguments are known."""
    parser = _Parser(
        prog="cep",
        description="Standing rules over events: check, test, run and deploy them.",
        epilog="`cep VERB --help` says more. Exit codes: 0 ok, 1 findings or failed tests, "
        "2 usage or configuration, 3 the outside world.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", nargs=0, action=_Version, help="print the version and exit")
    verbs = parser.add_subparsers(metavar="VERB", parser_class=_Parser)
    for name, (module, line) in VERBS.items():
        if name == verb:
            importlib.import_module(module).register(verbs)
        else:
            verbs.add_parser(name, help=line)
    if verb is not None:
        _add_format(verbs.choices[verb])
    return parser, parser if verb is None else verbs.choices[verb]


def _add_format(parser: argparse.ArgumentParser) -> None:
    """`--format` belongs to every verb, so it is added here once."""
    if "--format" not in parser._option_string_actions:
        parser.add_argument(
            "--format",
            choices=("text", "json"),
            default="text",
            help="how results are printed (default: text)",
        )


def _survive_any_locale() -> None:
    """A terminal that cannot show a character gets its escape instead of stopping the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _say_error(message: str, help: str, code: str = "") -> None:  # noqa: A002
    from cep.cli.output import error_text

    with contextlib.suppress(OSError):  # nobody reads it any more
        print(error_text(message, help, code), file=sys.stderr, flush=True)


def _diagnosed(error: Exception) -> int:
    """Draw the diagnostics that an error carries, exit code 2; 0 if it carries none."""
    from rules.diagnostics import DiagnosticsError

    if not isinstance(error, DiagnosticsError):
        return OK
    from cep.cli.output import diagnostics_text

    print(diagnostics_text(error.diagnostics, sys.stderr), end="", file=sys.stderr, flush=True)
    return USAGE


def _of_job(error: Exception) -> int:
    """Say what a source or a job's folder cannot do; 0 for any other error."""
    from cep.errors import ConfigurationError, JobError

    if not isinstance(error, JobError):
        return OK
    _say_error(error.message, error.help, error.code)
    return USAGE if isinstance(error, ConfigurationError) else OUTSIDE


def _clock(error: Exception) -> int:
    from cep.job.clocks.wrong_clock import too_late

    if (found := too_late(error)) is None:
        return OK
    _say_error(f"{found.message} ({found.code})", found.help)
    return OUTSIDE


def _unforeseen(error: Exception, argv: list[str]) -> int:
    from cep.cli.report import unforeseen

    _say_error(*unforeseen(error, argv))
    return OUTSIDE


if __name__ == "__main__":
    sys.exit(main())
