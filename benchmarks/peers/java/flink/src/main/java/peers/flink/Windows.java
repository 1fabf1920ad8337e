package peers.flink;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Windows over payments: the tables and the query of a piece of work. */
record Windows(String alerts, String query) {
    private static final int KINDS = 10;
    private static final String FILES = """
            WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'json',
                  'json.timestamp-format.standard' = 'ISO-8601')""";

    // Payments come less than thirty seconds out of order, so that none is late: what is dropped is at or
    // before the watermark.
    static final String PAYMENTS = """
            CREATE TABLE p (eid STRING, ts TIMESTAMP_LTZ(3), card STRING, merchant STRING, kind STRING,
                            amount DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '30' SECOND)
            """ + FILES;

    // Frames are closed at both ends: of whole milliseconds, those less than five minutes before.
    private static final String SLIDING = """
            SELECT card, ts, n, s FROM (
              SELECT card, ts, amount, COUNT(*) OVER w AS n, SUM(amount) OVER w AS s FROM p
              WINDOW w AS (PARTITION BY card ORDER BY ts
                           RANGE BETWEEN INTERVAL '04:59.999' MINUTE TO SECOND PRECEDING AND CURRENT ROW))
            WHERE n > 5 AND amount > 100""";

    static Windows of(String work) {
        if (work.equals("sliding")) {
            String columns = "CREATE TABLE alerts (key STRING, `time` TIMESTAMP_LTZ(3), n BIGINT, s DOUBLE) ";
            return new Windows(columns.replace("key", "`key`") + FILES, SLIDING);
        }
        String columns = ofKinds("n%1$d BIGINT, s%1$d DOUBLE, a%1$d DOUBLE, m%1$d DOUBLE", ", ");
        String aggregates = ofKinds(
                "COUNT(*) FILTER (WHERE kind = 'k%1$d') AS n%1$d, SUM(amount) FILTER (WHERE kind = 'k%1$d') AS s%1$d, "
                        + "AVG(amount) FILTER (WHERE kind = 'k%1$d') AS a%1$d, "
                        + "MAX(amount) FILTER (WHERE kind = 'k%1$d') AS m%1$d",
                ", ");
        // One aggregation for all filters, as a user would write it: a row is told where one of them has enough.
        String query = "SELECT merchant, CAST(window_end AS TIMESTAMP_LTZ(3)), "
                + ofKinds("n%1$d, s%1$d, a%1$d, m%1$d", ", ")
                + " FROM (SELECT merchant, window_end, " + aggregates
                + " FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
                + " GROUP BY merchant, window_start, window_end) WHERE " + ofKinds("n%1$d > 5", " OR ");
        return new Windows("CREATE TABLE alerts (`key` STRING, `time` TIMESTAMP_LTZ(3), " + columns + ") " + FILES, query);
    }

    private static String ofKinds(String text, String between) {
        return IntStream.range(0, KINDS).mapToObj(text::formatted).collect(Collectors.joining(between));
    }
}
