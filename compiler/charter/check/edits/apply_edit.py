"""Applies one edit of a variant, mutant or overlay to the declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from charter.check.edits.edit_targets import OtherT, Targets
from charter.check.edits.image_edits import with_image
from charter.check.edits.rewrite import (
    Change,
    Named,
    calling,
    change_guard,
    change_let,
    change_named,
    change_updates,
    fill,
    find_named,
    lets_inside,
    list_updates,
    wrap_body,
    wrap_guard,
)
from charter.check.names.edit_names import place_text
from charter.check.names.scopes import REPLACED, free_name
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

TypeDecl = sx.RecordDecl | sx.EnumDecl | sx.UnionDecl | sx.AliasDecl


class Editor(Targets):
    """Applies edits to the files of a protocol. An edit of something that does not exist is
    reported as `edit/unknown-target` and changes nothing. `is_overlay`: the edits are those of an
    overlay's entry."""

    def __init__(
        self, files: sx.Protocol, diagnostics: Diagnostics, *, is_overlay: bool = False
    ) -> None:
        super().__init__(files, diagnostics)
        self.is_overlay = is_overlay

    def apply(self, edit: sx.Edit) -> None:
        """Apply one edit."""
        match edit:
            case sx.Replace():
                self.replace(edit)
            case sx.ReplaceBranch():
                self.in_branches(edit.at, edit.branch.name, lambda old: (_wrap(edit, old),))
            case sx.ReplaceOperation():
                self.replace_operation(edit.at.head, edit.operation)
            case sx.ReplaceFun():
                self.replace_fun(edit)
            case sx.ReplacePart():
                self.replace_part(edit, lambda old: fill(edit.value, old))
            case sx.Drop():
                self.drop(edit)
            case sx.Add():
                self.add(edit)
            case sx.AddFault():
                self.fault(edit)
            case _:
                assert_never(edit)

    # --- whole declarations ----------------------------------------------------------------------

    def replace_fun(self, edit: sx.ReplaceFun) -> None:
        """Give a function another body."""
        known = {node.name.text: node for node in self.all() if isinstance(node, sx.FunDecl)}
        old = known.get(edit.name.text)
        if old is None:
            what = f"`fun {edit.name.text}` to replace"
            self.unknown(what, edit.name.text, known, edit.name.span)
            return
        former = (*old.former, old.body)
        new = replace(old, body=edit.value, citations=edit.citations, span=edit.span, former=former)
        self._wrap(old, replace(new, comments=edit.comments, trailing=edit.trailing))

    def _wrap(self, old: sx.FunDecl, new: sx.FunDecl) -> None:
        """Replace `old` by `new`; if `new` calls it, `old` is kept under another name."""
        names = {node.name.text for node in self.all() if not isinstance(node, sx.ScenarioDecl)}
        name = free_name(f"{REPLACED}_{old.name.text}", lambda text: text if text in names else "")
        body = calling(new.body, name, new.params)
        kept = () if body == new.body else (replace(old, name=replace(old.name, text=name)),)
        self.change(lambda node: node is old, (*kept, replace(new, body=body)))

    def replace(self, edit: sx.Replace) -> None:
        """Replace the declaration that has the same name."""
        new = edit.declaration
        known = {n.name.text: n for n in self.all() if isinstance(n, _same_kind(new))}
        old = known.get(new.name.text)
        if old is None:
            self.unknown(f"`{new.name.text}` to replace", new.name.text, known, new.name.span)
        elif isinstance(old, sx.FunDecl) and isinstance(new, sx.FunDecl):
            self._wrap(old, new)
        else:
            self.change(lambda node: node is old, (new,))

    def replace_part(self, edit: sx.ReplacePart, change: Change) -> None:
        """Change a part of a branch, a step, an operation or a function."""
        match edit.what:
            case "conjunct":
                self.conjunct(edit.at, edit.name, change)
            case "update":
                self.update(edit.at, edit.name, change)
            case "let" if edit.at.operation is None:
                self.let_of_function(edit.at.head, edit.name, change)
            case "let" if edit.at.branch is None and not self.is_system(edit.at.head):
                self.let_of_operation(edit.at, edit.name, change)
            case "history":
                self.history(edit.at, edit.name, change)
            case "let" | "pick":
                self.change_named(edit, edit.what, change)
            case "image":
                self.image(edit)

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
            case sx.StateDecl() if at is not None and self.is_system(at.head):
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

    def replace_operation(self, head: sx.Name, new: sx.Operation | sx.StepDecl) -> None:
        """Replace the operation or step that has the same name."""
        match new:
            case sx.Operation():
                self.in_operation(head, new.name, lambda _: new)
            case sx.StepDecl(body=body):
                self.in_step(
                    head, new.name, lambda old: replace(new, body=wrap_body(body, old.body))
                )

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

    def history(self, at: sx.Address, name: sx.Name, change: Change) -> None:
        """Change what a history becomes by a step."""
        known = {} if at.operation is not None else self.histories(at.head)
        old = known.get(name.text)
        if old is None or old.becomes is None:
            what = f"history `{name.text}` of {place_text(at)}"
            self.unknown(what, name.text, known, name.span)
            return
        new = replace(old, becomes=change(old.becomes))
        if self.is_system(at.head):
            self.in_system(at.head, lambda node: replace(node, members=_put(node.members, new)))
        else:
            self.in_component(at.head, lambda node: replace(node, members=_put(node.members, new)))

    # --- inside branches and steps ---------------------------------------------------------------

    def conjunct(self, at: sx.Address, label: sx.Name, change: Change) -> None:
        """Replace or drop what a label covers, in the guard of a branch or in a step."""
        if self.is_system(at.head):
            self.in_step_at(at, lambda node: self._change_requires(at, label, node, change))
        else:
            self.in_branch(at, lambda node: (self._change_guard(at, label, node, change),))

    def _change_guard(
        self, at: sx.Address, label: sx.Name, node: sx.Branch, change: Change
    ) -> sx.Branch:
        guard = change_guard(node.guard, label.text, change)
        is_known = self._knows_label(at, label, node.guard)
        if is_known and not guard and self.is_followed(at):
            self.diagnostics.warn(
                "edit/guard-gone",
                f"this was the whole guard of `{node.name.text}`: now the branches after it"
                " are never taken",
                label.span,
                hint=f"did you mean `drop branch {place_text(at)}`? If not, `replace conjunct"
                f" {label.text} of {place_text(at)} with true` says so",
            )
        return replace(node, guard=guard)

    def _change_requires(
        self, at: sx.Address, label: sx.Name, node: sx.StepDecl, change: Change
    ) -> sx.StepDecl:
        required = [line for line in node.body if isinstance(line, sx.Require)]
        self._knows_label(at, label, [part for line in required for part in line.guard])
        body: list[sx.Statement] = []
        for line in node.body:
            if isinstance(line, sx.Require):
                guard = change_guard(line.guard, label.text, change)
                body += (replace(line, guard=guard),) if guard else ()
            else:
                body.append(line)
        return replace(node, body=tuple(body))

    def _knows_label(self, at: sx.Address, label: sx.Name, guard: Iterable[sx.Conjunct]) -> bool:
        known = [part.label.text for part in guard if part.label is not None]
        what = f"conjunct `{label.text}` of {place_text(at)}"
        if not known:
            hint = f"no condition there has a label; write it as `{label.text}: condition`"
            self.diagnostics.error(
                "edit/unknown-target", f"there is no {what}", label.span, hint=hint
            )
        elif label.text not in known:
            self.unknown(what, label.text, known, label.span)
        return label.text in known

    def update(self, at: sx.Address, variable: sx.Name, change: Change) -> None:
        """Replace the update of a variable, or drop it, in a branch or in a step."""

        def edit_body(body: tuple[sx.Statement, ...]) -> tuple[sx.Statement, ...]:
            known = list_updates(body)
            if variable.text in self.histories(at.head):
                self.is_history(at, variable)
            elif variable.text not in known:
                what = f"update of `{variable.text}` in {place_text(at)}"
                self.unknown(what, variable.text, known, variable.span)
            return change_updates(body, variable, change)

        if self.is_system(at.head):
            self.in_step_at(at, lambda node: replace(node, body=edit_body(node.body)))
        else:
            self.in_branch(at, lambda node: (replace(node, body=edit_body(node.body)),))

    def change_named(self, edit: sx.ReplacePart, what: Named, change: Change) -> None:
        """Change a choice or a let of a branch or of a step."""
        at, name = edit.at, edit.name

        def edit_body(body: tuple[sx.Statement, ...]) -> tuple[sx.Statement, ...]:
            self._is_one(at, f"{what} `{name.text}`", name, find_named(body, what, name.text))
            return change_named(body, what, name.text, change)

        if self.is_system(at.head):
            self.in_step_at(at, lambda node: replace(node, body=edit_body(node.body)))
        else:
            self.in_branch(at, lambda node: (replace(node, body=edit_body(node.body)),))

    def let_of_operation(self, at: sx.Address, name: sx.Name, change: Change) -> None:
        """Change a let that stands between the branches of an operation."""

        def edit_body(node: sx.Operation) -> sx.Operation:
            self._is_one(at, f"let `{name.text}`", name, find_named(node.body, "let", name.text))
            return replace(node, body=change_named(node.body, "let", name.text, change))

        assert at.operation is not None
        self.in_operation(at.head, at.operation, edit_body)

    def let_of_function(self, head: sx.Name, name: sx.Name, change: Change) -> None:
        """Change a `let ... in` of a function."""
        known = {node.name.text: node for node in self.all() if isinstance(node, sx.FunDecl)}
        old = known.get(head.text)
        if old is None:
            self.unknown_place(f"`fun {head.text}`", head, known, head.span)
            return
        at = sx.Address(head, span=head.span)
        self._is_one(at, f"let `{name.text}`", name, lets_inside(old.body, name.text))
        body = change_let(old.body, name.text, change)
        new = replace(old, body=body, former=(*old.former, old.body))
        self.change(lambda node: node is old, (new,))

    def _is_one(self, at: sx.Address, what: str, name: sx.Name, found: Sequence[sx.Expr]) -> None:
        """Report a part that does not exist or is not unique."""
        if len(found) == 1:
            return
        there = f"there are {len(found)} of" if found else "there is no"
        message = f"{there} {what} in {place_text(at)}"
        self.diagnostics.error("edit/unknown-target", message, name.span)

    def image(self, edit: sx.ReplacePart) -> None:
        """Change what an image shows of a variable after an operation. Only overlays may: in a
        protocol every reader sees the same."""
        if not self.is_overlay:
            self.diagnostics.error(
                "edit/image-outside-overlay",
                "a variant or a mutant has no images: in a protocol every reader sees the same",
                edit.span,
                hint="change the image in an overlay entry",
            )
            return
        at = edit.at
        if at.operation is None or at.branch is not None:
            self.unknown_place(f"operation `{place_text(at)}`", at.head, (), at.span)
            return
        name = at.operation.text

        def edit_body(node: sx.ComponentDecl) -> sx.ComponentDecl:
            states = {m.name.text: m for m in node.members if isinstance(m, sx.StateDecl)}
            operations = {m.name.text: m for m in node.members if isinstance(m, sx.Operation)}
            variable, of = states.get(edit.name.text), operations.get(name)
            if variable is None:
                what = f"variable `{edit.name.text}` of {at.head.text}"
                self.unknown(what, edit.name.text, states, edit.name.span)
            elif of is None:
                self.unknown(f"operation `{place_text(at)}`", name, operations, at.span)
            else:
                return replace(node, members=with_image(node.members, edit, variable, of))
            return node

        self.in_component(at.head, edit_body)

    def fault(self, edit: sx.AddFault) -> None:
        """Add a fault to a branch. Only overlays may: a protocol has no exceptions."""
        if not self.is_overlay:
            self.diagnostics.error(
                "edit/fault-outside-overlay",
                "a variant or a mutant has no faults: a protocol does not throw",
                edit.span,
                hint="add the fault to an overlay entry",
            )
            return
        if not edit.fault.saying and edit.fault.condition is None:
            self.diagnostics.warn(
                "edit/any-fault",
                f"this explains every {edit.fault.exception} in {place_text(edit.at)}, whatever its"
                " cause",
                edit.span,
                hint='say more: `saying "text"` of its message, or `when` it is thrown',
            )
        self.in_branch(edit.at, lambda node: (replace(node, faults=(*node.faults, edit.fault)),))


