"""Tables of the demos and trials, as text."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned columns; the first row is the head, numbers stand to the right."""
    cells = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    right = [
        all(isinstance(row[i], int | float) or row[i] == "-" for row in rows[1:]) for i in range(len(widths))
    ]
    lines = [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
