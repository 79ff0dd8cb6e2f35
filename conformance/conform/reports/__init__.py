"""Publishes the report of runs: a static site with machine-readable exports.

docs/formats/report.md describes the folder. `conform report RUN... --out DIR` calls `write`; its
exit code is 3 if the report is withheld.
"""

from conform.reports.build_site import Written, write

__all__ = ["Written", "write"]
