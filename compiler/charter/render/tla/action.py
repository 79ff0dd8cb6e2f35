"""Prints operations and steps as TLA+ actions; a part's operations as sets of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core import small as s
from charter.core.walk import never_empty, operands
from charter.render.tla.boxes import (
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
from charter.render.tla.expr import Printer
from charter.render.tla.types import bare

Row = tuple[str, Doc]
Finish = Callable[[], list[ListItem]]


def cite(citations: tuple[n.Citation, ...]) -> str:
    """The text of citations: `cites source "section", ...`; "" without citations."""
    texts = [
        citation.source + (f' "{citation.section}"' if citation.section else "")
        for citation in citations
    ]
    return f"cites {', '.join(texts)}" if texts else ""


def notes(doc: str, citations: tuple[n.Citation, ...] = ()) -> list[str]:
    """The lines of a doc text, then a line with its citations."""
    lines = [line.strip() for line in doc.strip().splitlines()] if doc.strip() else []
    cites = cite(citations)
    return [*lines, cites] if cites else lines


def list_items(op: str, items: Sequence[ListItem]) -> Doc:
    """The items joined by `op`; a single item without a note stands alone."""
    return items[0].loose if len(items) == 1 and not items[0].note else Bullets(op, tuple(items))


def open_item(doc: Doc) -> ListItem:
    """An item that needs parentheses when it stands on one line with others."""
    return ListItem(doc, parens(doc))


def argument_field(param: n.Param) -> str:
    """The name of the field of `event.args` that holds an argument."""
    return param.name.replace("#", "_")


def guard(name: str, body: Noted) -> Doc:
    """The body of a branch with `Holds(name)` as its first conjunct, under the branch's
    comments."""
    held = call("Holds", Text(name))
    inner = body.inner
    items = inner.items if isinstance(inner, Bullets) else (open_item(inner),)
    return Noted(body.notes, Bullets("/\\", (ListItem(held, held), *items)))


def plain(e: s.Expr) -> bool:
    """Whether TLC evaluates a condition at the head of an action without branching on it. Other
    conditions are wrapped in `Holds`."""
    match e:
        case n.Binary():
            return e.traits.is_test or e.op == "implies"
        case n.Unary() | n.Literal():
            return True
        case _:
            return False


@dataclass(slots=True)
class ActionPrinter:
    """Prints one operation or step. `variables` are the machine's variables under their TLA+ names;
    `work` maps a part's variable to the text of its state after the calls so far; `watched`: the
    action records what it did in `event`; `arguments`: and its arguments."""

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
        """Prints the branches: the first one (or group of them) with a true guard applies.
        `outcomes`: as a set of outcomes instead of an action. Where an assumption is false an
        action is not enabled, and outcomes have no value."""
        groups: list[list[s.Branch]] = []
        for branch in operation.branches:
            if groups and branch.group and groups[-1][0].group == branch.group:
                groups[-1].append(branch)
            else:
                groups.append([branch])
        doc = self.rest(operation, groups, set(), outcomes)
        if not operation.assumes:
            return doc
        if outcomes:
            why = f'"an assumption of {operation.name} is false"'
            refused = call("Assert", Text("FALSE"), Text(why))
            items = tuple(self.printer.item(one.condition) for one in operation.assumes)
            return Choice(
                items[0].loose if len(items) == 1 else Bullets("/\\", items), doc, refused
            )
        items = tuple(item for one in operation.assumes for item in self.condition(one.condition))
        return Bullets("/\\", (*items, open_item(doc)))

    def rest(
        self, operation: s.Operation, groups: list[list[s.Branch]], known: set[str], sets: bool
    ) -> Doc:
        """Prints `groups` as nested `IF`s. `known` holds the lets already printed and is
        extended."""
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
        """Prints the first group, of which every branch with a true guard may apply; then the
        others. The guards are appended to the `LET` rows in `more`."""
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
                items.append(open_item(guard(name, body)))
        together: Doc = list_items("\\/", items)
        if sets:
            together = Listed("UNION {", tuple(item.loose for item in items), "}")
        if not all(branch.guard for branch in groups[0]):
            return together
        return Choice(
            list_items("\\/", names), together, self.rest(operation, groups[1:], known, sets)
        )

    def guard_name(self, branch: str) -> str:
        """An unused name for the guard of a branch."""
        name = self.printer.names.free(branch)
        while name in self.printer.renamed.values():
            name += "_"
        return name

    def guard(self, branch: s.Branch) -> Doc:
        """The conjuncts of a guard, their labels as comments."""
        items: list[ListItem] = []
        for conjunct in branch.guard:
            label = "" if conjunct.label.isdigit() else conjunct.label
            items.append(self.printer.item(conjunct.condition, label))
        if len(items) == 1:
            note = items[0].note
            return Remarked(items[0].loose, note) if note else items[0].loose
        return Bullets("/\\", tuple(items))

    def branch(self, operation: s.Operation, branch: s.Branch, sets: bool) -> Noted:
        """Prints the body of a branch under a comment with the branch's name."""
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
        """The conjunct that records the branch, the arguments and the reply in `event`."""
        args = self.record_arguments(params)
        recorded = call("Answers", Text(f'"{label}"'), *args, self.printer.doc(reply))
        return [ListItem(recorded, recorded)]

    def record_arguments(self, params: Sequence[n.Param]) -> list[Doc]:
        """The record of the arguments as a list of one; an empty list if no property reads them."""
        if not self.arguments:
            return []
        rows: list[Row] = [(argument_field(p), Text(self.printer.local(p.name))) for p in params]
        return [self.printer.record(rows) if rows else Text("<<>>")]

    # --- as actions ------------------------------------------------------------------------------

    def step(self, step: s.Step) -> Doc:
        """Prints a step of a system as an action."""
        self.printer.state = replace(self.printer.state, work=self.work)
        recorded = call("Takes", Text(f'"{step.name}"'), *self.record_arguments(step.params))
        return self.run(step.body, lambda: [ListItem(recorded, recorded)] if self.watched else [])

    def run(self, body: Sequence[s.Statement], finish: Finish) -> Doc:
        """Prints statements in order; those after a let, a pick or a call are nested inside it.
        `finish` gives the conjuncts that record what happened."""
        items: list[ListItem] = []
        for place, statement in enumerate(body):
            after = body[place + 1 :]
            match statement:
                case n.Assign(variable=variable):
                    name = self.printer.names.of("variable", variable)
                    self.changed.add(name)
                    items.append(open_item(self.printer.equal(f"{name}'", statement.value)))
                case n.Require(label=label):
                    first, *others = self.condition(statement.condition)
                    items += (replace(first, note=label), *others)
                case n.Bind():
                    binds = leading(body[place:])
                    rows = tuple(self.bind(bind) for bind in binds)
                    rest = self.run(body[place + len(binds) :], finish)
                    return list_items("/\\", [*items, open_item(Where(rows, rest))])
                case n.Pick():
                    name = self.printer.local(statement.name)
                    picked = Around(f"\\E {name} \\in ", self.choices(statement))
                    doc = Binding(picked, self.run(after, finish))
                    return list_items("/\\", [*items, open_item(doc)])
                case n.CallOperation():
                    doc = Binding(self.call(statement), self.run(after, finish))
                    return list_items("/\\", [*items, open_item(doc)])
        return list_items("/\\", [*items, *self.ending(finish)])

    def ending(self, finish: Finish) -> list[ListItem]:
        """The last conjuncts of an action: new states of called parts, then those of `finish`, then
        `UNCHANGED` for all other variables."""
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
        """One definition of a `LET`: its name and value."""
        value = Noted(tuple(notes(bind.doc)), self.printer.doc(bind.value))
        return self.printer.local(bind.name), value

    def condition(self, e: s.Expr) -> list[ListItem]:
        """The conjuncts of a condition, wrapped in `Holds` where TLC would branch on them."""
        items: list[ListItem] = []
        for part in operands(e, "and"):
            if plain(part):
                items.append(self.printer.item(part))
            else:
                held = call("Holds", self.printer.doc(part))
                items.append(ListItem(held, held))
        return items

    def choices(self, pick: n.Pick[s.Expr]) -> Doc:
        """The set that a pick chooses from; for a pick per key a set of functions."""
        if pick.index is None:
            return self.options(pick)
        variable, kind = pick.index
        name = self.printer.local(variable)
        head = f"[{name} \\in {bare(self.printer.types.set(kind))} |-> "
        return call("Choices", Around(head, self.options(pick), "]"))

    def options(self, pick: n.Pick[s.Expr]) -> Doc:
        """The members of a pick's domain. An empty domain gives none (`or_none`) or an error."""
        if never_empty(pick.domain, {}):
            return self.printer.members(pick.domain)
        return call("OrNone" if pick.or_none else "NotEmpty", self.printer.doc(pick.domain))

    def call(self, made: n.CallOperation[s.Expr]) -> Doc:
        """The binder of a call, `\\E outcome \\in operation(part, ...)`. Statements after it read
        the reply and the part's new state from the outcome."""
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
        """The set of outcomes, records of reply and state, that a branch of a part's operation
        allows. `new` holds the values assigned so far, by variable."""
        for place, statement in enumerate(body):
            after = body[place + 1 :]
            match statement:
                case n.Assign(variable=variable):
                    new = new | {variable: self.printer.doc(statement.value)}
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
    """The lets before the first other statement."""
    found: list[n.Bind[s.Expr]] = []
    for statement in body:
        if not isinstance(statement, n.Bind):
            break
        found.append(statement)
    return found


def definition(name: str, params: Sequence[str], body: Doc, width: int = 100) -> list[str]:
    """The lines of `name(params) == body`; a body that is too long starts on the next line."""
    head = f"{name}({', '.join(params)}) ==" if params else f"{name} =="
    flat = body.flat
    if flat and len(head) + 1 + len(flat) <= width:
        return [f"{head} {flat}"]
    return [head, *("  " + line if line else "" for line in body.lines(width - 2))]
