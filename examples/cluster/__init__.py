"""A standalone cluster of Spark on this machine, for tests, demos and benchmarks, gone at the end.

A master and workers, each a process with folders and a loopback address of its own, as machines have them.

    with cluster(folder, workers=2) as machines:
        machines.master         # spark://127.0.0.1:PORT
"""

from cluster.process import ClusterError, Daemon
from cluster.running import Cluster, cluster

__all__ = ["Cluster", "ClusterError", "Daemon", "cluster"]
