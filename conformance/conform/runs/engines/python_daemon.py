"""Starts Spark's Python workers on this machine, from the installed pyspark.

Spark puts the archive of pyspark that it brings before the installed package. Python keeps no
bytecode of modules in archives, so each start of Spark would compile them again, for a second.
"""

import sys
from importlib.machinery import PathFinder

_ARCHIVES = ("pyspark.zip", "-src.zip")


def _use_installed() -> None:
    """Let imports find what is installed, if it is."""
    places = [place for place in sys.path if not place.endswith(_ARCHIVES)]
    if all(PathFinder.find_spec(name, places) for name in ("pyspark", "py4j")):
        sys.path[:] = places


if __name__ == "__main__":
    _use_installed()
    from pyspark.daemon import manager

    manager()
