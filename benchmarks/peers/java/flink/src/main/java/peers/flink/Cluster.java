package peers.flink;

import java.net.URI;
import java.nio.file.Path;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;

/** A cluster in this process that runs one job after the other, as a session cluster does, and stays warm. */
final class Cluster {
    static final int SLOTS = 2;

    private final MiniCluster cluster;

    Cluster() throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(RestOptions.ADDRESS, "localhost");
        cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(SLOTS)
                .build());
        cluster.start();
    }

    /** The settings with which a job comes here. */
    Configuration settings() throws Exception {
        URI address = cluster.getRestAddress().get();
        Configuration settings = new Configuration();
        settings.set(DeploymentOptions.TARGET, "remote");
        settings.set(RestOptions.ADDRESS, address.getHost());
        settings.set(RestOptions.PORT, address.getPort());
        return settings;
    }

    /**
     * Milliseconds since 1970 at which the last task of a job was running; until then is its start. Some
     * tasks have begun to read by then, which is in Flink's favour.
     */
    long running(JobID job) throws Exception {
        AccessExecutionGraph graph = cluster.getExecutionGraph(job).get();
        long latest = 0;
        for (AccessExecutionVertex vertex : graph.getAllExecutionVertices()) {
            latest = Math.max(latest, vertex.getStateTimestamp(ExecutionState.RUNNING));
        }
        return latest;
    }

    /** Milliseconds since 1970 at which a job had finished. */
    long finished(JobID job) throws Exception {
        return cluster.getExecutionGraph(job)
                .get()
                .getStatusTimestamp(org.apache.flink.api.common.JobStatus.FINISHED);
    }

    static String uri(String path) {
        return Path.of(path).toUri().toString();
    }
}
