"""Datasets of runs, suites and searches as Parquet.

pyarrow imports pandas, if Spark's extra has installed it, when it makes the first array. That takes
a second, and nothing here converts to pandas: pyarrow looks for it now and does not find it.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow


class _NoPandas(MetaPathFinder):
    """While this is the first finder, pandas cannot be imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)
        return None


_finder = _NoPandas()
sys.meta_path.insert(0, _finder)
pyarrow.array([0])
sys.meta_path.remove(_finder)
