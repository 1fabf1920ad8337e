"""How generated tests run: without a time limit for an example, which a busy machine would break."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
