"""The published report of runs: a static site, and what machines read beside it.

docs/formats/report.md describes the folder. `conform report RUN... --out DIR` calls `write` and
ends with 3 if the report is withheld.
"""

from conform.reports.pages import Written, write

__all__ = ["Written", "write"]
