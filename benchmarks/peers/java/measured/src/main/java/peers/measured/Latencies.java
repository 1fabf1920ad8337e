package peers.measured;

import java.util.Arrays;
import java.util.Map;

/** Nanoseconds that single pieces of work took. */
public final class Latencies {
    private long[] taken = new long[1024];
    private int count;

    /** Takes one down. */
    public void add(long nanoseconds) {
        if (count == taken.length) {
            taken = Arrays.copyOf(taken, 2 * count);
        }
        taken[count++] = nanoseconds;
    }

    /** All of them as microseconds: percentiles are reckoned in one place for both sides. */
    public Map<String, Object> answer() {
        return Map.of("microseconds", Arrays.stream(taken, 0, count).mapToDouble(one -> one / 1e3).toArray());
    }
}