def _put(members: Iterable[OtherT], new: sx.StateDecl) -> tuple[OtherT | sx.StateDecl, ...]:
    """The members of a machine, with `new` instead of the state variable of the same name."""

    def is_old(member: sx.Item) -> bool:
        return isinstance(member, sx.StateDecl) and member.name.text == new.name.text

    return tuple(new if is_old(member) else member for member in members)


def _wrap(edit: sx.ReplaceBranch, old: sx.Branch) -> sx.Branch:
    """The branch that an edit replaces `old` by."""
    new = edit.branch
    return replace(
        new,
        guard=wrap_guard(new.guard, old.guard),
        body=wrap_body(new.body, old.body),
        faults=old.faults,
    )


def _same_kind(
    node: sx.FunDecl | sx.PropertyDecl | sx.EventuallyDecl | TypeDecl,
) -> tuple[type[sx.FunDecl | sx.PropertyDecl | sx.EventuallyDecl | TypeDecl], ...]:
    if isinstance(node, sx.FunDecl):
        return (sx.FunDecl,)
    if isinstance(node, sx.PropertyDecl | sx.EventuallyDecl):
        return (sx.PropertyDecl, sx.EventuallyDecl)
    return (sx.RecordDecl, sx.EnumDecl, sx.UnionDecl, sx.AliasDecl)
