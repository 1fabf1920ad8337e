package peers.flink;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.types.Row;

/**
 * Writes the id of a match's last event and the nanoseconds since 1970 as soon as the match is there. Flink's
 * own file sink shows its files at a checkpoint only, which would be its latency then.
 */
final class PromptSink implements Sink<Row> {
    private static final long serialVersionUID = 1;

    private final String path;

    PromptSink(String path) {
        this.path = path;
    }

    @Override
    public SinkWriter<Row> createWriter(WriterInitContext context) throws IOException {
        FileOutputStream out = new FileOutputStream(path);
        return new SinkWriter<>() {
            @Override
            public void write(Row match, Context when) throws IOException {
                String line = match.getField("c") + " " + System.currentTimeMillis() + "\n";
                out.write(line.getBytes(StandardCharsets.UTF_8));
            }

            @Override
            public void flush(boolean end) {
                // Every line is written at once.
            }

            @Override
            public void close() throws IOException {
                out.close();
            }
        };
    }
}
