"""Imports pyarrow without pandas.

pyarrow imports pandas, if Spark's extra has installed it, when it makes the first array. That takes
a second, and nothing here converts to pandas: pyarrow looks for it now and does not find it.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa

__all__ = ["pa"]


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
pa.array([0])
sys.meta_path.remove(_finder)

for _name in ("dataset", "parquet"):  # dataset makes arrays when it is imported
    import_module(f"pyarrow.{_name}")
