"""The processor cores that this process may use, which may be fewer than the machine has.

Affinity (taskset, cpuset, a container's `--cpuset-cpus`) is what the scheduler says; a quota of processor
time (a container's `--cpus`, systemd's CPUQuota) stands in the files of control groups, of version 1
(https://docs.kernel.org/scheduler/sched-bwc.html) or 2
(https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files). Java counts in the same way.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """The cores that this process may run on, at most as many as its quota pays for; at least 1."""
    allowed = _allowed()
    quota = cpu_quota()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


def cpu_quota(groups: Path = _GROUPS, mounted: Path = _MOUNTED) -> float | None:
    """Seconds of processor time that a second may take, by the smallest quota that holds; None without one.

    `groups` lists the control groups of a process as /proc does, `mounted` is where their folders are.
    """
    try:
        lines = groups.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    found = [quota for line in lines for quota in _quotas(line, mounted)]
    return min(found, default=None)


def _allowed() -> int:
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(line: str, mounted: Path) -> Iterator[float]:
    """The quotas of one line `NUMBER:CONTROLLERS:PATH`: those of the group, and of all around it."""
    _, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if controllers == "":
        names, root = ["cpu.max"], mounted
    elif "cpu" in controllers.split(","):
        names, root = ["cpu.cfs_quota_us", "cpu.cfs_period_us"], mounted / controllers
        if not root.is_dir():  # mounted with the controllers in another order, and a link for each of them
            root = mounted / "cpu"
    else:
        return
    group = Path(path.lstrip("/"))
    if ".." in group.parts:  # the group lies outside of what this namespace shows
        group = Path()
    for folder in (group, *group.parents):
        # a folder that a container does not see is passed over: its own group is mounted at the root
        with suppress(OSError, ValueError):
            words = " ".join((root / folder / name).read_text("ascii") for name in names).split()
            quota, period = (math.inf if word == "max" else float(word) for word in words)
            if period > 0 and 0 < quota < math.inf:
                yield quota / period
