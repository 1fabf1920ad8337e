package peers.esper;

/** An event as an Esper user would write it: a class with getters, which compiled EPL calls directly. */
public final class Event {
    private final String eid;
    private final long ts;
    private final String k;
    private final double price;

    public Event(String eid, long ts, String k, double price) {
        this.eid = eid;
        this.ts = ts;
        this.k = k;
        this.price = price;
    }

    public String getEid() {
        return eid;
    }

    /** Milliseconds since 1970. */
    public long getTs() {
        return ts;
    }

    public String getK() {
        return k;
    }

    public double getPrice() {
        return price;
    }
}
