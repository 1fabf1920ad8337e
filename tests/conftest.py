"""The profile of generated tests: no deadline, since machines are slow at times, and examples by effort."""

from __future__ import annotations

from effort import examples
from hypothesis import settings

settings.register_profile("patient", settings(), deadline=None, max_examples=examples(100))
settings.load_profile("patient")
