"""What of an exploration is pinned."""

from __future__ import annotations

from charter.explore.reference.explore import Exploration


def summary(found: Exploration) -> str:
    """The counts of an exploration as lines."""
    lines = [
        f"distinct   {found.distinct}",
        f"generated  {found.generated}",
        f"classes    {found.classes}",
        f"outside    {found.outside}",
        f"levels     {' '.join(map(str, found.levels))}",
        *findings(found, 40),
    ]
    return "\n".join(lines) + "\n"


def findings(found: Exploration, width: int) -> list[str]:
    """A line for each finding: kind, name in so many columns, how often, length of its trace."""
    lines: list[str] = []
    for finding in (*found.properties, *found.branches, *found.failures):
        length = "-" if finding.trace is None else str(len(finding.trace))
        lines.append(f"{finding.kind:9} {finding.name:{width}} {finding.seen:7} {length:>3}")
    return lines
