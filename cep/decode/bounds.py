"""Bounds on the memory that a file may take, whatever it holds: for one record, and for what is no event."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cep.decode.letters import DeadLetter, Decoded

LONGEST = 32 << 20
"""Bytes of a record; a longer one is not read."""

SHOWN = 64 << 10
"""Bytes that are kept of a record that is too long, or that its file does not hold to its end."""

LETTERS = 100_000
"""Dead letters of one part of a file that are kept one by one."""

LETTER_BYTES = 64 << 20
"""Bytes of records that those may hold together."""


def too_long(length: int) -> str:
    """Why a record of so many bytes is no event."""
    return f"it has {length:,} bytes: more than {LONGEST:,} are not read, the first {SHOWN:,} are kept"


@dataclass(slots=True)
class LetterBudget:
    """The dead letters of one part of a file that were kept so far, and the bytes of their records."""

    letters: int = 0
    octets: int = 0

    def within(self, block: Decoded) -> Decoded:
        """The block with those of its dead letters that may still be kept, and one for all others."""
        for number, letter in enumerate(block.dead):
            if self.letters >= LETTERS or self.octets + len(letter.data) > LETTER_BYTES:
                rest = _of_all(block.dead[number:])
                return replace(block, dead=(*block.dead[:number], rest))
            self.letters += 1
            self.octets += len(letter.data)
        return block


def _of_all(letters: tuple[DeadLetter, ...]) -> DeadLetter:
    first, last = letters[0], letters[-1]
    most = f"only {LETTERS:,} of a part of a file, and {LETTER_BYTES:,} bytes, are kept one by one"
    if len(letters) == 1:
        return replace(first, reason=f"{first.reason} (its bytes are not kept: {most})", data=b"")
    which = f"{len(letters):,} records from here to {last.offset:,}"
    reason = f"{which} are no events ({most}); the first: {first.reason}"
    return replace(first, reason=reason, data=b"")
