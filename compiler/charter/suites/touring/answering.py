"""Lists the operations of a component that only answer, by its text."""

from __future__ import annotations

from charter.core import nodes as n


def list_answering(component: n.Component) -> tuple[str, ...]:
    """The operations of which no branch assigns a variable; ghost state does not count."""
    kept = {variable.name for variable in component.state if variable.kind != "ghost"}
    return tuple(
        operation.name
        for operation in component.operations
        if not any(
            isinstance(line, n.Assign) and line.variable in kept
            for branch in operation.branches
            for line in branch.body
        )
    )
