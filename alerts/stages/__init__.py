"""The way of alerts from their decision to their receivers, stage by stage, in a fixed order.

    stage           the one shape of all of them, and how alerts pass through several
    order           alerts of a batch in their documented order
    already_raised  an alert that an earlier batch raised is not raised again
    suppress        a rule's `suppress`: which alerts are withheld, how many the next one speaks for
    decided         these three over one batch, and what they keep between batches, in a process too
    route           which alerts a receiver gets
    to_receiver     which receivers get an alert, of values of `outgoing`

    candidate       the one shape of the stages between a delivery and its notification
    mute            what a silence or a mute time holds back
    inhibit         what a worse alert holds back, in event time
    group           what waits to go out together
    throttle        what is over a receiver's rate, or behind another of its key
    notifying       these four in order, of one receiver

`DECIDED` is what the outbox, `cep eval` and `cep test` do with the alerts of a batch. Its stages know event
time only, and what they keep is written with the batch, in one transaction. The stages to a receiver come
after it: they decide who gets an alert, and when, by the wall clock, and change nothing of what was decided.
Each stage is a module of its own.
"""
