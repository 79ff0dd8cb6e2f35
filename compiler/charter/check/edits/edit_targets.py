"""Finds and changes the declarations that an edit's address names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from charter.check.declarations.machines import histories_of
from charter.check.names.edit_names import place_text
from charter.check.names.scopes import suggest
from charter.diagnostics import Diagnostics, Span
from charter.syntax import nodes as sx

MachineT = TypeVar("MachineT", sx.ComponentDecl, sx.SystemDecl)
MemberT = TypeVar("MemberT", sx.Operation, sx.StepDecl)
OtherT = TypeVar("OtherT", bound=sx.Item)
OF_A_SYSTEM: Final = (
    "a system has steps: `replace in system step ...`, `drop step system.step`, and of what is in"
    " a step `replace conjunct label of system.step ...`, `replace update x of system.step ...`"
)


class Targets:
    """The files that edits are applied to. An address that names nothing is reported as
    `edit/unknown-target`, and nothing changes."""

    def __init__(self, files: sx.Protocol, diagnostics: Diagnostics) -> None:
        self.files = files
        self.diagnostics = diagnostics
        self.declarations = [list(file.declarations) for file in files]

    def result(self) -> sx.Protocol:
        """The edited files."""
        pairs = zip(self.files, self.declarations, strict=True)
        return tuple(replace(file, declarations=tuple(found)) for file, found in pairs)

    def all(self) -> Iterable[sx.Declaration]:
        """Every declaration with the edits so far."""
        return (node for group in self.declarations for node in group)

    def change(
        self,
        found: Callable[[sx.Declaration], bool],
        instead: Sequence[sx.Declaration],
    ) -> bool:
        """Replace the first declaration for which `found` is true by `instead`; returns False if
        there is none."""
        for group in self.declarations:
            for position, node in enumerate(group):
                if found(node):
                    group[position : position + 1] = instead
                    return True
        return False

    def unknown(self, text: str, name: str, known: Iterable[str], span: Span) -> None:
        """Report an address that names nothing."""
        hint = suggest(name, known)
        self.diagnostics.error("edit/unknown-target", f"there is no {text}", span, hint=hint)

    def unknown_place(self, text: str, head: sx.Name, known: Iterable[str], span: Span) -> None:
        """The same; the hint considers that `head`, the first name of an address, may be a system
        or a step."""
        systems = (node for node in self.all() if isinstance(node, sx.SystemDecl))
        if any(head.text in (node.name.text, *_steps(node)) for node in systems):
            message = f"there is no {text}"
            self.diagnostics.error("edit/unknown-target", message, span, hint=OF_A_SYSTEM)
        else:
            self.unknown(text, head.text, known, span)

    # --- components and systems ------------------------------------------------------------------

    def is_system(self, name: sx.Name) -> bool:
        return any(isinstance(n, sx.SystemDecl) and n.name.text == name.text for n in self.all())

    def in_component(
        self, name: sx.Name, change: Callable[[sx.ComponentDecl], sx.ComponentDecl]
    ) -> None:
        """Change the component called `name`."""
        self._in_machine(sx.ComponentDecl, ("component", name), change)

    def in_system(self, name: sx.Name, change: Callable[[sx.SystemDecl], sx.SystemDecl]) -> None:
        """Change the system called `name`."""
        self._in_machine(sx.SystemDecl, ("system", name), change)

    def _in_machine(
        self,
        kind: type[MachineT],
        called: tuple[str, sx.Name],
        change: Callable[[MachineT], MachineT],
    ) -> None:
        what, name = called
        known: list[str] = []
        for group in self.declarations:
            for position, node in enumerate(group):
                if isinstance(node, kind):
                    known.append(node.name.text)
                    if node.name.text == name.text:
                        group[position] = change(node)
                        return
        self.unknown_place(f"{what} `{name.text}`", name, known, name.span)

    def histories(self, name: sx.Name) -> dict[str, sx.StateDecl]:
        """The histories of the machine called `name`."""
        for node in self.all():
            if isinstance(node, sx.ComponentDecl | sx.SystemDecl) and node.name.text == name.text:
                return histories_of(node.members)
        return {}

    def is_history(self, at: sx.Address, name: sx.Name) -> None:
        """Report an edit of a history's update: bodies have none."""
        message = f"`{name.text}` is a history, which no update in {place_text(at)} changes"
        hint = f"write `replace history {name.text} of {at.head.text} with ...`"
        self.diagnostics.error("edit/unknown-target", message, name.span, hint=hint)

    # --- operations, steps and branches ----------------------------------------------------------

    def in_operation(
        self,
        head: sx.Name,
        name: sx.Name,
        change: Callable[[sx.Operation], sx.Operation | None],
    ) -> None:
        """Change (None: drop) an operation of the component `head`."""

        def edit_node(node: sx.ComponentDecl) -> sx.ComponentDecl:
            known, members = _change_member(node.members, sx.Operation, name.text, change)
            if name.text not in known:
                self.unknown(f"operation `{name.text}` of {head.text}", name.text, known, name.span)
            return replace(node, members=members)

        self.in_component(head, edit_node)

    def in_step(
        self, head: sx.Name, name: sx.Name, change: Callable[[sx.StepDecl], sx.StepDecl | None]
    ) -> None:
        """Change (None: drop) a step of the system `head`."""

        def edit_node(node: sx.SystemDecl) -> sx.SystemDecl:
            known, members = _change_member(node.members, sx.StepDecl, name.text, change)
            if name.text not in known:
                self.unknown(f"step `{name.text}` of {head.text}", name.text, known, name.span)
            return replace(node, members=members)

        self.in_system(head, edit_node)

    def in_branches(
        self, at: sx.Address, name: sx.Name, change: Callable[[sx.Branch], Sequence[sx.Branch]]
    ) -> None:
        """Replace the branch `name` of the operation at `at` by the result of `change`."""
        if at.operation is None:
            self.unknown_place(f"operation `{place_text(at)}`", at.head, (), at.span)
            return

        def edit_node(node: sx.Operation) -> sx.Operation:
            known: list[str] = []
            body: list[sx.OperationLine] = []
            for line in node.body:
                match line:
                    case sx.Branch():
                        body += self._change_branch((line,), name, change, known)
                    case sx.AnyOrder():
                        inner = self._change_branch(line.branches, name, change, known)
                        body += (replace(line, branches=tuple(inner)),) if inner else ()
                    case sx.Let() | sx.Assume():
                        body.append(line)
            if name.text not in known:
                self.unknown(f"branch `{place_text(at)}`", name.text, known, name.span)
            return replace(node, body=tuple(body))

        self.in_operation(at.head, at.operation, edit_node)

    @staticmethod
    def _change_branch(
        branches: Iterable[sx.Branch],
        name: sx.Name,
        change: Callable[[sx.Branch], Sequence[sx.Branch]],
        known: list[str],
    ) -> list[sx.Branch]:
        """The branches with `change` applied to `name`; adds all names to `known`."""
        result: list[sx.Branch] = []
        for branch in branches:
            known.append(branch.name.text)
            result += change(branch) if branch.name.text == name.text else (branch,)
        return result

    def in_branch(self, at: sx.Address, change: Callable[[sx.Branch], Sequence[sx.Branch]]) -> None:
        if at.branch is None:
            self.unknown_place(f"branch `{place_text(at)}`", at.head, (), at.span)
        else:
            self.in_branches(at, at.branch, change)

    def in_step_at(self, at: sx.Address, change: Callable[[sx.StepDecl], sx.StepDecl]) -> None:
        if at.operation is None or at.branch is not None:
            self.unknown_place(f"step `{place_text(at)}`", at.head, (), at.span)
        else:
            self.in_step(at.head, at.operation, change)

    def is_followed(self, at: sx.Address) -> bool:
        """Whether a branch follows the one at `at` and is not in its group."""
        assert at.operation is not None and at.branch is not None
        name = (at.head.text, at.operation.text)
        bodies = (
            [line for line in member.body if isinstance(line, sx.Branch | sx.AnyOrder)]
            for node in self.all()
            if isinstance(node, sx.ComponentDecl)
            for member in node.members
            if isinstance(member, sx.Operation) and (node.name.text, member.name.text) == name
        )
        return any(at.branch.text in _names(line) for body in bodies for line in body[:-1])


def _names(line: sx.Branch | sx.AnyOrder) -> list[str]:
    """The branch, or the branches of the group."""
    branches = (line,) if isinstance(line, sx.Branch) else line.branches
    return [branch.name.text for branch in branches]


def _steps(node: sx.SystemDecl) -> list[str]:
    return [member.name.text for member in node.members if isinstance(member, sx.StepDecl)]


def _change_member(
    members: Iterable[OtherT],
    kind: type[MemberT],
    name: str,
    change: Callable[[MemberT], MemberT | None],
) -> tuple[list[str], tuple[OtherT | MemberT, ...]]:
    """The names of the members of a kind, and all members with `change` applied to the one called
    `name` (None drops it)."""
    known: list[str] = []
    found: list[OtherT | MemberT] = []
    for member in members:
        if isinstance(member, kind):
            known.append(member.name.text)
        if isinstance(member, kind) and member.name.text == name:
            changed = change(member)
            found += () if changed is None else (changed,)
        else:
            found.append(member)
    return known, tuple(found)
