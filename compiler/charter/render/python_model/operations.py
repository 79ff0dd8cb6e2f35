"""Prints an operation as a method that lists its branches, and each longer branch as a method of
its own. Ghost state, and what is needed only for it, is left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.reach import list_modelled
from charter.core.walk import children, never_empty
from charter.render.python_model.choices import constants
from charter.render.python_model.expr import ExprPrinter
from charter.render.python_model.line_breaks import WIDTH, Block, Doc, Spread, call, join, lines
from charter.render.python_model.names import Names, camel
from charter.render.python_model.operators import AND, CHOICE, OR, Assignment
from charter.render.python_model.present_values import Known, bound, present_where
from charter.render.text import Emitter, cite, wrap

BREAKS = "_breaks"
"""How the names of the methods end that say which assumption of an operation is false."""


def breaks_name(names: Names, operation: n.Operation) -> str:
    """The name of such a method."""
    return names.attribute(f"{operation.name}{BREAKS}")


def place(span: object) -> str:
    """`file:line` of a span, without folders."""
    where = str(span).rsplit(":", 1)[0]
    return where.rsplit("/", 1)[-1]


def doc_lines(text: str, depth: int = 0) -> list[str]:
    """A docstring, wrapped for a depth of indentation."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    rows = wrap(text, WIDTH - 4 * depth - 6)
    if len(rows) == 1:
        return [f'"""{rows[0]}"""']
    return [f'"""{rows[0]}', *rows[1:], '"""']


def locals_of(e: n.Expr) -> dict[str, t.Type]:
    """The locals that an expression mentions, bound inside it or not."""
    found = {e.name: e.type} if isinstance(e, n.Local) else {}
    for child in children(e):
        found |= locals_of(child)
    return found


def sets_of_each_key(pick: n.Pick) -> n.Expr | None:
    """`m` of `pick x for k in K in m[k] or none`: a map with the set for each key."""
    match pick:
        case n.Pick(
            index=(variable, _), domain=n.MapGet(target=sets, key=n.Local(name=key)), or_none=True
        ) if key == variable and variable not in locals_of(sets):
            return sets
        case _:
            return None


