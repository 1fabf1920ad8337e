"""A job uses the cores that its process may use, whatever the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cep.job.spark.cores import cpu_quota, usable_cores

V2 = "0::/system.slice/job.service\n"
V1 = "4:memory:/docker/ab\n3:cpu,cpuacct:/docker/ab\n1:cpuset:/docker/ab\n0::/docker/ab\n"


@pytest.mark.parametrize(
    ("groups", "files", "quota"),
    [
        pytest.param(V2, {}, None, id="nothing is mounted"),
        pytest.param(V2, {"system.slice/job.service/cpu.max": "max 100000\n"}, None, id="2: no quota"),
        pytest.param(V2, {"system.slice/job.service/cpu.max": "150000 100000\n"}, 1.5, id="2: a quota"),
        pytest.param(
            V2,
            {
                "system.slice/job.service/cpu.max": "400000 100000\n",
                "system.slice/cpu.max": "200000 100000\n",
            },
            2,
            id="2: the group around has less",
        ),
        pytest.param("0::/\n", {"cpu.max": "300000 100000\n"}, 3, id="2: a container sees its own group"),
        pytest.param("0::/../..\n", {"cpu.max": "300000 100000\n"}, 3, id="2: a group outside"),
        pytest.param(V2, {"system.slice/job.service/cpu.max": "?\n"}, None, id="2: not understood"),
        pytest.param(
            V1,
            {
                "cpu,cpuacct/docker/ab/cpu.cfs_quota_us": "50000\n",
                "cpu,cpuacct/docker/ab/cpu.cfs_period_us": "100000\n",
            },
            0.5,
            id="1: a quota",
        ),
        pytest.param(
            V1,
            {
                "cpu,cpuacct/docker/ab/cpu.cfs_quota_us": "-1\n",
                "cpu,cpuacct/docker/ab/cpu.cfs_period_us": "100000\n",
            },
            None,
            id="1: no quota",
        ),
        pytest.param(
            V1,
            {"cpu,cpuacct/cpu.cfs_quota_us": "250000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            2.5,
            id="1: a container sees its own group",
        ),
        pytest.param(
            "4:cpuacct,cpu:/\n",
            {"cpu/cpu.cfs_quota_us": "250000\n", "cpu/cpu.cfs_period_us": "100000\n"},
            2.5,
            id="1: the folder has another name",
        ),
        pytest.param(V1, {"docker/ab/cpu.max": "100000 50000\n"}, 2, id="1 and 2 side by side"),
    ],
)
def test_a_quota_of_processor_time_is_found(
    tmp_path: Path, groups: str, files: dict[str, str], quota: float | None
) -> None:
    (tmp_path / "cgroup").write_text(groups, "utf-8")
    for name, text in files.items():
        path = tmp_path / "mounted" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert cpu_quota(tmp_path / "cgroup", tmp_path / "mounted") == quota


def test_without_control_groups_there_is_no_quota(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path / "missing", tmp_path) is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds a process to cores")
def test_a_process_that_is_bound_to_one_core_uses_one() -> None:
    core = min(os.sched_getaffinity(0))
    program = (
        f"import os; os.sched_setaffinity(0, {{{core}}}); "
        "from cep.job.spark.cores import usable_cores; print(usable_cores())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "1\n"
    assert 1 <= usable_cores() <= len(os.sched_getaffinity(0))
