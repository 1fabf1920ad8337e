"""The kernel of patterns: rules' tables interpreted over a shard's events of one batch.

Written in the subset of Python that numba compiles (`cep.operators.patterns.runtime.compiled`); otherwise it
runs as it is. Arrays that travel together are named tuples (`layout`); functions with few arrays take those
alone.

A run is a priority automaton (Cox, Regular Expression Matching: the Virtual Machine Approach, 2009). It is in
several states at once: each is an alternative, and they stand in order of preference. An alternative waits
for the transitions of its state together (`tables`): options (a step), timers (a timed step), an end that a
last `=> not` may still prevent, the end. The first event that satisfies any of them decides, and the rest are
given up; where it satisfies several, each makes an alternative, in their order of preference. A run is raised
when its most preferred alternative is complete.

Modules, each after those that it calls:

layout           rows of the pools, the cursor, the named tuples
tables           a rule's states, transitions, guards, counters, traits
bytecode         conditions and updates over registers
trace            what happened to runs, if a trace is asked for
alternatives     rows of alternatives: free, taken, linked in order of preference
timers           when time decides: `within`, gaps, timed steps
chains           the events that alternatives took
arrive           an alternative enters a state: epsilon closure
guards           `not`, `until`, `absent` before the first event
advance          transitions fire, on an event or at a time
merge            equivalent alternatives become one; a run keeps a bounded number
wait_index       parked runs, by what they wait for
runs             runs and the lists that hold them
decide           complete runs: raised, skipped, timed out
capacity         room for the next event
loop             the events of one rule
atom_events      the events of which each condition is true
selected_events  the events of a block that a rule is shown
load             stored runs come back to the pools
store            runs that live on are written out, and what matches took
batch            rules over the blocks of a batch
strict           strict sequences: the runs of many rules at once; strict_layout, strict_conditions
"""
