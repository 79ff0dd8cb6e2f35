"""Operations and steps: as actions, and (of the parts of a system) as sets of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core import small as s
from charter.core.walk import never_empty, operands
from charter.render.tla.expr import COMPARISONS, Printer
from charter.render.tla.layout import (
    Around,
    Binding,
    Bullets,
    Choice,
    Doc,
    Filled,
    Listed,
    ListItem,
    Noted,
    Remarked,
    Text,
    Where,
    call,
    parens,
)
from charter.render.tla.types import bare

Row = tuple[str, Doc]
Finish = Callable[[], list[ListItem]]


def cited(citations: tuple[n.Citation, ...]) -> str:
    """Citations as the charter writes them."""
    texts = [
        citation.source + (f' "{citation.section}"' if citation.section else "")
        for citation in citations
    ]
    return f"cites {', '.join(texts)}" if texts else ""


def notes(doc: str, citations: tuple[n.Citation, ...] = ()) -> list[str]:
    """Comment and citations as lines of text."""
    lines = [line.strip() for line in doc.strip().splitlines()] if doc.strip() else []
    cites = cited(citations)
    return [*lines, cites] if cites else lines


def listed(op: str, items: Sequence[ListItem]) -> Doc:
    """A list; of one item, the item."""
    return items[0].loose if len(items) == 1 and not items[0].note else Bullets(op, tuple(items))


def open_item(doc: Doc) -> ListItem:
    """An item that goes on to the right."""
    return ListItem(doc, parens(doc))


def argument_field(param: n.Param) -> str:
    """The field of an argument in `event.args`."""
    return param.name.replace("#", "_")


def guarded(name: str, body: Noted) -> Doc:
    """A branch of a group behind its guard, the comments above both."""
    held = call("Holds", Text(name))
    inner = body.inner
    items = inner.items if isinstance(inner, Bullets) else (open_item(inner),)
    return Noted(body.notes, Bullets("/\\", (ListItem(held, held), *items)))


def plain(e: s.Expr) -> bool:
    """Whether TLC reads a condition as one value at the head of an action."""
    match e:
        case n.Binary(op=op):
            return op in COMPARISONS or op == "implies"
        case n.Unary() | n.Literal():
            return True
        case _:
            return False


@dataclass(slots=True)
class ActionPrinter:
    """Prints one operation or step. `variables` are those of the machine, in TLA+; `work` is what
    a part holds after the calls so far; `watched`: the action says in `event` what it did;
    `arguments`: with which arguments, too."""

    printer: Printer
    variables: tuple[str, ...]
    model: s.Model
    watched: bool = True
    arguments: bool = False
    changed: set[str] = field(default_factory=set)
    work: dict[str, str] = field(default_factory=dict)
    outcomes: int = 0

    # --- branches --------------------------------------------------------------------------------

    def operation(self, operation: s.Operation, outcomes: bool = False) -> Doc:
        """The branches: the first (or group) with a true guard; as sets, if `outcomes`."""
        groups: list[list[s.Branch]] = []
        for branch in operation.branches:
            if groups and branch.group and groups[-1][0].group == branch.group:
                groups[-1].append(branch)
            else:
                groups.append([branch])
        return self.rest(operation, groups, set(), outcomes)

    def rest(
        self, operation: s.Operation, groups: list[list[s.Branch]], known: set[str], sets: bool
    ) -> Doc:
        """What comes of the groups that are left."""
        if not groups:
            return call("Assert", Text("FALSE"), Text(f'"no branch of {operation.name} applies"'))
        group = groups[0]
        rows: list[Row] = []
        for branch in group:
            for bind in branch.lets:
                if bind.name not in known:
                    known.add(bind.name)
                    value = Noted(tuple(notes(bind.doc)), self.printer.doc(bind.value))
                    rows.append((self.printer.local(bind.name), value))
        doc: Doc
        if len(group) == 1:
            doc = self.branch(operation, group[0], sets)
            if group[0].guard:
                after = self.rest(operation, groups[1:], known, sets)
                doc = Choice(self.guard(group[0]), doc, after)
        else:
            doc = self.any_order(operation, groups, known, (rows, sets))
        return Where(tuple(rows), doc) if rows else doc

    def any_order(
        self,
        operation: s.Operation,
        groups: list[list[s.Branch]],
        known: set[str],
        more: tuple[list[Row], bool],
    ) -> Doc:
        """Every branch of the group with a true guard; the guards get names."""
        rows, sets = more
        items: list[ListItem] = []
        names: list[ListItem] = []
        for branch in groups[0]:
            name = self.guard_name(branch.name)
            rows.append((name, self.guard(branch) if branch.guard else Text("TRUE")))
            names.append(ListItem(Text(name), Text(name)))
            body = self.branch(operation, branch, sets)
            if sets:
                items.append(open_item(Choice(Text(name), body, Text("{}"))))
            else:
                items.append(open_item(guarded(name, body)))
        together: Doc = listed("\\/", items)
        if sets:
            together = Listed("UNION {", tuple(item.loose for item in items), "}")
        if not all(branch.guard for branch in groups[0]):
            return together
        return Choice(listed("\\/", names), together, self.rest(operation, groups[1:], known, sets))

    def guard_name(self, branch: str) -> str:
        """The name of a guard: that of its branch."""
        name = self.printer.names.free(branch)
        while name in self.printer.renamed.values():
            name += "_"
        return name

    def guard(self, branch: s.Branch) -> Doc:
        """The conjuncts of a guard with their labels."""
        items: list[ListItem] = []
        for conjunct in branch.guard:
            label = "" if conjunct.label.isdigit() else conjunct.label
            items.append(self.printer.item(conjunct.condition, label))
        if len(items) == 1:
            note = items[0].note
            return Remarked(items[0].loose, note) if note else items[0].loose
        return Bullets("/\\", tuple(items))

    def branch(self, operation: s.Operation, branch: s.Branch, sets: bool) -> Noted:
        """The body of a branch under a comment with its name."""
        label = f"{operation.name}/{branch.name}"
        own = branch.citations if branch.citations != operation.citations else ()
        head, *more = notes("", own) or [""]
        about = (f"{branch.name}: {head}" if head else branch.name, *notes(branch.doc), *more)
        renamed, changed = dict(self.printer.renamed), set(self.changed)
        if sets:
            doc = self.outcome(branch.body, branch.reply, {})
        else:
            reply = branch.reply
            doc = self.run(branch.body, lambda: self.answers(label, operation.params, reply))
        self.printer.renamed, self.changed = renamed, changed
        return Noted(about, doc)

    def answers(self, label: str, params: Sequence[n.Param], reply: s.Expr) -> list[ListItem]:
        """What is told of a branch."""
        args = self.told_arguments(params)
        told = call("Answers", Text(f'"{label}"'), *args, self.printer.doc(reply))
        return [ListItem(told, told)]

    def told_arguments(self, params: Sequence[n.Param]) -> list[Doc]:
        """The record of the arguments, if properties read any."""
        if not self.arguments:
            return []
        rows: list[Row] = [(argument_field(p), Text(self.printer.local(p.name))) for p in params]
        return [self.printer.record(rows) if rows else Text("<<>>")]

    # --- as actions ------------------------------------------------------------------------------

    def step(self, step: s.Step) -> Doc:
        """A step of a system."""
        self.printer.state = replace(self.printer.state, work=self.work)
        told = call("Takes", Text(f'"{step.name}"'), *self.told_arguments(step.params))
        return self.run(step.body, lambda: [ListItem(told, told)] if self.watched else [])

    def run(self, body: Sequence[s.Statement], finish: Finish) -> Doc:
        """The statements in order; what follows a let, a pick or a call stands inside of it."""
        items: list[ListItem] = []
        for place, statement in enumerate(body):
            after = body[place + 1 :]
            match statement:
                case n.Assign(variable=variable, value=value):
                    name = self.printer.names.of("variable", variable)
                    self.changed.add(name)
                    items.append(open_item(self.assigned(name, value)))
                case n.Require(condition=condition, label=label):
                    first, *others = self.condition(condition)
                    items += (replace(first, note=label), *others)
                case n.Bind():
                    binds = leading(body[place:])
                    rows = tuple(self.bind(bind) for bind in binds)
                    rest = self.run(body[place + len(binds) :], finish)
                    return listed("/\\", [*items, open_item(Where(rows, rest))])
                case n.Pick():
                    name = self.printer.local(statement.name)
                    picked = Around(f"\\E {name} \\in ", self.choices(statement))
                    doc = Binding(picked, self.run(after, finish))
                    return listed("/\\", [*items, open_item(doc)])
                case n.CallOperation():
                    doc = Binding(self.call(statement), self.run(after, finish))
                    return listed("/\\", [*items, open_item(doc)])
        return listed("/\\", [*items, *self.ending(finish)])

    def assigned(self, name: str, value: s.Expr) -> Doc:
        """`x' = value`."""
        piece = self.printer.doc(value, 2)
        return Around(f"{name}' = ", piece)

    def ending(self, finish: Finish) -> list[ListItem]:
        """Parts that calls have changed, what is told, and what stays."""
        items: list[ListItem] = []
        for part, text in self.work.items():
            self.changed.add(part)
            items.append(ListItem(Text(f"{part}' = {text}"), Text(f"{part}' = {text}")))
        items += finish()
        rest = tuple(name for name in self.variables if name not in self.changed)
        if rest:
            doc: Doc = Filled("UNCHANGED <<", rest, ">>")
            items.append(ListItem(doc, doc))
        return items

    def bind(self, bind: n.Bind[s.Expr]) -> Row:
        """A definition of `LET`."""
        value = Noted(tuple(notes(bind.doc)), self.printer.doc(bind.value))
        return self.printer.local(bind.name), value

    def condition(self, e: s.Expr) -> list[ListItem]:
        """The parts of a condition, so written that TLC does not branch on them."""
        items: list[ListItem] = []
        for part in operands(e, "and"):
            if plain(part):
                items.append(self.printer.item(part))
            else:
                held = call("Holds", self.printer.doc(part))
                items.append(ListItem(held, held))
        return items

    def choices(self, pick: n.Pick[s.Expr]) -> Doc:
        """The set to pick from."""
        if pick.index is None:
            return self.options(pick)
        variable, kind = pick.index
        name = self.printer.local(variable)
        head = f"[{name} \\in {bare(self.printer.types.set(kind))} |-> "
        return call("Choices", Around(head, self.options(pick), "]"))

    def options(self, pick: n.Pick[s.Expr]) -> Doc:
        """The members of the domain, or what stands for none."""
        if never_empty(pick.domain, {}):
            return self.printer.members(pick.domain)
        return call("OrNone" if pick.or_none else "NotEmpty", self.printer.doc(pick.domain))

    def call(self, made: n.CallOperation[s.Expr]) -> Doc:
        """`\\E outcome \\in operation(part, ...)`; what follows sees the reply."""
        printer = self.printer
        part = printer.state.parts[made.part]
        whole = printer.names.of("variable", part.name)
        held = self.work.get(whole, whole)
        self.outcomes += 1
        number = self.outcomes if self.outcomes > 1 else ""
        outcome = printer.names.free(f"outcome{number}")
        inner = held
        after = f"{outcome}.state"
        if made.index is not None:
            key = " ".join(printer.doc(made.index).lines(1000))
            inner = f"{held}[{key}]"
            after = f"[{held} EXCEPT ![{key}] = {outcome}.state]"
        name = printer.names.of("outcomes", f"{part.component}.{made.operation}")
        doc = call(name, Text(inner), *(printer.doc(a) for a in made.args))
        self.work[whole] = after
        if made.result:
            printer.renamed[made.result] = f"{outcome}.reply"
        return Around(f"\\E {outcome} \\in ", doc)

    # --- as sets of outcomes ---------------------------------------------------------------------

    def outcome(self, body: Sequence[s.Change], reply: s.Expr, new: dict[str, Doc]) -> Doc:
        """The set of replies and states that a branch of an operation of a part allows."""
        for place, statement in enumerate(body):
            after = body[place + 1 :]
            match statement:
                case n.Assign(variable=variable, value=value):
                    new = new | {variable: self.printer.doc(value)}
                case n.Bind():
                    binds = leading(body[place:])
                    rows = tuple(self.bind(bind) for bind in binds)
                    return Where(rows, self.outcome(body[place + len(binds) :], reply, new))
                case n.Pick():
                    head = Around(
                        f"{self.printer.local(statement.name)} \\in ", self.choices(statement)
                    )
                    inner = self.outcome(after, reply, new)
                    return Around("UNION {", Binding(inner, head), "}")
        changes = tuple(Around(f"!.{name} = ", value) for name, value in new.items())
        state = Listed("[self EXCEPT ", changes, "]") if changes else Text("self")
        fields = [("reply", self.printer.doc(reply)), ("state", state)]
        return Around("{", self.printer.record(fields), "}")


def leading(body: Sequence[s.Statement]) -> list[n.Bind[s.Expr]]:
    """The lets at the head of a body."""
    found: list[n.Bind[s.Expr]] = []
    for statement in body:
        if not isinstance(statement, n.Bind):
            break
        found.append(statement)
    return found


def definition(name: str, params: Sequence[str], body: Doc, width: int = 100) -> list[str]:
    """`name(params) == body`, the body on lines of its own where it is long."""
    head = f"{name}({', '.join(params)}) ==" if params else f"{name} =="
    flat = body.flat
    if flat and len(head) + 1 + len(flat) <= width:
        return [f"{head} {flat}"]
    return [head, *("  " + line if line else "" for line in body.lines(width - 2))]
