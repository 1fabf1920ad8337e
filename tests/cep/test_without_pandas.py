"""A process that hides pandas: Spark can ask for its version, and Arrow goes on without it."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

HIDDEN = """
from cep.without_pandas import hide_pandas, pandas_by_name
hide_pandas()
with pandas_by_name():
    import pyarrow as pa
    import pandas
    print(pandas.__version__, hasattr(pandas, "DataFrame"), pa.array([1, None]).null_count)
del pandas
try:
    import pandas
except ModuleNotFoundError as error:
    print(error)
print(pa.array([1.5]).to_pylist(), pa.scalar(2))
"""
SHOWN = """
from cep.without_pandas import pandas_by_name
with pandas_by_name():
    import pandas
print(hasattr(pandas, "DataFrame"))
"""


def printed(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_hidden_pandas_has_its_version_and_no_more() -> None:
    version = metadata.version("pandas")
    assert printed(HIDDEN) == [f"{version} False 1", "pandas is not used here", "[1.5] 2"]


def test_a_pandas_that_is_not_hidden_stays() -> None:
    assert printed(SHOWN) == ["True"]
