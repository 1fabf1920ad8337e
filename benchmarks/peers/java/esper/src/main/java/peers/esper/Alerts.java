package peers.esper;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes alerts as JSON lines. Texts of these events hold nothing that JSON would escape. */
final class Alerts implements Closeable {
    private static final String[] NAMES = {"s", "a", "m"};

    private final StringBuilder line = new StringBuilder(256);
    private final OutputStream out;
    private long count;

    Alerts(Path path) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(path), 1 << 16);
    }

    /** One alert: its rule and the measures of the match. */
    void write(String rule, Map<?, ?> match) {
        line.setLength(0);
        line.append("{\"rule\":\"").append(rule).append("\",\"k\":\"").append(match.get("k"));
        line.append("\",\"time\":").append(((Long) match.get("time")).longValue());
        line.append(",\"a\":\"").append(match.get("a")).append("\",\"b\":\"").append(match.get("b"));
        line.append("\",\"c\":\"").append(match.get("c"));
        line.append("\",\"low\":").append(((Double) match.get("low")).doubleValue());
        line.append(",\"high\":").append(((Double) match.get("high")).doubleValue()).append("}\n");
        writeLine();
    }

    /** What a window came to: its rule, its key, its time and the aggregates. */
    void writeWindow(String rule, Map<?, ?> window) {
        line.setLength(0);
        line.append("{\"rule\":\"").append(rule).append("\",\"key\":\"").append(window.get("key"));
        line.append("\",\"time\":").append(((Long) window.get("time")).longValue());
        line.append(",\"n\":").append(((Long) window.get("n")).longValue());
        for (String name : NAMES) {
            if (window.get(name) instanceof Double value) {
                line.append(",\"").append(name).append("\":").append(value.doubleValue());
            }
        }
        line.append("}\n");
        writeLine();
    }

    private void writeLine() {
        try {
            out.write(line.toString().getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
        count++;
    }

    long count() {
        return count;
    }

    void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
