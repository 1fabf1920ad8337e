package peers.measured;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/** Seconds by the clock and of processor time, of all threads of the process: compiler and collector too. */
public final class Stopwatch {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final long begin = System.nanoTime();
    private final long processor = SYSTEM.getProcessCpuTime();

    /** The seconds since it was made, and what else there is to say. */
    public Map<String, Object> answer(Map<String, ?> more) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("seconds", (System.nanoTime() - begin) / 1e9);
        found.put("processor", (SYSTEM.getProcessCpuTime() - processor) / 1e9);
        found.putAll(more);
        return found;
    }

    /** The process's processor seconds so far. */
    public static double processor() {
        return SYSTEM.getProcessCpuTime() / 1e9;
    }
}
