"""A pack with secret fields, and a value that stands in every place that an event can bring it to."""

from __future__ import annotations

VALUE = "zq7-Ünsal"
MASK_KEY = "mask-0123456789-0123456789"
PACK = """pack p version "1"
stream pay {
  pid: string
  ts: timestamp
  card: string? secret
  shop: string
  amount: double
  id pid
  time ts
  lateness 5 seconds
}
stream login { lid: string  ts: timestamp  holder: string secret  id lid  time ts }
rule large {
  on pay[amount > 5]
  by card
  emit card, low = lower(card), known = card like "zq7%", amount
  summary "{amount} on {card}, {low}"
  suppress 1 minute by card
}
rule followed {
  by pay.card = login.holder
  match a: pay => b: login[holder == a.card]
  within 1 hour
  emit card, who = b.holder, length = length(b.holder)
}
rule busy {
  by shop
  over pay tumbling 1 minute
  having count() >= 2
  emit most = max(card), first = first(card), different = distinct(card), pays = count()
}
"""
DERIVED = """rule made {
  on pay[amount > 5]
  emit copied = card, shop, pid
  into copies
}
rule again {
  by copied
  match a: copies => b: copies
  within 1 hour
  emit copied, n = b.shop
  summary "{copied}"
}
"""
"""Rules that make a stream with a secret field, and read it."""
