package peers.measured;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Runs commands that come as lines of JSON, {"do": name, ...}, and answers each with a line of JSON, until
 * the input ends. The process lives for all turns of a comparison, so that its code is compiled and warm.
 */
public final class Conversation {
    /** One command: its arguments in, its answer out. */
    @FunctionalInterface
    public interface Command {
        Map<String, Object> run(JsonNode arguments) throws Exception;
    }

    private Conversation() {}

    /** Answers until the input ends; then, or if a command fails, the process ends with all its threads. */
    public static void hold(Map<String, Command> commands) {
        try {
            answer(commands);
            System.exit(0);
        } catch (Exception | Error problem) {
            problem.printStackTrace();
            System.exit(1);
        }
    }

    private static void answer(Map<String, Command> commands) throws Exception {
        PrintStream answers = System.out;
        // What libraries print must not stand among the answers.
        System.setOut(System.err);
        ObjectMapper json = new ObjectMapper();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode arguments = json.readTree(line);
            answers.println(json.writeValueAsString(commands.get(arguments.get("do").asText()).run(arguments)));
            answers.flush();
        }
    }
}
