"""Applies one edit of a variant, mutant or overlay to the declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar, assert_never

from charter.check.edits import place_text
from charter.check.rewrite import Change, changed_guard, changed_updates, updated
from charter.check.scopes import suggest
from charter.diagnostics import Diagnostics, Span
from charter.syntax import nodes as sx

OperationLine = sx.Let | sx.Branch | sx.AnyOrder
TypeDecl = sx.RecordDecl | sx.EnumDecl | sx.UnionDecl | sx.AliasDecl
MachineT = TypeVar("MachineT", sx.ComponentDecl, sx.SystemDecl)
MemberT = TypeVar("MemberT", sx.Operation, sx.StepDecl)
OtherT = TypeVar("OtherT", bound=sx.Item)
OF_A_SYSTEM: Final = (
    "a system has steps: `replace in system step ...`, `drop step system.step`, and of what is in"
    " a step `replace conjunct label of system.step ...`, `replace update x of system.step ...`"
)


class Editor:
    """Applies edits to the files of a protocol. An edit whose target is not there is
    `edit/unknown-target` and changes nothing. `is_overlay`: they are those of an entry."""

    def __init__(
        self, files: sx.Protocol, diagnostics: Diagnostics, *, is_overlay: bool = False
    ) -> None:
        self.files = files
        self.is_overlay = is_overlay
        self.diagnostics = diagnostics
        self.declarations = [list(file.declarations) for file in files]

    def result(self) -> sx.Protocol:
        """The edited files."""
        pairs = zip(self.files, self.declarations, strict=True)
        return tuple(replace(file, declarations=tuple(found)) for file, found in pairs)

    def apply(self, edit: sx.Edit) -> None:
        """Apply one edit."""
        match edit:
            case sx.Replace():
                self.replace(edit)
            case sx.ReplaceBranch():
                new = edit.branch
                self.in_branches(edit.at, new.name, lambda old: (replace(new, faults=old.faults),))
            case sx.ReplaceOperation():
                self.replace_operation(edit.at.head, edit.operation)
            case sx.ReplaceConjunct():
                self.conjunct(edit.at, edit.label, lambda _: edit.condition)
            case sx.ReplaceUpdate():
                self.update(edit.at, edit.variable, lambda _: edit.value)
            case sx.Drop():
                self.drop(edit)
            case sx.Add():
                self.add(edit)
            case sx.AddFault():
                self.fault(edit)
            case _:
                assert_never(edit)

    def unknown(self, text: str, name: str, known: Iterable[str], span: Span) -> None:
        """Report a target that is not there."""
        hint = suggest(name, known)
        self.diagnostics.error("edit/unknown-target", f"there is no {text}", span, hint=hint)

    def unknown_place(self, text: str, head: sx.Name, known: Iterable[str], span: Span) -> None:
        """The same, where `head`, the first name of an address, may be a system or a step."""
        systems = (node for node in self.all() if isinstance(node, sx.SystemDecl))
        if any(head.text in (node.name.text, *_steps(node)) for node in systems):
            message = f"there is no {text}"
            self.diagnostics.error("edit/unknown-target", message, span, hint=OF_A_SYSTEM)
        else:
            self.unknown(text, head.text, known, span)

    # --- whole declarations ----------------------------------------------------------------------

    def change(
        self,
        found: Callable[[sx.Declaration], bool],
        instead: Sequence[sx.Declaration],
    ) -> bool:
        """Put `instead` in the place of the declaration that is `found`; False if none is."""
        for group in self.declarations:
            for position, node in enumerate(group):
                if found(node):
                    group[position : position + 1] = instead
                    return True
        return False

    def replace(self, edit: sx.Replace) -> None:
        new = edit.declaration
        kinds = _same_kind(new)

        def found(node: sx.Declaration) -> bool:
            return isinstance(node, kinds) and node.name.text == new.name.text

        if not self.change(found, (new,)):
            known = [n.name.text for n in self.all() if isinstance(n, kinds)]
            self.unknown(f"`{new.name.text}` to replace", new.name.text, known, new.name.span)

    def all(self) -> Iterable[sx.Declaration]:
        """Every declaration as it is now."""
        return (node for group in self.declarations for node in group)

    def drop(self, edit: sx.Drop) -> None:
        name = edit.name
        match edit.what:
            case "conjunct" if edit.at is not None:
                self.conjunct(edit.at, name, lambda _: None)
            case "update" if edit.at is not None:
                self.update(edit.at, name, lambda _: None)
            case "branch" if edit.at is not None:
                self.in_branches(edit.at, name, lambda _: ())
            case "operation" if edit.at is not None:
                self.in_operation(edit.at.head, name, lambda _: None)
            case "step" if edit.at is not None:
                self.in_step(edit.at.head, name, lambda _: None)
            case _:
                self.drop_named(edit)

    def drop_named(self, edit: sx.Drop) -> None:
        wanted = edit.name.text

        def title(node: sx.Declaration) -> str:
            if isinstance(node, sx.ScenarioDecl):
                return node.title if edit.what == "scenario" else ""
            if isinstance(node, sx.PropertyDecl) and edit.what in ("property", "witness"):
                return (
                    node.name.text if (node.kind == "witness") == (edit.what == "witness") else ""
                )
            if isinstance(node, sx.EventuallyDecl) and edit.what == "property":
                return node.name.text
            return ""

        if not self.change(lambda node: title(node) == wanted, ()):
            known = [title(node) for node in self.all() if title(node)]
            self.unknown(f"{edit.what} `{wanted}`", wanted, known, edit.name.span)

    def add(self, edit: sx.Add) -> None:
        new, at = edit.declaration, edit.at
        match new:
            case sx.Branch() if at is not None:
                self.add_branch(at, edit.before, new)
            case sx.StateDecl() if at is not None and self._is_system(at.head):
                self.in_system(at.head, lambda node: replace(node, members=(*node.members, new)))
            case sx.StateDecl() | sx.Operation() if at is not None:
                self.in_component(at.head, lambda node: replace(node, members=(*node.members, new)))
            case sx.StepDecl() if at is not None:
                self.in_system(at.head, lambda node: replace(node, members=(*node.members, new)))
            case sx.Branch() | sx.StateDecl() | sx.Operation() | sx.StepDecl():
                self.diagnostics.error("edit/unknown-target", "say where: `add in ...`", edit.span)
            case _:
                self.declarations[-1].append(new)

    # --- inside components and systems -----------------------------------------------------------

    def _is_system(self, name: sx.Name) -> bool:
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

    def replace_operation(self, head: sx.Name, new: sx.Operation | sx.StepDecl) -> None:
        """Put an operation or a step in the place of that with its name."""
        match new:
            case sx.Operation():
                self.in_operation(head, new.name, lambda _: new)
            case sx.StepDecl():
                self.in_step(head, new.name, lambda _: new)

    def in_operation(
        self,
        head: sx.Name,
        name: sx.Name,
        change: Callable[[sx.Operation], sx.Operation | None],
    ) -> None:
        """Change (None: drop) an operation of the component `head`."""

        def edited(node: sx.ComponentDecl) -> sx.ComponentDecl:
            known, members = _changed_member(node.members, sx.Operation, name.text, change)
            if name.text not in known:
                self.unknown(f"operation `{name.text}` of {head.text}", name.text, known, name.span)
            return replace(node, members=members)

        self.in_component(head, edited)

    def in_step(
        self, head: sx.Name, name: sx.Name, change: Callable[[sx.StepDecl], sx.StepDecl | None]
    ) -> None:
        """Change (None: drop) a step of the system `head`."""

        def edited(node: sx.SystemDecl) -> sx.SystemDecl:
            known, members = _changed_member(node.members, sx.StepDecl, name.text, change)
            if name.text not in known:
                self.unknown(f"step `{name.text}` of {head.text}", name.text, known, name.span)
            return replace(node, members=members)

        self.in_system(head, edited)

    def in_branches(
        self, at: sx.Address, name: sx.Name, change: Callable[[sx.Branch], Sequence[sx.Branch]]
    ) -> None:
        """Put what `change` gives in the place of the branch `name` of the operation at `at`."""
        if at.operation is None:
            self.unknown_place(f"operation `{place_text(at)}`", at.head, (), at.span)
            return

        def edited(node: sx.Operation) -> sx.Operation:
            known: list[str] = []
            body: list[OperationLine] = []
            for line in node.body:
                match line:
                    case sx.Branch():
                        body += self._changed((line,), name, change, known)
                    case sx.AnyOrder():
                        inner = self._changed(line.branches, name, change, known)
                        body += (replace(line, branches=tuple(inner)),) if inner else ()
                    case sx.Let():
                        body.append(line)
            if name.text not in known:
                self.unknown(f"branch `{place_text(at)}`", name.text, known, name.span)
            return replace(node, body=tuple(body))

        self.in_operation(at.head, at.operation, edited)

    @staticmethod
    def _changed(
        branches: Iterable[sx.Branch],
        name: sx.Name,
        change: Callable[[sx.Branch], Sequence[sx.Branch]],
        known: list[str],
    ) -> list[sx.Branch]:
        """The branches, with `change` applied to the one called `name`; `known` grows."""
        result: list[sx.Branch] = []
        for branch in branches:
            known.append(branch.name.text)
            result += change(branch) if branch.name.text == name.text else (branch,)
        return result

    def add_branch(self, at: sx.Address, before: sx.Name | None, new: sx.Branch) -> None:
        """Add a branch before another one, or as the last one."""
        if before is not None:
            self.in_branches(at, before, lambda old: (new, old))
        elif at.operation is None:
            self.unknown_place(f"operation `{place_text(at)}`", at.head, (), at.span)
        else:
            self.in_operation(
                at.head, at.operation, lambda node: replace(node, body=(*node.body, new))
            )

    # --- inside branches and steps ---------------------------------------------------------------

    def conjunct(self, at: sx.Address, label: sx.Name, change: Change) -> None:
        """Replace or drop what a label covers, in the guard of a branch or in a step."""
        if self._is_system(at.head):
            self._in_step(at, lambda node: self._required(at, label, node, change))
        else:
            self._in_branch(at, lambda node: (self._guarded(at, label, node, change),))

    def _guarded(
        self, at: sx.Address, label: sx.Name, node: sx.Branch, change: Change
    ) -> sx.Branch:
        guard = changed_guard(node.guard, label.text, change)
        is_known = self._knows_label(at, label, node.guard)
        if is_known and not guard and self._is_followed(at):
            self.diagnostics.warn(
                "edit/guard-gone",
                f"this was the whole guard of `{node.name.text}`: now the branches behind it"
                " are never taken",
                label.span,
                hint=f"did you mean `drop branch {place_text(at)}`? If not, `replace conjunct"
                f" {label.text} of {place_text(at)} with true` says so",
            )
        return replace(node, guard=guard)

    def _required(
        self, at: sx.Address, label: sx.Name, node: sx.StepDecl, change: Change
    ) -> sx.StepDecl:
        required = [line for line in node.body if isinstance(line, sx.Require)]
        self._knows_label(at, label, [part for line in required for part in line.guard])
        body: list[sx.Statement] = []
        for line in node.body:
            if isinstance(line, sx.Require):
                guard = changed_guard(line.guard, label.text, change)
                body += (replace(line, guard=guard),) if guard else ()
            else:
                body.append(line)
        return replace(node, body=tuple(body))

    def _knows_label(self, at: sx.Address, label: sx.Name, guard: Iterable[sx.Conjunct]) -> bool:
        known = [part.label.text for part in guard if part.label is not None]
        if label.text not in known:
            what = f"conjunct `{label.text}` of {place_text(at)}"
            self.unknown(what, label.text, known, label.span)
        return label.text in known

    def _is_followed(self, at: sx.Address) -> bool:
        """Does a branch stand behind the branch at `at`, and not in one group with it?"""
        assert at.operation is not None and at.branch is not None
        name = (at.head.text, at.operation.text)
        bodies = (
            [line for line in member.body if not isinstance(line, sx.Let)]
            for node in self.all()
            if isinstance(node, sx.ComponentDecl)
            for member in node.members
            if isinstance(member, sx.Operation) and (node.name.text, member.name.text) == name
        )
        return any(at.branch.text in _names(line) for body in bodies for line in body[:-1])

    def update(self, at: sx.Address, variable: sx.Name, change: Change) -> None:
        """Replace the update of a variable, or drop it, in a branch or in a step."""

        def edited(body: tuple[sx.Statement, ...]) -> tuple[sx.Statement, ...]:
            known = updated(body)
            if variable.text not in known:
                what = f"update of `{variable.text}` in {place_text(at)}"
                self.unknown(what, variable.text, known, variable.span)
            return changed_updates(body, variable, change)

        if self._is_system(at.head):
            self._in_step(at, lambda node: replace(node, body=edited(node.body)))
        else:
            self._in_branch(at, lambda node: (replace(node, body=edited(node.body)),))

    def fault(self, edit: sx.AddFault) -> None:
        """Let a branch fail; in an overlay alone, since a protocol has no exceptions."""
        if not self.is_overlay:
            self.diagnostics.error(
                "edit/fault-outside-overlay",
                "a variant or a mutant is a protocol, and a protocol does not fail",
                edit.span,
                hint="say in the entry of an overlay what an implementation throws",
            )
            return
        self._in_branch(edit.at, lambda node: (replace(node, faults=(*node.faults, edit.fault)),))

    def _in_branch(
        self, at: sx.Address, change: Callable[[sx.Branch], Sequence[sx.Branch]]
    ) -> None:
        if at.branch is None:
            self.unknown_place(f"branch `{place_text(at)}`", at.head, (), at.span)
        else:
            self.in_branches(at, at.branch, change)

    def _in_step(self, at: sx.Address, change: Callable[[sx.StepDecl], sx.StepDecl]) -> None:
        if at.operation is None or at.branch is not None:
            self.unknown_place(f"step `{place_text(at)}`", at.head, (), at.span)
        else:
            self.in_step(at.head, at.operation, change)


def _names(line: sx.Branch | sx.AnyOrder) -> list[str]:
    """The branch, or the branches of the group."""
    branches = (line,) if isinstance(line, sx.Branch) else line.branches
    return [branch.name.text for branch in branches]


def _steps(node: sx.SystemDecl) -> list[str]:
    return [member.name.text for member in node.members if isinstance(member, sx.StepDecl)]


def _changed_member(
    members: Iterable[OtherT],
    kind: type[MemberT],
    name: str,
    change: Callable[[MemberT], MemberT | None],
) -> tuple[list[str], tuple[OtherT | MemberT, ...]]:
    """The names of the members of a kind, and all members, with `change` applied to that called
    `name` (None: it goes)."""
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


def _same_kind(
    node: sx.FunDecl | sx.PropertyDecl | sx.EventuallyDecl | TypeDecl,
) -> tuple[type[sx.FunDecl | sx.PropertyDecl | sx.EventuallyDecl | TypeDecl], ...]:
    if isinstance(node, sx.FunDecl):
        return (sx.FunDecl,)
    if isinstance(node, sx.PropertyDecl | sx.EventuallyDecl):
        return (sx.PropertyDecl, sx.EventuallyDecl)
    return (sx.RecordDecl, sx.EnumDecl, sx.UnionDecl, sx.AliasDecl)
