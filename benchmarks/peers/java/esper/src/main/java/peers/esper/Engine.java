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

/** Esper with the strict pattern deployed once for every rule; alerts go to the writer that is set. */
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

    final EPEventService events;
    private final EPRuntime runtime;
    Alerts alerts;

    Engine(JsonNode rules) throws Exception {
        Configuration configuration = new Configuration();
        configuration.getCommon().addEventType(Event.class);
        // One thread sends events, so nothing need be locked and no order between threads be kept; no rule
        // waits for the clock.
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        configuration.getRuntime().getThreading().setListenerDispatchPreserveOrder(false);
        configuration.getRuntime().getThreading().setInsertIntoDispatchPreserveOrder(false);
        configuration.getRuntime().getExecution().setDisableLocking(true);
        StringBuilder module = new StringBuilder();
        for (JsonNode rule : rules) {
            module.append(RULE.formatted(
                    rule.get("name").asText(), rule.get("low").asText(), rule.get("more").asText()));
        }
        EPCompiled compiled = EPCompilerProvider.getCompiler()
                .compile(module.toString(), new CompilerArguments(configuration));
        runtime = EPRuntimeProvider.getRuntime("strict", configuration);
        runtime.initialize();
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            String rule = statement.getName();
            statement.addListener((came, gone, source, in) -> {
                for (EventBean match : came) {
                    alerts.write(rule, (Map<?, ?>) match.getUnderlying());
                }
            });
        }
        events = runtime.getEventService();
    }

    void send(Event event) {
        events.sendEventBean(event, "Event");
    }

    void close() {
        runtime.destroy();
    }
}
