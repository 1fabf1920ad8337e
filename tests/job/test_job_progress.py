"""The line that a running job shows speaks of lengths of time as a person would."""

from __future__ import annotations

import pytest

from cep.job.progress import span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (119.9, "119.9 s"),
        (120, "2 min"),
        (7_199, "120 min"),
        (7_200, "2 h"),
        (172_799, "48 h"),
        (172_800, "2 days"),
        (27_612_226.2, "320 days"),
    ],
)
def test_a_lag_is_told_in_the_unit_that_suits_it(seconds: float, text: str) -> None:
    assert span(seconds) == text
