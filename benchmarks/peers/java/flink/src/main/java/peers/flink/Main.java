package peers.flink;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import peers.measured.Conversation;
import peers.measured.Stopwatch;

/** The commands: run, windows, follow, stop. */
public final class Main {
    // The time is a timestamp of an instant, since the text ends in Z. Events of a file are in order, so
    // the watermark follows them at once. The events are read once, so every partition of them is one file.
    private static final String EVENTS = """
            CREATE TABLE e (eid STRING, ts TIMESTAMP_LTZ(3), k STRING, price DOUBLE, WATERMARK FOR ts AS ts)
            WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'json',
                  'json.timestamp-format.standard' = 'ISO-8601'%s)""";

    private static final String MATCHES = """
            SELECT k, `time`, a, b, c, low, high FROM e MATCH_RECOGNIZE (
              PARTITION BY k
              ORDER BY ts
              MEASURES C.ts AS `time`, A.eid AS a, B.eid AS b, C.eid AS c, A.price AS low, C.price AS high
              ONE ROW PER MATCH
              AFTER MATCH SKIP PAST LAST ROW
              PATTERN (A B C) WITHIN INTERVAL '10' MINUTE
              DEFINE A AS A.price < 50, B AS B.price > A.price + 10, C AS C.price > B.price)""";

    private static final String ALERTS = """
            CREATE TABLE alerts (rule STRING, k STRING, `time` TIMESTAMP_LTZ(3), a STRING, b STRING, c STRING,
                                 low DOUBLE, high DOUBLE)
            WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'json',
                  'json.timestamp-format.standard' = 'ISO-8601')""";

    private final Cluster cluster;
    private JobClient following;

    private Main() throws Exception {
        cluster = new Cluster();
    }

    public static void main(String[] arguments) throws Exception {
        Stopwatch watch = new Stopwatch();
        Main main = new Main();
        Map<String, Object> started = watch.answer(Map.of());
        Conversation.hold(Map.of(
                "started", nothing -> started,
                "run", main::run,
                "windows", main::windows,
                "follow", main::follow,
                "stop", main::stop));
    }

    /** Files of events to files of alerts, as a job of its own, whose start is told apart. */
    private Map<String, Object> run(JsonNode arguments) throws Exception {
        return run(arguments, EVENTS.formatted("%s", ""), ALERTS, "SELECT 'strict0', * FROM (" + MATCHES + ")");
    }

    /** Files of payments to files of what windows told. */
    private Map<String, Object> windows(JsonNode arguments) throws Exception {
        Windows windows = Windows.of(arguments.get("work").asText());
        return run(arguments, Windows.PAYMENTS, windows.alerts(), windows.query());
    }

    private Map<String, Object> run(JsonNode arguments, String events, String alerts, String query)
            throws Exception {
        Configuration settings = settings();
        int checkpoints = arguments.get("checkpoints").asInt();
        if (checkpoints > 0) {
            settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(checkpoints));
            settings.set(
                    CheckpointingOptions.CHECKPOINTS_DIRECTORY,
                    Cluster.uri(arguments.get("state").asText()));
        }
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(settings)
                .build());
        long begin = System.currentTimeMillis();
        tables.executeSql(events.formatted(Cluster.uri(arguments.get("path").asText())));
        tables.executeSql(alerts.formatted(Cluster.uri(arguments.get("out").asText())));
        double before = Stopwatch.processor();
        TableResult result = tables.executeSql("INSERT INTO alerts " + query);
        result.await();
        double processor = Stopwatch.processor() - before;
        JobID job = result.getJobClient().orElseThrow().getJobID();
        long running = cluster.running(job);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("start", (running - begin) / 1e3);
        answer.put("seconds", (cluster.finished(job) - running) / 1e3);
        // With that of planning and submitting it, a tenth of a second when warm.
        answer.put("processor", processor);
        return answer;
    }

    /** Goes on looking for files in a folder; each alert is written the moment that the sink has it. */
    private Map<String, Object> follow(JsonNode arguments) throws Exception {
        Configuration settings = settings();
        // As prompt as Flink can be told to be: nothing waits for a buffer to fill or for the next watermark.
        settings.set(ExecutionOptions.BUFFER_TIMEOUT, Duration.ZERO);
        settings.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofMillis(1));
        // One reader: with two, the one without a file would hold the watermark back until it is idle.
        settings.set(CoreOptions.DEFAULT_PARALLELISM, 1);
        // Not getExecutionEnvironment, which would start a cluster of its own.
        var environment = new StreamExecutionEnvironment(settings);
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        String path = Cluster.uri(arguments.get("path").asText());
        tables.executeSql(EVENTS.formatted(path, ", 'source.monitor-interval' = '1 ms'"));
        tables.toDataStream(tables.sqlQuery(MATCHES)).sinkTo(new PromptSink(arguments.get("out").asText()));
        following = environment.executeAsync();
        while (cluster.running(following.getJobID()) == 0) {
            Thread.sleep(20);
        }
        return Map.of();
    }

    /** Ends what follows. */
    private Map<String, Object> stop(JsonNode arguments) throws Exception {
        following.cancel().get();
        return Map.of();
    }

    private Configuration settings() throws Exception {
        Configuration settings = cluster.settings();
        settings.set(CoreOptions.DEFAULT_PARALLELISM, Cluster.SLOTS);
        // Rows are not copied between chained operators.
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        // State lives on the heap (the default, hashmap), the quickest there is.
        settings.setString("table.local-time-zone", "UTC");
        return settings;
    }
}
