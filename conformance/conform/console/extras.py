"""Names the extra of the distribution that has each optional package."""

from __future__ import annotations

from importlib.util import find_spec

from conform.console.errors import MissingExtra

DISTRIBUTION = "charter-conform"
EXTRAS = {"z3": "smt", "pyspark": "spark", "pandas": "spark", "pygls": "lsp"}


def is_installed(package: str) -> bool:
    """Whether a package can be imported, found without importing it."""
    return find_spec(package) is not None


def remedy(package: str) -> str:
    """The command that installs an optional package."""
    return f"pip install '{DISTRIBUTION}[{EXTRAS[package]}]'"


def need(package: str, what: str, instead: str = "") -> None:
    """Raises `MissingExtra` if an optional package that `what` needs is missing; `instead` is a
    second remedy."""
    if not is_installed(package):
        other = f", or {instead}" if instead else ""
        raise MissingExtra(
            f"{what} needs {package}, which is not installed: {remedy(package)}{other}"
        )
