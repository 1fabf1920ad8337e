"""Handing a pack to the running job: requests and answers as files in the state folder.

`cep deploy` renames a request in; the job takes it into the manifest of its next batch, and writes the
answer when that batch is in the outbox. Neither needs a port, and a crash on either side leaves whole files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from cep.errors import OutsideError
from cep.files import DamagedFileError, by_name, read_json, write_json
from cep.job.state_folder.folder import StateFolder
from cep.job.state_folder.lock import owner

if TYPE_CHECKING:
    from cep.files import AnyPath

WITHDRAWN = "it was taken back, unless a batch has begun with it, which the job tells"
"""The fate of a request for whose answer nobody waits any longer."""

Fate = Literal["kept", "drained", "started anew", "new", "removed"]
"""What a deploy means for a rule: runs kept; structure changed, windows go on under the old rule, or runs
dropped; was not there; is gone."""


@dataclass(frozen=True, slots=True)
class RuleFate:
    """A rule and what became of its runs: those kept or drained, else those dropped.

    `of` is "keys" for a rule over windows: so many have windows. `until` is when the last window ends that is
    drained, as an alert writes it; None: nobody knows.
    """

    rule: str
    fate: Fate
    runs: int
    of: Literal["runs", "keys"] = "runs"
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A pack as texts, by file name; `queries` are the hashes of its files of standing queries, by name."""

    id: str
    pack: str
    revision: str
    files: tuple[tuple[str, str], ...]
    queries: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The job's answer to a request.

    Of one that was taken: the first batch with the new revision, the revision before ("" for a new pack),
    and every rule's fate; `note` says what else happened. Of one that was refused: `refused` and what
    helps. Diagnostics, in their JSON form: the errors, or what is to be said of a pack that was taken.
    """

    id: str
    pack: str
    revision: str
    batch: int | None = None
    previous: str = ""
    rules: tuple[RuleFate, ...] = ()
    note: str = ""
    refused: str = ""
    help: str = ""
    diagnostics: tuple[dict[str, object], ...] = field(default=())

    @property
    def taken(self) -> bool:
        """True if the pack runs."""
        return self.batch is not None


def submit(folder: StateFolder, request: Request) -> None:
    """Puts a request where the job finds it."""
    write_json(_request_file(folder, request.id), asdict(request))


def withdraw(folder: StateFolder, id_: str) -> None:
    """Takes a request back, if it is still there."""
    _request_file(folder, id_).unlink(missing_ok=True)


def waiting(folder: StateFolder) -> list[Request]:
    """The requests that wait, in the order in which they were made; a file that is none is refused."""
    found = []
    for path in by_name(folder.requests, ".json"):
        try:
            value = read_json(path)
            files = tuple((str(name), str(text)) for name, text in value["files"])
            queries = tuple((str(name), str(content)) for name, content in value.get("queries", ()))
            found.append(Request(value["id"], value["pack"], value["revision"], files, queries))
        except FileNotFoundError:
            continue  # withdrawn meanwhile
        except (OSError, ValueError, KeyError, TypeError) as error:
            why = str(error) if isinstance(error, DamagedFileError) else "cannot be read"
            refused = f"the request {path} {why}"
            answer(folder, Answer(path.stem, "", "", refused=refused, help="deploy the pack again"))
    return found


def any_waits(folder: StateFolder) -> bool:
    """True if a request waits."""
    return bool(by_name(folder.requests, ".json"))


def answer(folder: StateFolder, given: Answer) -> None:
    """Answers a request and takes it away. Answers of an hour ago go, too."""
    write_json(_answer_file(folder, given.id), asdict(given))
    withdraw(folder, given.id)
    for path in by_name(folder.answers, ".json"):
        try:
            if path.stat().st_mtime < time.time() - 3600:
                path.unlink()
        except FileNotFoundError:
            continue


def answered(folder: StateFolder, id_: str) -> Answer | None:
    """The answer to a request, if it is there. Raises OutsideError for a damaged one."""
    path = _answer_file(folder, id_)
    try:
        value = read_json(path)
        value["rules"] = tuple(RuleFate(**rule) for rule in value["rules"])
        value["diagnostics"] = tuple(value["diagnostics"])
        return Answer(**value)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        why = str(error) if isinstance(error, DamagedFileError) else "is no answer"
        raise OutsideError(
            f"the answer {path} of the job {why}",
            "deploy the pack again: where it runs already, that changes nothing",
        ) from error


def new_id() -> str:
    """An id for a request; later ones sort behind."""
    return f"{time.time_ns():020d}-{os.getpid()}"


def hand_over(
    folder: StateFolder,
    request: Request,
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
    before: Callable[[], None] = lambda: None,
    runs: Callable[[], bool] | None = None,
) -> Answer:
    """Gives a pack to the running job and waits for what comes of it, at most `timeout` seconds.

    `before` is called once a job is there to take it: it puts beside the job what the request names. `runs`
    says whether one is, which by default the lock of the folder does. Raises
    OutsideError if no job runs on the folder, if it stops meanwhile, or when the time is over; the request is
    then taken back.
    """
    runs = runs or (lambda: owner(folder) is not None)
    if not runs():
        raise OutsideError(
            f"no job runs on the state folder {folder}",
            "start it with `cep run job.toml`, then deploy; a pack for the first start goes into [job] packs",
        )
    before()
    try:
        submit(folder, request)
        deadline = time.monotonic() + timeout
        while True:
            if (found := answered(folder, request.id)) is not None:
                return found
            if not runs():
                raise OutsideError("the job stopped before it took the pack", "start it again, then deploy")
            if time.monotonic() > deadline:
                raise OutsideError(
                    f"the job did not answer within {timeout:g} seconds",
                    f"{WITHDRAWN}; see whether its batches go on: /healthz, or the newest file in "
                    f"{folder.manifests}",
                )
            sleep(0.05)
    finally:
        withdraw(folder, request.id)


def _request_file(folder: StateFolder, id_: str) -> AnyPath:
    return folder.requests / f"{id_}.json"


def _answer_file(folder: StateFolder, id_: str) -> AnyPath:
    return folder.answers / f"{id_}.json"
