package peers.lucene;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.monitor.CustomQueryHandler;
import org.apache.lucene.monitor.MultipassTermFilteredPresearcher;
import org.apache.lucene.monitor.Presearcher;
import org.apache.lucene.monitor.RegexpQueryHandler;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.monitor.TermWeightor;

/**
 * A choice of settings, of which the quickest is sought by trial: `passes` of the presearcher (0: none, 1:
 * TermFilteredPresearcher, more: MultipassTermFilteredPresearcher); terms weighed by their frequency in a
 * sample or, Lucene's default, by their length; prefixes as regular expressions or as they are.
 */
record Way(int passes, boolean frequencies, boolean regexps) {
    static Way of(JsonNode arguments) {
        return new Way(
                arguments.get("passes").asInt(),
                arguments.get("frequencies").asBoolean(),
                arguments.get("regexps").asBoolean());
    }

    Presearcher presearcher(Map<String, Integer> counts) {
        if (passes == 0) {
            return Presearcher.NO_FILTERING;
        }
        // 1 / count; a word that the sample has not is as rare as one that it has once.
        TermWeightor weightor = frequencies ? TermWeightor.termFreqWeightor(counts, 1, 0) : TermWeightor.DEFAULT;
        List<CustomQueryHandler> handlers = regexps ? List.of(new RegexpQueryHandler()) : List.of();
        return passes == 1
                ? new TermFilteredPresearcher(weightor, handlers, Set.of())
                : new MultipassTermFilteredPresearcher(passes, 0, weightor, handlers, Set.of());
    }
}
