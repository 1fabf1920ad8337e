"""The profile of generated tests: no deadline, since machines are slow at times, and examples by effort.

It lies here, since pytest puts the folder of a conftest on the path: that of `tests` has a folder `cep`.
"""

from __future__ import annotations

from effort import examples  # tests/strategies
from hypothesis import settings

pytest_plugins = ["certificates", "stores"]  # tests/strategies

settings.register_profile("patient", settings(), deadline=None, max_examples=examples(100))
settings.load_profile("patient")
