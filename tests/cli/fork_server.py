"""A Python that has loaded what commands of `cep` need, and forks for each.

A command is then a process as any other, with an exit code, files, a working directory and an environment
of its own; it only spares the half second in which modules and kernels are loaded.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

EXAMPLES = Path(__file__).parents[2] / "examples"
CARDS = EXAMPLES / "cards"
JOB = EXAMPLES / "fraud" / "job.toml"
PAYMENTS = CARDS / "payments.jsonl"
QUERY = {"add": {"id": "q", "query": "a OR b", "version": 1}}
DOCUMENT = {"match": {"id": "d", "fields": {"body": "a b"}}}


class ForkServer:
    """Ends when its side of the pipe is closed, at the latest with this process."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        with theirs:
            place = theirs.fileno()
            command = [sys.executable, __file__, str(place)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[place],
                start_new_session=True,
            )

    def run(self, arguments: Sequence[str], cwd: Path, files: Sequence[Path], seconds: float) -> int:
        """The exit code of `cep`, below 0 for a signal; `files` are its stdin, stdout and stderr.

        A command that takes longer is ended with the server, and another one serves those that come.
        """
        self._pipe.send((list(arguments), str(cwd), dict(os.environ), list(map(str, files))))
        if not self._pipe.poll(seconds):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._pipe.close()
            self._start()
            raise AssertionError(f"cep {' '.join(arguments)} did not end in {seconds} s")
        code = self._pipe.recv()
        assert isinstance(code, int)
        return code


def _serve(pipe: Connection) -> None:
    while True:
        try:
            arguments, cwd, environ, files = pipe.recv()
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            pipe.close()
            _become(arguments, cwd, environ, files)
        pipe.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _become(arguments: list[str], cwd: str, environ: dict[str, str], files: list[str]) -> None:
    from cep.cli.main import main

    for number, path in enumerate(files):
        file = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
        os.dup2(file, number)
        os.close(file)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["cep", *arguments]
    sys.exit(main())


def _load() -> None:
    """Runs a command of most verbs, which load what they need, and leaves pandas out as they do."""
    from cep.cli.failure import FINDINGS
    from cep.cli.main import main

    with NamedTemporaryFile("w", suffix=".jsonl") as cases, TemporaryDirectory() as folder:
        case = {"id": "c", "schema": {"body": "text"}, "default": ["body"], "steps": [QUERY, DOCUMENT]}
        print(json.dumps(case), file=cases, flush=True)
        job = _stopped_job(Path(folder))
        for words in (
            f"check {CARDS}",
            f"test {CARDS}",
            f"eval {CARDS} --events payment={PAYMENTS} --output -",
            f"percolate --cases {cases.name}",
            f"check --job {JOB}",
            *(f"{verb} --job {job}" for verb in ("episodes list", "silences list", "alerts list")),
        ):
            sys.argv = ["cep", *words.split()]
            with redirect_stderr(StringIO()) as told:
                assert main() <= FINDINGS, told.getvalue()
    gc.collect()
    gc.freeze()


def _stopped_job(folder: Path) -> Path:
    """The description of a job whose outbox is there and empty."""
    from alerts.outbox import Outbox

    job = folder / "job.toml"
    sections = (
        '[job]\nname = "a"\npacks = "."\nstate = "."\n',
        '[feeds.a]\nsource = "files"\npath = "*.csv"\n',
    )
    job.write_text("".join(sections), "utf-8")
    Outbox.open(f"sqlite:///{folder}/outbox.db").close()
    return job


if __name__ == "__main__":
    given = Connection(int(sys.argv[1]))
    _load()
    _serve(given)
