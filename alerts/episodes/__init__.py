"""Episodes: the alerts of one rule and key that follow one another, which people work on as a whole.

    episode     an episode, its states and verdicts, and what people do with one
    assigning   which alerts are of one episode
    assigner    the thread that assigns a running job's alerts, after their batch
    labels      the verdicts as labels of alerts, for those who train and measure

All of it happens after the outbox: it costs a batch nothing and changes no alert. `alerts.outbox.episodes`
has the table.
"""
