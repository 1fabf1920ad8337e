"""Windows: docs/language.md, "Windows", read aloud over the list of a key's events.

Every window is computed from its events anew; nothing is kept, added or taken away.

    aligned      the windows that the calendar makes
    views        the windows of a key: what each holds, when it is evaluated, and the windows before it
    aggregates   the aggregates over the events of a window
    judged       a rule through its revisions: which windows are alerts
"""
