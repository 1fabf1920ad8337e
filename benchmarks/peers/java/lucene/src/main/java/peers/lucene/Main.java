package peers.lucene;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.monitor.HighlightsMatch;
import org.apache.lucene.monitor.MatcherFactory;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorConfiguration;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.search.IndexSearcher;
import peers.measured.Conversation;
import peers.measured.Latencies;
import peers.measured.Stopwatch;

/** The commands: set_up, match, highlight, results, highlights. */
public final class Main {
    private static final String FIELD = "body";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final FieldType TEXT = type(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    private static final FieldType WITH_OFFSETS = type(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS_AND_OFFSETS);

    static {
        // Queries of people have ORs of 500 phrases, and the presearcher asks for all words of a document.
        IndexSearcher.setMaxClauseCount(Integer.MAX_VALUE);
    }

    // StandardTokenizer and lower case, no stop words: the words that documents have on our side.
    private final Analyzer analyzer = new StandardAnalyzer();
    private Monitor monitor;
    private List<Collection<QueryMatch>> matches = List.of();
    private JsonNode highlighted;
    private long read;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Main main = new Main();
        Conversation.hold(Map.of(
                "set_up", main::setUp,
                "match", main::match,
                "highlight", main::highlight,
                "results", main::results,
                "highlights", main::highlights));
    }

    /** Registers queries, in another way than before if a monitor is there. */
    private Map<String, Object> setUp(JsonNode arguments) throws IOException {
        if (monitor != null) {
            monitor.close();
            monitor = null;
            System.gc();
        }
        Way way = Way.of(arguments);
        Map<String, Integer> counts = counts(lines(arguments.get("sample").asText()));
        Stopwatch watch = new Stopwatch();
        monitor = new Monitor(analyzer, way.presearcher(counts), new MonitorConfiguration());
        Queries queries = new Queries(way.regexps());
        List<MonitorQuery> waiting = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(arguments.get("queries").asText()))) {
            waiting.add(new MonitorQuery(Integer.toString(waiting.size()), queries.query(JSON.readTree(line))));
        }
        monitor.register(waiting);
        return watch.answer(Map.of("queries", monitor.getQueryCount()));
    }

    /** The hits of documents, in batches, or with `batch` 1 each alone; no more begin after `most` seconds of processor time. */
    private Map<String, Object> match(JsonNode arguments) throws IOException {
        matches = new ArrayList<>();
        return passed(arguments, TEXT, QueryMatch.SIMPLE_MATCHER, matches::add);
    }

    /** The same with the places of what was found, which are gone when the next come, as in a stream. */
    private Map<String, Object> highlight(JsonNode arguments) throws IOException {
        highlighted = arguments;
        return passed(arguments, WITH_OFFSETS, HighlightsMatch.MATCHER, this::read);
    }

    /** Looks at every place once, as those who asked for them do. */
    private void read(Collection<HighlightsMatch> found) {
        for (HighlightsMatch match : found) {
            for (HighlightsMatch.Hit hit : match.getHits(FIELD)) {
                read += hit.startOffset + hit.endOffset;
            }
        }
    }

    private <T extends QueryMatch> Map<String, Object> passed(
            JsonNode arguments, FieldType type, MatcherFactory<T> matcher, Consumer<Collection<T>> found)
            throws IOException {
        List<String> texts = lines(arguments.get("documents").asText());
        int batch = arguments.get("batch").asInt();
        double most = arguments.path("most").asDouble(1e6) + Stopwatch.processor();
        Latencies latencies = new Latencies();
        int passed = 0;
        Stopwatch watch = new Stopwatch();
        for (int first = 0; first < texts.size() && Stopwatch.processor() < most; first += batch) {
            long begin = System.nanoTime();
            if (batch == 1) {
                var matched = monitor.match(document(texts.get(first), type), matcher);
                check(matched.getErrors());
                found.accept(matched.getMatches());
            } else {
                List<String> some = texts.subList(first, Math.min(first + batch, texts.size()));
                var matched = monitor.match(
                        some.stream().map(text -> document(text, type)).toArray(Document[]::new), matcher);
                check(matched.getErrors());
                for (int at = 0; at < some.size(); at++) {
                    found.accept(matched.getMatches(at));
                }
            }
            latencies.add(System.nanoTime() - begin);
            passed = Math.min(first + batch, texts.size());
        }
        Map<String, Object> more = new HashMap<>(latencies.answer());
        more.put("documents", passed);
        return watch.answer(more);
    }

    /** Writes the pairs (document, query) of the last `match`, numbers of four bytes. */
    private Map<String, Object> results(JsonNode arguments) throws IOException {
        try (DataOutputStream out = out(arguments)) {
            for (int document = 0; document < matches.size(); document++) {
                for (QueryMatch match : matches.get(document)) {
                    out.writeInt(document);
                    out.writeInt(Integer.parseInt(match.getQueryId()));
                }
            }
        }
        return Map.of();
    }

    /** Runs the last `highlight` again, and writes (document, query, start, end). */
    private Map<String, Object> highlights(JsonNode arguments) throws IOException {
        List<Collection<HighlightsMatch>> found = new ArrayList<>();
        passed(highlighted, WITH_OFFSETS, HighlightsMatch.MATCHER, found::add);
        try (DataOutputStream out = out(arguments)) {
            for (int document = 0; document < found.size(); document++) {
                for (HighlightsMatch match : found.get(document)) {
                    for (HighlightsMatch.Hit hit : match.getHits(FIELD)) {
                        out.writeInt(document);
                        out.writeInt(Integer.parseInt(match.getQueryId()));
                        out.writeInt(hit.startOffset);
                        out.writeInt(hit.endOffset);
                    }
                }
            }
        }
        return Map.of();
    }

    /** How often each word stands in a sample of documents. */
    private Map<String, Integer> counts(List<String> sample) throws IOException {
        Map<String, Integer> counts = new HashMap<>();
        for (String text : sample) {
            try (TokenStream tokens = analyzer.tokenStream(FIELD, text)) {
                CharTermAttribute term = tokens.addAttribute(CharTermAttribute.class);
                tokens.reset();
                while (tokens.incrementToken()) {
                    counts.merge(term.toString(), 1, Integer::sum);
                }
                tokens.end();
            }
        }
        return counts;
    }

    /** No norms, since nothing is scored, and nothing stored. */
    private static FieldType type(IndexOptions options) {
        FieldType type = new FieldType();
        type.setTokenized(true);
        type.setOmitNorms(true);
        type.setIndexOptions(options);
        type.freeze();
        return type;
    }

    private static Document document(String text, FieldType type) {
        Document document = new Document();
        document.add(new Field(FIELD, text, type));
        return document;
    }

    private static void check(Map<String, Exception> errors) {
        if (!errors.isEmpty()) {
            throw new IllegalStateException(errors.toString());
        }
    }

    private static List<String> lines(String path) throws IOException {
        List<String> found = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(path))) {
            found.add(JSON.readValue(line, String.class));
        }
        return found;
    }

    private static DataOutputStream out(JsonNode arguments) throws IOException {
        return new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(Path.of(arguments.get("out").asText()))));
    }
}
