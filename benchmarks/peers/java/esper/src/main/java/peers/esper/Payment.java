package peers.esper;

/** A payment as an Esper user would write it: a class with getters, which compiled EPL calls directly. */
public final class Payment {
    private final String eid;
    private final long ts;
    private final String card;
    private final String merchant;
    private final String kind;
    private final double amount;

    public Payment(String eid, long ts, String card, String merchant, String kind, double amount) {
        this.eid = eid;
        this.ts = ts;
        this.card = card;
        this.merchant = merchant;
        this.kind = kind;
        this.amount = amount;
    }

    public String getEid() {
        return eid;
    }

    /** Milliseconds since 1970. */
    public long getTs() {
        return ts;
    }

    public String getCard() {
        return card;
    }

    public String getMerchant() {
        return merchant;
    }

    public String getKind() {
        return kind;
    }

    public double getAmount() {
        return amount;
    }
}
