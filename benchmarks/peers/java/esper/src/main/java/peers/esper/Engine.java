package peers.esper;

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventBean;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/** Esper with rules over events of one class deployed; alerts go to the writer that is set. */
final class Engine {
    // Strict contiguity within a key and a match after the last row of the one before are what
    // match_recognize does without further clauses. The time that a match may take is a condition on its
    // last event: `interval` would delay output, and a data window would keep events that no run needs.
    // `select *` hands on the measures as they are; naming them would copy each row once more.
    private static final String RULE = """
            @name('%s') select * from Event match_recognize (
              partition by k
              measures A.k as k, C.ts as time, A.eid as a, B.eid as b, C.eid as c, A.price as low, C.price as high
              pattern (A B C)
              define A as A.price < %s, B as B.price > A.price + %s,
                     C as C.price > B.price and C.ts - A.ts < 600000
            );
            """;

    // One data window for all cards, grouped behind it: a context per card takes nine times as long. The
    // columns beside the aggregates make it a row for each payment, so that none is told as payments leave.
    // `lastever` is that payment's own amount, and keeps less than `last`.
    private static final String SLIDING = """
            @name('sliding') select card as key, ts as time, count(*) as n, sum(amount) as s
            from Payment#ext_timed(ts, 5 min) group by card having count(*) > 5 and lastever(amount) > 100;
            """;

    // Minutes since 1970; a row for each merchant when the first payment after a minute comes.
    private static final String FILTERED = """
            @name('kind%1$d') select merchant as key, max(ts) - max(ts) %% 60000L + 60000L as time, count(*) as n,
              sum(amount) as s, avg(amount) as a, max(amount) as m
            from Payment(kind = 'k%1$d')#ext_timed_batch(ts, 1 min, 0L) group by merchant having count(*) > 5;
            """;

    private final EPEventService events;
    private final EPRuntime runtime;
    private final String type;
    Alerts alerts;

    /** Rules of the strict pattern. */
    static Engine ofPatterns(JsonNode rules) throws Exception {
        StringBuilder module = new StringBuilder();
        for (JsonNode rule : rules) {
            module.append(RULE.formatted(
                    rule.get("name").asText(), rule.get("low").asText(), rule.get("more").asText()));
        }
        return new Engine(module.toString(), Event.class, Alerts::write);
    }

    /** Windows over payments: sliding ones, or tumbling ones with ten filters. */
    static Engine ofWindows(String work) throws Exception {
        if (work.equals("sliding")) {
            return new Engine(SLIDING, Payment.class, Alerts::writeWindow);
        }
        StringBuilder module = new StringBuilder();
        for (int kind = 0; kind < 10; kind++) {
            module.append(FILTERED.formatted(kind));
        }
        return new Engine(module.toString(), Payment.class, Alerts::writeWindow);
    }

    private Engine(String module, Class<?> event, Writing writing) throws Exception {
        type = event.getSimpleName();
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType(event);
        // One thread sends events, so nothing need be locked and no order between threads be kept; no rule
        // waits for the clock.
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getRuntime().getThreading().setListenerDispatchPreserveOrder(false);
        configuration.getRuntime().getThreading().setInsertIntoDispatchPreserveOrder(false);
        configuration.getRuntime().getExecution().setDisableLocking(true);
        EPCompiled compiled =
                EPCompilerProvider.getCompiler().compile(module, new CompilerArguments(configuration));
        runtime = EPRuntimeProvider.getRuntime("peer", configuration);
        runtime.initialize();
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            String rule = statement.getName();
            statement.addListener((came, gone, source, in) -> {
                for (EventBean found : came) {
                    writing.write(alerts, rule, (Map<?, ?>) found.getUnderlying());
                }
            });
        }
        events = runtime.getEventService();
    }

    void send(Object event) {
        events.sendEventBean(event, type);
    }

    void close() {
        runtime.destroy();
    }

    /** How what a rule found is written. */
    private interface Writing {
        void write(Alerts alerts, String rule, Map<?, ?> found);
    }
}
