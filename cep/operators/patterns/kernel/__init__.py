"""The kernel of patterns: rules' tables interpreted over a shard's events of one batch.

Written in the subset of Python that numba compiles (`cep.operators.patterns.runtime.compiled`); otherwise it
runs as it is. Arrays that travel together are named tuples (`layout`); functions with few arrays take those
alone.

A run is a priority automaton (Cox, Regular Expression Matching: the Virtual Machine Approach, 2009) whose
alternatives, here called ways, wait for several things together. What a way waits for after an event or a
time is a row of leaves of its state (`tables`): options (a step), timers (a timed step), an end that a last
`=> not` may still prevent, the end. The first event that fits any of them decides, and the rest are given up;
of several that it fits each becomes a way, in their order of preference. A run is raised when its first way
is complete.

Modules, each after those that it calls:

layout        rows of the pools, the cursor, the named tuples
tables        a rule's states, leaves, guards, counters, traits
bytecode      conditions and updates over registers
trace         what happened to a run, where somebody asks
alternatives  ways: made, given up, in order of preference
timers        when time decides: `within`, gaps, timed steps
chains        the events that ways took
arrive        the ways that a way is which has come to a state
guards        `not`, `until`, `absent` before the first event
advance       what an event, or time alone, does to ways
merge         equivalent ways, and more of them than a run may keep
wait_index    runs that are only shown events that can matter
runs          runs and the lists that hold them
decide        complete runs: raised, skipped, timed out
capacity      room for the next event
loop          the events of one rule
hits          what predicate bits say, by condition
wake          the events that a rule is to be shown
recall        kept runs come back
store         runs that live on are kept, matches are told
batch         rules over the blocks of a batch
"""