@dataclass(slots=True)
class OperationPrinter:
    """Prints the methods of one component into `out`."""

    component: n.Component
    printer: ExprPrinter
    out: Emitter
    ghosts: frozenset[str] = field(init=False)
    methods: list[tuple[n.Operation, n.Branch, dict[str, t.Type]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        kept = {v.name for v in list_modelled(self.component)}
        self.ghosts = frozenset(v.name for v in self.component.state if v.name not in kept)

    # --- lines -----------------------------------------------------------------------------------

    def put(self, doc: Doc, prefix: str = "", suffix: str = "") -> None:
        """A statement, after the assignments that its expressions need."""
        for assignment in self.printer.needed:
            hint = f": {assignment.hint}" if assignment.hint else ""
            self._emit(assignment.value, f"{assignment.name}{hint} = ", "")
        self.printer.needed.clear()
        self._emit(doc, prefix, suffix)

    def _emit(self, doc: Doc, prefix: str, suffix: str) -> None:
        self.out.lines.extend(lines(doc, self.out.depth, prefix, suffix))

    def assign(self, assignment: Assignment) -> None:
        """`name = value`."""
        hint = f": {assignment.hint}" if assignment.hint else ""
        self.put(assignment.value, f"{assignment.name}{hint} = ")

    def comment(self, text: str) -> None:
        """A comment, wrapped."""
        for line in wrap(text, WIDTH - 4 * self.out.depth - 2):
            self.out.line(f"# {line}" if line else "#")

    def docstring(self, text: str) -> None:
        """A docstring, wrapped."""
        self.out.extend(doc_lines(text, self.out.depth))

    # --- operations ------------------------------------------------------------------------------

    def operation(self, operation: n.Operation) -> None:
        """The method of an operation, then those of its branches."""
        self.methods.clear()
        self.printer.take(self.locals_in(operation))
        names = {p.name: p.type for p in operation.params}
        self.signature(self.printer.names.attribute(operation.name), names, operation)
        with self.out.indent():
            about = f"{operation.doc}\n\n{cite(operation.citations)}".strip()
            self.docstring(about or f"{self.component.name}/{operation.name}")
            if operation.assumes:
                self.refuse(operation)
            known = set(names)
            grouped = any(branch.group for branch in operation.branches)
            if grouped:
                self.out.line(f"allowed: list[{self.outcome_type(operation)}] = []")
            used = self.list_used(operation)
            for i, branch in enumerate(operation.branches):
                following = (
                    operation.branches[i + 1].group if i + 1 < len(operation.branches) else 0
                )
                self.branch(operation, branch, known, used)
                if branch.group and branch.group != following:
                    self.out.line("if allowed:")
                    self.out.line("    return allowed")
            last = operation.branches[-1]
            if last.group or last.guard:
                self.out.line(f'raise Undefined("no branch of {operation.name} applies")')
        for owner, branch, params in list(self.methods):
            self.out.line()
            self.method(owner, branch, params)

    def refuse(self, operation: n.Operation) -> None:
        """The statements by which an operation has no value where an assumption is false."""
        args = (self.printer.local(p.name) for p in operation.params)
        method = breaks_name(self.printer.names, operation)
        self.put(call(f"self.{method}", *args), "if broken := ", ":")
        why = f"{operation.name} happens where its assumption is false: `{{broken}}`"
        self.out.line(f'    raise Undefined(f"{why}")')

    def locals_in(self, operation: n.Operation) -> set[str]:
        """The names of all locals of an operation."""
        found = {p.name for p in operation.params}
        for branch in operation.branches:
            conditions = [conjunct.condition for conjunct in branch.guard]
            lets = [bind.value for bind in branch.lets]
            found |= bound([*conditions, *lets, *self.live_expressions(branch)])
            found |= {bind.name for bind in branch.lets}
            found |= {s.name for s in branch.body if isinstance(s, n.Bind | n.Pick)}
        return found

    def outcome_type(self, operation: n.Operation) -> str:
        """The type hint of an outcome."""
        reply = self.printer.types.annotation(operation.result)
        return f"Outcome[{camel(self.component.name)}, {reply}]"

    def signature(self, name: str, params: dict[str, t.Type], operation: n.Operation) -> None:
        """`def name(self, ...) -> list[Outcome[...]]:`."""
        self.head(name, params, f"list[{self.outcome_type(operation)}]")

    def head(self, name: str, params: dict[str, t.Type], result: str) -> None:
        """`def name(self, ...) -> result:`."""
        hints = [
            f"{self.printer.local(param)}: {self.printer.types.annotation(kind)}"
            for param, kind in params.items()
        ]
        self._emit(Block("(", ("self", *hints), ")"), f"def {name}", f" -> {result}:")

    def list_used(self, operation: n.Operation) -> set[str]:
        """The names that anything but ghost state needs."""
        found: set[str] = set()
        lets: dict[str, n.Expr] = {}
        for branch in operation.branches:
            lets |= {bind.name: bind.value for bind in branch.lets}
            for conjunct in branch.guard:
                found |= set(locals_of(conjunct.condition))
            for e in self.live_expressions(branch):
                found |= set(locals_of(e))
        for name in reversed(lets):
            if name in found:
                found |= set(locals_of(lets[name]))
        return found

    def live(self, branch: n.Branch) -> tuple[n.Change[n.Expr], ...]:
        """The statements of a branch without ghost updates and what only those need."""
        needed = set(locals_of(branch.reply))
        kept: list[n.Change[n.Expr]] = []
        for statement in reversed(branch.body):
            match statement:
                case n.Assign(variable=variable):
                    if variable in self.ghosts:
                        continue
                    needed |= set(locals_of(statement.value))
                case n.Bind(name=name):
                    if name not in needed:
                        continue
                    needed |= set(locals_of(statement.value))
                case n.Pick(name=name):
                    if name not in needed:
                        continue
                    needed |= set(locals_of(statement.domain))
            kept.append(statement)
        return tuple(reversed(kept))

    def live_expressions(self, branch: n.Branch) -> list[n.Expr]:
        """The expressions of the statements that `live` keeps, and the reply."""
        found: list[n.Expr] = [branch.reply]
        for statement in self.live(branch):
            match statement:
                case n.Assign(value=value) | n.Bind(value=value):
                    found.append(value)
                case n.Pick():
                    found.append(statement.domain)
        return found

    # --- branches --------------------------------------------------------------------------------

    def title(self, operation: n.Operation, branch: n.Branch) -> str:
        """The name of a branch, its place in the charter and what it cites."""
        parts = [f"{operation.name}/{branch.name}", place(branch.span), cite(branch.citations)]
        return "  ".join(part for part in parts if part)

    def branch(
        self, operation: n.Operation, branch: n.Branch, known: set[str], used: set[str]
    ) -> None:
        """The part of the operation's method that belongs to one branch."""
        out = self.out
        lets = [b for b in branch.lets if b.name not in known and b.name in used]
        known |= {bind.name for bind in branch.lets}
        first = [b for b in self.print_first_lets(operation, branch, known) if b.name in used]
        lets += first
        known |= {bind.name for bind in first}
        if not (out.lines[-1].endswith('"""') and lets):
            out.line()
        for bind in lets:
            self.assign(self.printer.bind(bind.name, bind.value))
            if bind in first:
                name = self.printer.local(bind.name)
                self.printer.known = self.printer.known.with_name(bind.value, name)
        if lets:
            out.line()
        apart = any(isinstance(s, n.Bind | n.Pick) for s in self.live(branch))
        self.comment(self.title(operation, branch))
        if not apart and branch.doc:
            self.comment(branch.doc)
        depth = out.depth
        with self.printer.knowing():
            if branch.guard:
                self.guard(branch.guard, [] if apart else self.live_expressions(branch))
                out.depth += 1
            self.print_effects(operation, branch, known)
        out.depth = depth
        if len(branch.guard) == 1 and not branch.group:
            condition = branch.guard[0].condition
            self.printer.known = self.printer.known.where(condition, holds=False)

    def print_first_lets(
        self, operation: n.Operation, branch: n.Branch, known: Collection[str]
    ) -> list[n.Bind]:
        """Lets to print before a branch that is taken if something is `none`: later branches begin
        with a let of its value. It is tested here, so it is known not to be `none` in these."""
        if len(branch.guard) != 1 or branch.group:
            return []
        found: list[n.Bind] = []
        present = present_where(branch.guard[0].condition, holds=False)
        for bind in operation.branches[-1].lets:
            match bind.value:
                case n.Builtin(name="value", args=(e,)) if e in present and bind.name not in known:
                    found.append(n.Bind(bind.name, e))
                case _:
                    pass
        return found

    def print_effects(self, operation: n.Operation, branch: n.Branch, known: set[str]) -> None:
        """The effects of a branch: a call of a method of its own, or its statements."""
        if any(isinstance(s, n.Bind | n.Pick) for s in self.live(branch)):
            params = self.free(operation, branch, known)
            self.methods.append((operation, branch, params))
            name = self.method_name(operation, branch)
            doc: Doc = call(f"self.{name}", *(self.printer.local(p) for p in params))
            self.put(doc, "allowed += " if branch.group else "return ")
        else:
            self.outcome(operation, branch, self.live(branch), collects=bool(branch.group))

    def method_name(self, operation: n.Operation, branch: n.Branch) -> str:
        """The name of a branch's own method."""
        return f"_{operation.name}_{branch.name}"

    def free(self, operation: n.Operation, branch: n.Branch, known: set[str]) -> dict[str, t.Type]:
        """The locals of the operation that a branch reads, in the order of their appearance."""
        bound = {s.name for s in branch.body if isinstance(s, n.Bind | n.Pick)}
        read: dict[str, t.Type] = {}
        for e in self.live_expressions(branch):
            read |= locals_of(e)
        kinds = {p.name: p.type for p in operation.params}
        kinds |= {bind.name: bind.value.type for bind in branch.lets}
        return {name: kind for name, kind in kinds.items() if name in read and name not in bound}

    def guard(self, guard: tuple[n.Conjunct, ...], body: Sequence[n.Expr]) -> None:
        """`if` with every conjunct on a line of its own, and its label behind it. A map entry that
        a conjunct tests is assigned to a local variable if later conjuncts or the `body` use it."""
        printer = self.printer
        docs: list[Doc] = []
        for i, conjunct in enumerate(guard):
            printer.sure = i == 0
            later = [*(other.condition for other in guard[i + 1 :]), *body]
            printer.name_found(conjunct.condition, later)
            doc = printer.doc(conjunct.condition, AND if len(guard) > 1 else CHOICE)
            printer.known = printer.known.where(conjunct.condition, holds=True)
            docs.append(join("and ", doc) if i else doc)
        printer.sure = True
        if len(guard) == 1:
            before = len(self.out.lines)
            self.put(docs[0], "if ", ":")
            self._label(before, guard[0].label)
            return
        self.put("if (")
        with self.out.indent():
            for doc, conjunct in zip(docs, guard, strict=True):
                before = len(self.out.lines)
                self.out.lines.extend(lines(doc, self.out.depth, bracketed=True))
                self._label(before, conjunct.label)
        self.out.line("):")

    def _label(self, before: int, label: str) -> None:
        """Put a label behind the lines added since `before`; above them if there is no room, or if
        they are several lines without a bracket around them."""
        if label.isdigit():
            return
        added = self.out.lines[-1]
        is_one = before == len(self.out.lines) - 1 or added.lstrip().startswith(")")
        if is_one and len(added) + len(label) + 4 <= WIDTH:
            self.out.lines[-1] = f"{added}  # {label}"
        else:
            indent = self.out.lines[before][: -len(self.out.lines[before].lstrip())]
            self.out.lines.insert(before, f"{indent}# {label}")

    def method(self, operation: n.Operation, branch: n.Branch, params: dict[str, t.Type]) -> None:
        """A branch as a method. The conditions that its caller tested are not assumed."""
        out, self.printer.known = self.out, Known()
        self.signature(self.method_name(operation, branch), params, operation)
        with out.indent():
            about = f"{branch.doc}\n\n{cite(branch.citations)}" if branch.doc else ""
            self.docstring(about.strip() or self.title(operation, branch))
            body = self.live(branch)
            depth = out.depth
            picks = any(isinstance(s, n.Pick) for s in body)
            if picks:
                out.line(f"allowed: list[{self.outcome_type(operation)}] = []")
            for statement in body:
                match statement:
                    case n.Bind(name=name):
                        self.assign(self.printer.bind(name, statement.value))
                    case n.Pick():
                        self.pick(statement)
                    case n.Assign():
                        pass
            self.outcome(operation, branch, body, collects=picks)
            if picks:
                out.depth = depth
                out.line("return allowed")

    def pick(self, pick: n.Pick) -> None:
        """A loop over the possible choices."""
        printer = self.printer
        name = printer.bound(pick.name)
        if pick.index is None:
            each = self.choices(pick)
        elif sets := sets_of_each_key(pick):
            each = call("each_or_none", printer.doc(sets))
        else:
            variable, kind = pick.index
            key = printer.bound(variable)
            options = self.choices(pick, sure=False)
            loop = f"for {key} in {printer.types.loop(kind, printer.world)}"
            each = call("each", Block("{", (join(f"{key}: ", options), loop), "}", ""))
        self.put(each, f"for {name} in ", ":")
        self.out.depth += 1

    def choices(self, pick: n.Pick, *, sure: bool = True) -> Doc:
        """The possible choices in a fixed order. `or none` is ignored for a set that is never
        empty."""
        certain = never_empty(pick.domain, self.printer.functions)
        if pick.or_none and certain and pick.index is None:
            self.printer.chosen.add(pick.name)
        function = "one_of" if certain or not pick.or_none else "one_or_none"
        with self.printer.place(sure=sure):
            return self.print_ordered(pick.domain, function)

    def print_ordered(self, domain: n.Expr, function: str) -> Doc:
        """The members of a set in a fixed order, by a function of the prelude if need be."""
        if isinstance(domain, n.If) and all(map(constants, (domain.then, domain.otherwise))):
            yes, no = (
                self.print_ordered(domain.then, function),
                self.print_ordered(domain.otherwise, function),
            )
            condition = self.printer.doc(domain.condition, OR)
            return Spread((yes, join("if ", condition), join("else ", no)))
        if literals := constants(domain):
            items = tuple(self.printer.doc(literal) for literal in literals)
            return Block("(", items, ",)" if len(items) == 1 else ")")
        return call(function, self.printer.doc(domain))

    def outcome(
        self,
        operation: n.Operation,
        branch: n.Branch,
        body: tuple[n.Statement, ...],
        *,
        collects: bool,
    ) -> None:
        """The state after, then `Outcome(branch, reply, state after)`, returned or collected."""
        printer = self.printer
        updates: list[Doc] = []
        for statement in body:
            if isinstance(statement, n.Assign):
                name = printer.names.attribute(statement.variable)
                updates.append(join(f"{name}=", printer.doc(statement.value)))
        if updates:
            self.put(call("replace", "self", *updates), "after = ")
        after = "after" if updates else "self"
        reply = printer.doc(branch.reply)
        outcome = call("Outcome", f'"{operation.name}/{branch.name}"', reply, after)
        if collects:
            self.put(call("allowed.append", outcome))
        else:
            self.put(Block("[", (outcome,), "]"), "return ")
