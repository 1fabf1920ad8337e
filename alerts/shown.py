"""Text from outside on a terminal: what would move its cursor, colour it or turn the direction of writing.

ECMA-48 begins its commands with ESC or with the control characters above U+0080. Bodies of alerts stay exact;
lines for people are shown by this.
"""

from __future__ import annotations

_LINES = (0x2028, 0x2029)
_DIRECTION = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_NO_WIDTH = (0x200B, 0x2060, 0xFEFF, *range(0xFFF9, 0xFFFC))
_SIGNS = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))},
    **{code: f"\\u{code:04x}" for code in (*_LINES, *_DIRECTION, *_NO_WIDTH)},
    **{code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)},
}


def shown(text: str) -> str:
    """One line of text with such characters written as `\\x1b`, `\\u202e`."""
    return text if text.isascii() and text.isprintable() else text.translate(_SIGNS)


def shown_lines(text: str) -> str:
    """The same of a text whose line ends stay."""
    return "\n".join(map(shown, text.split("\n")))
