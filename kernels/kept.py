"""Machine code on disk, in one folder for each digest.

Folders lie below NUMBA_CACHE_DIR if it is set, else in `__pycache__` beside the family's first module, else
in the user's folder for numba. A folder that can be read serves although nobody may write there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba.core import caching, config, serialize
from numba.core.compiler import CompileResult
from numba.misc.appdirs import user_cache_dir

from kernels.digest import digest, is_older_than_process
from kernels.family import Family

MOST_FOLDERS = 16
"""So many folders of a family stay whatever their age: for several processors, versions, sources."""
AT_REST = 24 * 3600
"""Seconds without use after which others may be removed: a process has loaded a kernel within seconds."""

NOT_KEPT = "CEP0960"

_CHECKSUM = hashlib.sha256().digest_size

_told: set[str] = set()


class KernelNotKept(RuntimeWarning):
    """Machine code could not be written to disk; every process compiles it anew."""


class NotKeptError(Exception):
    """An entry's machine code is not in its folder, or is damaged."""


def folder_with(family: Family) -> Path | None:
    """The folder with a family's machine code, marked as used now."""
    for place in _places(family):
        if all(_file(place, name).exists() for name in family.entries):
            with suppress(OSError):
                os.utime(place)
            return place
    return None


def folder_for(family: Family) -> Path | None:
    """The folder that a family's machine code is to be written into. Warns where there is none."""
    if not is_older_than_process(family):
        tell(family, "its files were changed after this process began", "start the program again")
        return None
    reasons = []
    for place in _places(family):
        try:
            place.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            reasons.append(f"{place.parent}: {error.strerror}")
        else:
            return place
    tell(family, "; ".join(reasons), "set NUMBA_CACHE_DIR to a folder that can be written")
    return None


def tell(family: Family, why: str, fix: str) -> None:
    """Warn, once in a process for a reason, that every process has to compile."""
    said = (
        f"{NOT_KEPT}: the compiled kernel `{family.name}` is not kept on disk: each process compiles it again"
    )
    said = f"{said}, for up to a minute ({why}); {fix}"
    if said not in _told:
        _told.add(said)
        warnings.warn(said, KernelNotKept, stacklevel=2)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Within the block no other process is in one for the same folder, where the file system has locks."""
    with (folder / "lock").open("wb") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)


def remove_old(folder: Path, now: float) -> list[Path]:
    """Remove a family's folders that are neither among the MOST_FOLDERS used last nor used within AT_REST.

    Whoever loads from a folder marks it as used first; what goes at the same instant is compiled again.
    """
    family, _, _ = folder.name.rpartition("-")
    used = {}
    for other in folder.parent.glob(f"{family}-*"):
        with suppress(OSError):
            used[other] = other.stat().st_mtime
    by_use = sorted(used, key=used.__getitem__, reverse=True)
    old = [other for other in by_use[MOST_FOLDERS:] if used[other] < now - AT_REST]
    for other in old:
        shutil.rmtree(other, ignore_errors=True)
    return old


class KeptEntry(caching._Cache):
    """An entry's machine code as numba's dispatcher asks for it: one file, of a checksum and numba's pickle.

    Numba's own cache looks for changes in the function's file, not in what is compiled into it, and reads
    only where it may write. Without a folder nothing is kept. With `only_read` NotKeptError is raised where
    code is not there or is damaged.
    """

    def __init__(self, name: str, folder: Path | None, family: Family, *, only_read: bool) -> None:
        self._file = _file(folder, name) if folder else None
        self._family = family
        self._only_read = only_read

    @property
    def cache_path(self) -> str | None:
        return str(self._file) if self._file else None

    def load_overload(self, _signature: Any, target: Any) -> Any:
        if not self._only_read:
            return None
        target.refresh()
        try:
            data = self._file.read_bytes() if self._file else b""
        except OSError as error:
            raise NotKeptError from error
        if hashlib.sha256(data[_CHECKSUM:]).digest() != data[:_CHECKSUM]:
            raise NotKeptError
        return CompileResult._rebuild(target, *pickle.loads(data[_CHECKSUM:]))

    def save_overload(self, _signature: Any, compiled: Any) -> None:
        if self._file is None:
            return
        assert not compiled.lifted
        assert not compiled.library.has_dynamic_globals, "a large global array is elsewhere in each process"
        data = serialize.dumps(compiled._reduce())
        fresh = self._file.with_suffix(f".{uuid.uuid4().hex}")
        try:
            fresh.write_bytes(hashlib.sha256(data).digest() + data)
            fresh.replace(self._file)
        except OSError as error:
            fresh.unlink(missing_ok=True)
            tell(self._family, f"{self._file.parent}: {error.strerror}", "make room on the disk")

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """A folder is never written twice with other code."""


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.code"


def _places(family: Family) -> list[Path]:
    """Where a family's folder may lie, the first choice first."""
    given = vars(config)["CACHE_DIR"]
    beside = Path(str(family.modules[0].__file__)).parent / "__pycache__"
    of_user = Path(user_cache_dir("numba", appauthor=False)) / "kernels"
    name = f"{family.name}-{digest(family)}"
    return [root / name for root in ([Path(given)] if given else [beside, of_user])]
