package peers.esper;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import peers.measured.Conversation;
import peers.measured.Latencies;
import peers.measured.Stopwatch;

/** The commands: set_up, json, load, parsed, alone. */
public final class Main {
    private Engine engine;
    private List<Object> loaded = List.of();

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Main main = new Main();
        Conversation.hold(Map.of(
                "set_up", main::setUp,
                "json", main::json,
                "load", main::load,
                "parsed", main::parsed,
                "alone", main::alone));
    }

    private Map<String, Object> setUp(JsonNode arguments) throws Exception {
        Stopwatch watch = new Stopwatch();
        if (engine != null) {
            engine.close();
        }
        engine = arguments.has("work")
                ? Engine.ofWindows(arguments.get("work").asText())
                : Engine.ofPatterns(arguments.get("rules"));
        return watch.answer(Map.of());
    }

    /** A file of JSON lines to a file of alerts. */
    private Map<String, Object> json(JsonNode arguments) throws IOException {
        Stopwatch watch = new Stopwatch();
        try (Events events = new Events(Path.of(arguments.get("path").asText()));
                Alerts alerts = new Alerts(Path.of(arguments.get("out").asText()))) {
            engine.alerts = alerts;
            for (Object event = events.next(); event != null; event = events.next()) {
                engine.send(event);
            }
            alerts.flush();
            return watch.answer(Map.of("alerts", alerts.count()));
        }
    }

    /** Reads events that `parsed` then sends. */
    private Map<String, Object> load(JsonNode arguments) throws IOException {
        loaded = new ArrayList<>();
        try (Events events = new Events(Path.of(arguments.get("path").asText()))) {
            for (Object event = events.next(); event != null; event = events.next()) {
                loaded.add(event);
            }
        }
        // Garbage of reading is not the engine's.
        System.gc();
        return Map.of("events", loaded.size());
    }

    /** What was loaded to a file of alerts. */
    private Map<String, Object> parsed(JsonNode arguments) throws IOException {
        Stopwatch watch = new Stopwatch();
        try (Alerts alerts = new Alerts(Path.of(arguments.get("out").asText()))) {
            engine.alerts = alerts;
            for (Object event : loaded) {
                engine.send(event);
            }
            alerts.flush();
            return watch.answer(Map.of("alerts", alerts.count()));
        }
    }

    /** Each line of a file alone: from its bytes until its alerts, if it has some, are in their file. */
    private Map<String, Object> alone(JsonNode arguments) throws IOException {
        Latencies latencies = new Latencies();
        try (Alerts alerts = new Alerts(Path.of(arguments.get("out").asText()))) {
            engine.alerts = alerts;
            for (String line : Files.readAllLines(Path.of(arguments.get("path").asText()))) {
                byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
                long begin = System.nanoTime();
                try (Events events = new Events(bytes)) {
                    engine.send(events.next());
                }
                alerts.flush();
                latencies.add(System.nanoTime() - begin);
            }
        }
        return latencies.answer();
    }
}
