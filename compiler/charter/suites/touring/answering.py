"""Lists the operations of a component that only answer, by its text."""

from __future__ import annotations

from charter.core import nodes as n


def list_answering(component: n.Component) -> tuple[str, ...]:
    """The operations of which no branch assigns a variable, not even ghost state: assumptions read
    that."""
    return tuple(
        operation.name
        for operation in component.operations
        if not any(
            isinstance(line, n.Assign) for branch in operation.branches for line in branch.body
        )
    )
