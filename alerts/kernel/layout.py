"""Numbers that describe parts and rows, and sizes, as the kernel and those who call it know them."""

PART = 6
"""Numbers of a part: where its bytes lie, and end; where in memory the offsets of its texts are, 0 if it is
the same in all rows; then its length; where the text of each row is told, 0 if there is one for each; and
whether its offsets are long."""
BYTES, LIMIT, OFFSETS, LENGTH, TEXTS, LONG = range(PART)
FORM = 3
"""Numbers of rows' form: its first part, the end of its parts; where in memory it is told where each of its
rows would end, if they lay behind one another."""
BEGIN, END, ENDS = range(FORM)
OFFSET, LONG_OFFSET = 4, 8
"""Bytes of an offset, and of one of a column that may have more than 2 GiB."""
NUMBER = LONG_OFFSET
"""Bytes of the number of a text."""
WIDTH = 32
"""Bytes that are copied together: one register of most processors."""
SLACK = WIDTH
"""Bytes behind what is joined that are written, too."""
LANES = 8
"""Texts that are digested side by side, a word of each in one register."""
SCHEDULED, STATE = 16, 8
"""Words of a block that is digested, and of a digest."""
WORD = 4
BLOCK, DIGEST = SCHEDULED * WORD, STATE * WORD
"""Bytes."""
ROOM = LANES * (BLOCK + DIGEST)
"""Bytes that it takes to digest texts."""
ORDER = 9
"""Bytes of each number of an order of decision."""
MOMENT, DOUBLE = 30, 24
"""Bytes of the longest text of a time, and of a double."""
