"""pyarrow does not import pandas, which takes longer than a small run."""

import subprocess
import sys

ARRAYS = """
import sys
import conform.storage
import pyarrow
import pyarrow.dataset
pyarrow.table({"a": [1, 2]}).to_pylist()
print("pandas" in sys.modules, len(sys.meta_path))
"""


FINDERS = "import sys; print(False, len(sys.meta_path))"


def said(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_arrays_are_made_without_pandas() -> None:
    assert said(ARRAYS) == said(FINDERS)
