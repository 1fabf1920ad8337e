"""From matches to their receivers: alert, suppression, outbox, delivery. Knows no Spark and no rules."""
