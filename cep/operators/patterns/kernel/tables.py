"""A rule's tables, which `compile.tables` writes: states, transitions, guards, counters, traits."""

from __future__ import annotations

# The head of a rule's tables; places of parts are offsets into the same array.
(
    H_STATES, H_INITIAL, H_WITHIN, H_SKIP, H_SKIP_STEP, H_STEPS, H_MASKS, H_COUNTERS, H_NULLS,
    H_VALUES, H_ALT, H_LIMIT, H_FORK, H_PLAIN, H_TIMEOUT, H_TAKEN, H_HAVING, H_HAVING_LENGTH,
    H_PARK, H_PLACES, H_QUESTION, H_QUESTIONS, H_NEXT_DECIDES, H_MERGE, H_COPIES, H_MOST_ALTS, H_ALL_ALTS,
    H_BACKBONES, HEAD,
) = range(29)  # fmt: skip
SKIP_PAST_LAST, SKIP_TO_NEXT, SKIP_TO_FIRST, SKIP_TO_LAST, SKIP_NONE = range(5)

# A state: its transitions in order of preference, and the tokens that say how they stand to one another.
# Plain: all that waits in it waits together, and what happens first decides. Then the most rows that one
# event can make of an alternative, and its traits.
S_TRANSITION, S_TRANSITIONS, S_TOKEN, S_TOKENS, S_FORKS, S_PLAIN, S_ROWS, S_TRAIT, S_TRAITS, STATE = range(10)
# A token: a transition, or `each` with its children, or a child; the transitions before it; the token after
# its last.
K_KIND, K_TRANSITION, K_BEFORE, K_END, TOKEN = range(5)
A_TRANSITION, AN_EACH, A_CHILD = range(3)

# A transition. Sub-lists are (place, number of rows).
(
    F_KIND, F_PLACE, F_PROGRAM, F_LENGTH, F_SIGN, F_TARGET, F_EDGE, F_STEP, F_GAP,
    F_OVER, F_OVERS, F_UNTIL, F_UNTILS, F_WATCH, F_WATCHES, F_NEED, F_NEEDS, F_ACTION, F_ACTIONS,
    F_UPDATE, F_UPDATES, F_LOOK, F_LOOKS, F_WANTS, F_ASK, F_ASKS, TRANSITION,
) = range(27)  # fmt: skip
OPTION, TIMER, ENDING, THE_END = range(4)
RELAXED, STRICT, ANY = range(3)
# When a timed step is over: so long after the state was entered (-1) or after a counter's time; -1: `within`.
O_SINCE, O_DURATION, OVER = range(3)
# A guard: until when it is watched (as above, or NEVER), and from which number of events taken on.
W_PLACE, W_PROGRAM, W_LENGTH, W_NEXT_ONLY, W_SINCE, W_DURATION, W_AFTER, W_GUARD, WATCH = range(9)
NEVER = -2
# Of an `until` instead of that number: the loop has taken nothing, and such an event does not begin it.
BEGINS = -3
# Conditions on counters and times for a transition to be open when an alternative enters its state.
N_KIND, N_COUNTER, N_NUMBER, NEED = range(4)
AT_LEAST, BELOW, NOTHING_TAKEN, SOMETHING_TAKEN, TIME_REACHED, TIME_AHEAD = range(6)
# Changes of counters when a transition fires.
ZERO, ONE_MORE, AS_MANY, NOW = range(4)
ACTION = 2
# A look back: the column with the time of the last such event, and how long there must have been none.
B_COLUMN, B_DURATION, LOOK = range(3)

# A trait: what the future of an alternative in a state can depend on, besides the transitions it waits for
# (cep.operators.patterns.compile.liveness): a number in its row, as it is or up to a bound; whether anything
# was taken since a counter was set; whether it came by the newest event; whether a register is null; its
# value if it is not; the events that a step took.
D_KIND, D_PLACE, D_MORE, TRAIT = range(4)
EXACTLY, UP_TO, TAKEN_SINCE, JUST_NOW, NULLNESS, IF_KNOWN, TAKEN_BY = range(7)
Q_PLACE, Q_COLUMN, QUESTION = range(3)
Q_NUMBER, Q_REGISTER, ASK = range(3)
