"""What is not imported: pandas, which takes longer than a small run, and for help any library."""

import subprocess
import sys

ARRAYS = """
import sys
import conform.storage.bucket_store
import pyarrow
pyarrow.table({"a": [1, 2]}).to_pylist()
print("pandas" in sys.modules, len(sys.meta_path))
"""


HELP = """
import sys
sys.argv[1:] = ["--help"]
from conform.cli.main import main
main()
heavy = {"pyarrow", "numpy", "rich", "lark", "jinja2", "charter.api"}
sys.stdout.write(f"heavy: {heavy & sys.modules.keys()}")
"""
FINDERS = "import sys; print(False, len(sys.meta_path))"


def run_program(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_arrays_are_made_without_pandas() -> None:
    assert run_program(ARRAYS) == run_program(FINDERS)


def test_help_is_shown_without_heavy_libraries() -> None:
    assert run_program(HELP).endswith("heavy: set()")
