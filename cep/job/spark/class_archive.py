"""Spark's classes as the JVM keeps them in memory, in a file of the cache: class data sharing (JEP 310).

A JVM that maps the file reads, checks and links none of sixteen thousand classes again, which is half of what
it does until the first batch. A job without a file has its JVM list the classes that it loads, and a minute
after its start makes the file of that list, in a process of least priority. The file's name tells of which
Java and which jars it is, and the JVM checks that, too; a file that does not fit, or is damaged, is not used.

What is in it runs: neither the folder nor the file may belong to another user or be open to writing by one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import xxhash

VARIABLE = "CEP_CACHE"
"""The environment variable that names another folder; empty: none."""
_HALF = 3600.0
"""Seconds after which a file that is not finished is one of a job that was killed."""
_SAME = ("-XX:+UseSerialGC", "-Xmx1g")
"""Options that the file's making and its use must share."""
_MAPPED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
"""The file is mapped where it was made for (decision 90): elsewhere the JVM rewrites every address in it."""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive in a folder for the classes of a classpath, by the program `java`.

    `place` is a digest of where both are, `contents` of what they are.
    """

    folder: Path
    place: str
    contents: str
    java: Path
    classpath: str

    def there(self) -> Path | None:
        """The file, if there is one that is whole and undamaged: a JVM that maps half a file crashes."""
        for path in self.folder.glob(f"spark-{self.place}-{self.contents}-*.jsa"):
            with suppress(OSError):  # which cannot be read
                if _is_ours(path) and path.stem.endswith(f"-{_checksum(path)}"):
                    return path
        return None

    def options(self, listed: Path) -> tuple[str, ...]:
        """Options for the JVM: to map the archive, or, without one, to list its classes in `listed`."""
        path = self.there()
        if path is None:
            return (f"-XX:DumpLoadedClassList={listed}",)
        return (f"-XX:SharedArchiveFile={path}", *_MAPPED)

    def keep(self, made: Path) -> None:
        """Gives a file that was made its name; removes those of an earlier Java or Spark at that place."""
        with made.open("rb") as file:
            os.fsync(file.fileno())
        kept = made.rename(made.with_name(f"spark-{self.place}-{self.contents}-{_checksum(made)}.jsa"))
        earlier = set(self.folder.glob(f"spark-{self.place}-*.jsa")) - {kept}
        halves = (half for half in self.folder.glob("making-*") if half.stat().st_mtime < time.time() - _HALF)
        for other in (*earlier, *halves):
            other.unlink(missing_ok=True)

    def making(self, listed: Path, made: Path) -> list[str]:
        """The command that makes a file of the classes listed."""
        dump = ("-Xshare:dump", f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={made}")
        return [str(self.java), *dump, *_SAME, "-cp", self.classpath]


def class_archive(java: Path, classpath: str, environment: Mapping[str, str]) -> ClassArchive | None:
    """The archive of a classpath, there or to be made; None where no folder can hold one safely."""
    folder = _folder(environment)
    if folder is None:
        return None
    place, contents = _digest([str(java.resolve()), classpath]), _digest(_contents(java, classpath))
    return ClassArchive(folder, place, contents, java, classpath)


class Pace(NamedTuple):
    """After how many seconds an archive is made, and how nice its process is to others."""

    after: float
    niceness: int


IN_PASSING = Pace(60.0, 19)
"""Counted from the start of Spark: by then a job that stays has its first batches behind it."""


@contextmanager
def made_later(
    archive: ClassArchive | None,
    listed: Path,
    log: Path,
    started: Callable[[subprocess.Popen[bytes]], None] = lambda _: None,
    pace: Pace = IN_PASSING,
) -> Iterator[threading.Thread | None]:
    """Makes the archive in a thread, unless it is there or the block ends before.

    What the JVM says of it stands in the file `log`. `started` is called with its process, which has a
    session of its own.
    """
    if archive is None or archive.there() is not None:
        yield None
        return
    ended = threading.Event()
    thread = threading.Thread(target=_make, args=(archive, listed, log, started, pace, ended), daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        ended.set()
        thread.join()


def _make(
    archive: ClassArchive,
    listed: Path,
    log: Path,
    started: Callable[[subprocess.Popen[bytes]], None],
    pace: Pace,
    ended: threading.Event,
) -> None:
    if ended.wait(pace.after) or archive.there() is not None:
        return
    made = archive.folder / f"making-{os.getpid()}"
    try:
        _whole_lines(listed)
        with log.open("wb") as told:
            process = subprocess.Popen(
                archive.making(listed, made), stdin=subprocess.DEVNULL, stdout=told, stderr=told,
                start_new_session=True,
            )  # fmt: skip
            started(process)
            try:
                os.setpriority(os.PRIO_PROCESS, process.pid, pace.niceness)
                while process.poll() is None and not ended.wait(0.1):
                    pass
            finally:
                process.kill()
                process.wait()
        if process.returncode == 0:
            archive.keep(made)
    except OSError as error:  # a full disk, say: the next start is no quicker than this one
        with suppress(OSError):
            log.write_text(f"the archive was not made: {error}\n", "utf-8")
    finally:
        with suppress(OSError):
            made.unlink(missing_ok=True)


def _whole_lines(listed: Path) -> None:
    """Cuts off the line that the JVM is writing."""
    with listed.open("rb") as file:
        data = file.read()
    listed.with_suffix(".part").write_bytes(data[: data.rfind(b"\n") + 1])
    listed.with_suffix(".part").replace(listed)


def _folder(environment: Mapping[str, str]) -> Path | None:
    named = environment.get(VARIABLE)
    if named == "":
        return None
    try:
        if named is not None:
            folder = Path(named).absolute()
        else:
            base = environment.get("XDG_CACHE_HOME")
            folder = (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "cep"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # nobody's home
        return None
    return folder if _is_ours(folder) else None


def _is_ours(path: Path) -> bool:
    """True if a file or folder is there that belongs to this user, is no link, and only they may write to."""
    try:
        found = path.lstat()
    except OSError:
        return False
    foreign = stat.S_IWGRP | stat.S_IWOTH
    return found.st_uid == os.geteuid() and not (stat.S_ISLNK(found.st_mode) or found.st_mode & foreign)


def _checksum(path: Path) -> str:
    """XXH3-128 of a file's bytes, which are read again only if it has changed. Raises OSError."""
    found = path.stat()
    return _checksum_of(path, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=2)
def _checksum_of(path: Path, inode: int, size: int, time: int) -> str:  # noqa: ARG001
    found, block = xxhash.xxh3_128(), bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while some := file.readinto(block):
            found.update(memoryview(block)[:some])
    return found.hexdigest()


def _contents(java: Path, classpath: str) -> Sequence[str]:
    """All that an archive depends on: Java's release, options, and names, lengths and times of the jars."""
    try:
        release = (java.resolve().parent.parent / "release").read_text("utf-8", "replace")
    except OSError:
        release = ""
    parts = (Path(part) for part in classpath.split(os.pathsep))
    listed = ([part] if part.name != "*" else part.parent.glob("*.jar") for part in parts)
    found = ((jar, jar.stat()) for jar in sorted(set(chain.from_iterable(listed))))
    return [release, *_SAME, *(f"{jar.name} {seen.st_size} {seen.st_mtime_ns}" for jar, seen in found)]


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
