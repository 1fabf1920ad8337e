package peers.lucene;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.Term;
import org.apache.lucene.queries.spans.SpanMultiTermQueryWrapper;
import org.apache.lucene.queries.spans.SpanNearQuery;
import org.apache.lucene.queries.spans.SpanOrQuery;
import org.apache.lucene.queries.spans.SpanQuery;
import org.apache.lucene.queries.spans.SpanTermQuery;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RegexpQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.WildcardQuery;

/** Lucene's queries from the lists of lucene_queries.py, as a Lucene user would write them. */
final class Queries {
    private static final String FIELD = "body";

    /** Prefixes as regular expressions, which RegexpQueryHandler shows to the presearcher, or as prefixes. */
    private final boolean regexps;

    Queries(boolean regexps) {
        this.regexps = regexps;
    }

    Query query(JsonNode form) {
        return switch (form.get(0).asText()) {
            case "word" -> new TermQuery(term(form));
            case "prefix", "wildcard" -> pattern(form);
            case "phrase" -> phrase(form);
            case "and" -> and(operands(form));
            case "or" -> {
                BooleanQuery.Builder any = new BooleanQuery.Builder();
                operands(form).forEach(operand -> any.add(query(operand), Occur.SHOULD));
                yield any.build();
            }
            case "not" -> and(List.of(form));
            case "near" -> span(form);
            default -> throw new IllegalArgumentException(form.toString());
        };
    }

    /** What must be, and what must not; Lucene wants something that must be. */
    private Query and(List<JsonNode> operands) {
        BooleanQuery.Builder all = new BooleanQuery.Builder();
        boolean something = false;
        for (JsonNode operand : operands) {
            boolean not = operand.get(0).asText().equals("not");
            all.add(query(not ? operand.get(1) : operand), not ? Occur.MUST_NOT : Occur.MUST);
            something |= !not;
        }
        if (!something) {
            all.add(new MatchAllDocsQuery(), Occur.MUST);
        }
        return all.build();
    }

    private Query phrase(JsonNode form) {
        List<JsonNode> parts = operands(form);
        if (parts.stream().anyMatch(part -> !part.get(0).asText().equals("word"))) {
            return span(form);
        }
        // A PhraseQuery is quicker than spans, and shows the presearcher the same terms.
        PhraseQuery.Builder words = new PhraseQuery.Builder();
        parts.forEach(part -> words.add(term(part)));
        return words.build();
    }

    private MultiTermQuery pattern(JsonNode form) {
        if (form.get(0).asText().equals("prefix")) {
            String stem = form.get(1).asText();
            // Stems are letters, digits and `.`, `'`, `_`.
            return regexps ? new RegexpQuery(new Term(FIELD, stem.replace(".", "\\.") + ".*")) : new PrefixQuery(term(form));
        }
        return new WildcardQuery(term(form));
    }

    /** Spans: the only form that has wildcards in phrases and anything within a distance. */
    private SpanQuery span(JsonNode form) {
        return switch (form.get(0).asText()) {
            case "word" -> new SpanTermQuery(term(form));
            case "prefix", "wildcard" -> new SpanMultiTermQueryWrapper<>(pattern(form));
            case "phrase" -> new SpanNearQuery(spans(operands(form)), 0, true);
            case "or" -> new SpanOrQuery(spans(operands(form)));
            case "near" -> new SpanNearQuery(
                    spans(List.of(form.get(3), form.get(4))), form.get(1).asInt(), form.get(2).asBoolean());
            default -> throw new IllegalArgumentException(form.toString());
        };
    }

    private SpanQuery[] spans(List<JsonNode> forms) {
        return forms.stream().map(this::span).toArray(SpanQuery[]::new);
    }

    private static List<JsonNode> operands(JsonNode form) {
        List<JsonNode> found = new ArrayList<>();
        form.forEach(found::add);
        return found.subList(1, found.size());
    }

    private static Term term(JsonNode form) {
        return new Term(FIELD, form.get(1).asText());
    }
}
