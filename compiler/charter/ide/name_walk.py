"""Finds the declarations of a protocol, and the names that stand outside of expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace

from charter.check.names.docs import doc_of
from charter.check.names.types import show_type
from charter.core import types as ty
from charter.diagnostics import Span
from charter.ide.index import Key, Symbol
from charter.ide.name_meanings import Notes, local, place_of
from charter.syntax import nodes as sx


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a node stands: the machine, the operation or step, and the branch around it; in a
    function, a set-up or a fragment `machine` is "function", "setup" or "fragment" with the name as
    `operation`. `edits`: declarations here replace others."""

    machine: str = ""
    operation: str = ""
    branch: str = ""
    system: str = ""
    edits: bool = False


def parts_of(node: sx.Node) -> Iterator[sx.Node]:
    """The nodes directly below a node."""
    for each in fields(node):
        value = getattr(node, each.name)
        if isinstance(value, sx.Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, sx.Node))


def squeeze(span: Span, end: int) -> str:
    """The text from the start of a span to `end`, on one line."""
    return " ".join(span.source.text[span.start : end].split())


@dataclass(slots=True)
class NameWalk:
    """Collects symbols, and names with the keys that they may have, the first declared one
    counts."""

    notes: Notes
    symbols: dict[Key, Symbol] = field(default_factory=dict)
    named: list[tuple[tuple[Key, ...], Span]] = field(default_factory=list)
    declared: list[tuple[Key, Span]] = field(default_factory=list)
    owners: list[tuple[Span, Key]] = field(default_factory=list)

    def declare(self, key: Key, name: sx.Name, item: sx.Node, kind: str, head: str) -> None:
        """A declaration; a second one of its key is another place of the first."""
        doc, cited = "", getattr(item, "citations", ())
        if isinstance(item, sx.Item):
            doc = doc_of(item) or item.trailing.strip()
        self.symbols.setdefault(key, Symbol(key, kind, name.span, item.span, head, doc, cited))
        self.declared.append((key, name.span))
        self.use(name.span, key)

    def use(self, span: Span, *keys: Key) -> None:
        """A name that means one of `keys`."""
        self.named.append((keys, span))

    def params(self, owner: Key, params: Iterable[sx.Param]) -> None:
        for param in params:
            head = squeeze(param.span, param.span.end)
            self.declare((*owner, param.name.text), param.name, param, "parameter", head)

    def local(self, name: sx.Name, item: sx.Node, kind: str, of: ty.Type | None) -> None:
        """A local; its type is known from its uses, or from what it ranges over."""
        if name.text == "_":
            return
        of = self.notes.locals.get(local(name.span), of)
        head = name.text if of is None else f"{name.text}: {show_type(of)}"
        self.declare(local(name.span), name, item, kind, head)

    def type_of(self, node: sx.Expr) -> ty.Type | None:
        """The type that the checks found for an expression."""
        return self.notes.types.get(place_of(node.span))

    def inner_of(self, node: sx.Expr) -> ty.Type | None:
        """The type of the members of a domain."""
        kind = self.type_of(node)
        return kind.inner if isinstance(kind, ty.Set) else None

    def visit(self, node: sx.Node, at: Surroundings) -> None:
        """A node and all below it."""
        inside = self._declaration(node, at)
        self._mention(node, at)
        for part in parts_of(node):
            self.visit(part, inside)

    # --- declarations ----------------------------------------------------------------------------

    def _declaration(self, node: sx.Node, at: Surroundings) -> Surroundings:
        """Declare what `node` declares; returns where its parts stand."""
        match node:
            case sx.SourceDecl(name=name, title=title):
                self.declare(("source", name.text), name, node, "source", title)
            case sx.SortDecl() | sx.CounterDecl() | sx.ConstDecl() | sx.AliasDecl():
                self._global(node.name, node, _KINDS[type(node)])
            case sx.EnumDecl() | sx.RecordDecl() | sx.UnionDecl():
                self._global(node.name, node, _KINDS[type(node)])
                self._members(node)
            case sx.FunDecl(name=name):
                head = squeeze(node.span, node.result.span.end)
                self.declare(("function", name.text), name, node, "function", head)
                self.params(("param", "function", name.text), node.params)
                return Surroundings("function", name.text)
            case sx.ComponentDecl(name=name) | sx.SystemDecl(name=name):
                kind = "component" if isinstance(node, sx.ComponentDecl) else "system"
                self.declare(("machine", name.text), name, node, kind, f"{kind} {name.text}")
                return Surroundings(name.text, system=name.text)
            case sx.PropertyDecl(kind=kind, name=name):
                head = f"{kind} {name.text} of {node.machine.text}"
                self.declare(("property", name.text), name, node, kind, head)
                return Surroundings(node.machine.text)
            case sx.EventuallyDecl(name=name):
                head = f"eventually {name.text} of {node.machine.text}"
                self.declare(("property", name.text), name, node, "eventually", head)
                return Surroundings(node.machine.text)
            case sx.VariantDecl() | sx.MutantDecl() | sx.OverlayDecl() | sx.OverlayEntry():
                return self._walk_edit(node, at)
            case _:
                return self._in_machine(node, at)
        return at

    def _global(self, name: sx.Name, node: sx.Node, kind: str) -> None:
        self.declare(("global", name.text), name, node, kind, squeeze(node.span, node.span.end))

    def _members(self, node: sx.EnumDecl | sx.RecordDecl | sx.UnionDecl) -> None:
        of = node.name.text
        match node:
            case sx.EnumDecl(members=members):
                for name in members:
                    self.declare(("global", name.text), name, name, "member", f"{name.text}: {of}")
            case sx.RecordDecl(fields=lines):
                for line in lines:
                    kind = squeeze(line.type.span, line.type.span.end)
                    for name in line.names:
                        key = ("field", of, name.text)
                        self.declare(key, name, line, "field", f"{of}.{name.text}: {kind}")
            case sx.UnionDecl(cases=cases):
                for case in cases:
                    head = f"{squeeze(case.span, case.span.end)}: {of}"
                    self.declare(("global", case.name.text), case.name, case, "case", head)
                    self.params(("param", of, case.name.text), case.params)

    def _walk_edit(
        self,
        node: sx.VariantDecl | sx.MutantDecl | sx.OverlayDecl | sx.OverlayEntry,
        at: Surroundings,
    ) -> Surroundings:
        kind = _KINDS[type(node)]
        self.declare((kind, node.name.text), node.name, node, kind, f"{kind} {node.name.text}")
        return replace(at, edits=True)

    def _in_machine(self, node: sx.Node, at: Surroundings) -> Surroundings:
        match node:
            case sx.StateDecl(name=name, type=kind):
                head = squeeze(node.span, kind.span.end)
                self.declare(("state", at.machine, name.text), name, node, "state", head)
            case sx.PartDecl(name=name) | sx.ChannelDecl(name=name):
                what = "part" if isinstance(node, sx.PartDecl) else "channel"
                head = squeeze(node.span, node.span.end)
                self.declare(("state", at.machine, name.text), name, node, what, head)
            case sx.Operation(name=name):
                head = squeeze(node.span, node.result.span.end)
                return self._callable(name, node, "operation", head, at)
            case sx.StepDecl(name=name):
                end = max((p.span.end + 1 for p in node.params), default=name.span.end)
                return self._callable(name, node, "step", squeeze(node.span, end), at)
            case sx.Branch(name=name):
                key: Key = ("branch", at.machine, at.operation, name.text)
                head = f"branch {at.operation}/{name.text}"
                self.declare(key, name, node, "branch", head)
                return replace(at, branch=name.text)
            case sx.Conjunct(label=sx.Name() as label):
                key = ("conjunct", at.machine, at.operation, at.branch, label.text)
                self.declare(key, label, node, "condition", squeeze(node.span, node.span.end))
            case sx.Assume(label=sx.Name() as label):
                key = ("conjunct", at.machine, at.operation, "", label.text)
                self.declare(key, label, node, "condition", squeeze(node.span, node.span.end))
            case sx.SetupDecl() | sx.FragmentDecl():
                return self._walk_shared(node)
            case sx.InstanceDecl(name=name):
                head = f"instance {name.text} of {node.machine.text}"
                self.declare(("instance", name.text), name, node, "instance", head)
                return Surroundings(node.machine.text)
            case sx.ScenarioDecl():
                key, head = ("scenario", node.title), f"scenario of {node.machine.text}"
                symbol = Symbol(key, "scenario", node.span, node.span, head, doc_of(node),
                                node.citations)  # fmt: skip
                self.symbols.setdefault(key, symbol)
                return Surroundings(node.machine.text)
            case sx.ReplaceBranch(at=place) | sx.ReplaceOperation(at=place):
                return _at(place, at)
            case sx.ReplacePart(at=place) | sx.AddFault(at=place):
                return _at(place, at)
            case sx.Add(at=sx.Address() as place):
                return _at(place, at)
            case _:
                self._binding(node)
        return at

    def _callable(
        self,
        name: sx.Name,
        node: sx.Operation | sx.StepDecl,
        kind: str,
        head: str,
        at: Surroundings,
    ) -> Surroundings:
        self.declare(("operation", at.machine, name.text), name, node, kind, head)
        self.params(("param", at.machine, name.text), node.params)
        return replace(at, operation=name.text, branch="")

    def _walk_shared(self, node: sx.SetupDecl | sx.FragmentDecl) -> Surroundings:
        kind, name = ("setup" if isinstance(node, sx.SetupDecl) else "fragment"), node.name
        table = "instance" if kind == "setup" else "fragment"
        self.declare(
            (table, name.text), name, node, kind, squeeze(node.span, node.machine.span.end)
        )
        owner = ("param", kind, name.text)
        self.params(owner, node.params)
        self.owners.append((node.span, owner))
        return Surroundings(node.machine.text)

    def _binding(self, node: sx.Node) -> None:
        match node:
            case sx.Let(name=name, value=value) | sx.LetIn(name=name, value=value):
                self.local(name, node, "let", self.type_of(value))
            case sx.Pick(name=name):
                self.local(name, node, "pick", self.inner_of(node.domain))
            case sx.Binder(name=name):
                self.local(name, node, "variable", self.inner_of(node.domain))
            case sx.CallOperation(result=sx.Name() as name) | sx.Receive(name=name):
                self.local(name, node, "let", None)
            case sx.PatternBinder():
                for bound in (node.key, node.value):
                    if isinstance(bound, sx.Name):
                        self.local(bound, node, "variable", None)
            case sx.Pattern(names=names) | sx.Case(names=names):
                for name in names:
                    self.local(name, node, "variable", None)
            case _:
                pass

    # --- names outside of expressions ------------------------------------------------------------

    def _mention(self, node: sx.Node, at: Surroundings) -> None:
        match node:
            case sx.NamedType(name=name):
                self.use(node.span, ("global", name))
            case sx.IntType(low=low, high=high):
                self._limits(low, high)
            case sx.SeqType(limit=limit):
                self._limits(limit)
            case sx.Citation(source=source):
                start = node.span.start
                span = Span(node.span.source, start, start + len(source))
                self.use(span, ("source", source))
            case sx.Address():
                self._address(node)
            case sx.Pattern(tag=tag):
                self.use(tag.span, ("global", tag.text))
            case sx.PropertyDecl() | sx.EventuallyDecl() | sx.SetupDecl() | sx.FragmentDecl():
                self.use(node.machine.span, ("machine", node.machine.text))
            case sx.InstanceDecl() | sx.ScenarioDecl():
                self.use(node.machine.span, ("machine", node.machine.text))
            case sx.FunDecl(machine=sx.Name() as name) | sx.OverlayDecl(component=name):
                self.use(name.span, ("machine", name.text))
            case sx.PartDecl(component=name):
                self.use(name.span, ("machine", name.text))
            case sx.MutantDecl(instance=instance, caught_by=caught):
                self.use(instance.span, ("instance", instance.text))
                self.use(caught.span, ("property", caught.text))
            case sx.VariantDecl(after=after):
                for name in after:
                    self.use(name.span, ("variant", name.text))
            case _:
                self._mention_in_body(node, at)

    def _limits(self, *limits: sx.Expr) -> None:
        for limit in limits:
            match limit:
                case sx.Ident(name=name):
                    self.use(limit.span, ("global", name))
                case sx.Binary():
                    self._limits(limit.left)
                case _:
                    pass

    def _mention_in_body(self, node: sx.Node, at: Surroundings) -> None:
        match node:
            case sx.Assign():
                self._target(node.target, at)
            case (
                sx.Flush(name=name)
                | sx.StateDecl(on_disk=sx.Name() as name)
                | sx.Crash(kept=sx.Name() as name)
            ):
                self.use(name.span, ("state", at.machine, name.text))
            case sx.Send(channel=channel) | sx.Receive(channel=channel) | sx.Clear(channel=channel):
                self.use(channel.span, ("state", at.machine, channel.text))
            case sx.CallOperation(instance=part, operation=operation):
                self.use(part.span, ("state", at.machine, part.text))
                self._operation(self._component(at.machine, part.text), operation, None, node.args)
            case sx.StepDecl(budget=sx.Name() as budget):
                self.use(budget.span, ("global", budget.text))
            case sx.Observed(path=path):
                self._walk_observed(path, at)
            case sx.Fair(step=step, params=params):
                self._operation(at.machine, step, None, ())
                for name in params:
                    self.use(name.span, ("param", at.machine, step.text, name.text))
            case sx.Do(operation=operation, branch=branch):
                self._operation(at.machine, operation, branch, node.args)
            case sx.Only(operation=operation):
                self._operation(at.machine, operation, None, ())
                self.owners.append((node.span, ("param", at.machine, operation.text)))
            case sx.Offers(operations=operations):
                for name in operations:
                    self._operation(at.machine, name, None, ())
            case sx.Bound(name=name):
                self.use(name.span, ("global", name.text))
                self._elements(node.value)
            case sx.Start(name=name):
                self._start(name, at)
            case sx.Misses(names=names):
                for name in names:
                    self._walk_missed(name, at)
            case sx.Fails(names=names):
                for name in names:
                    self.use(name.span, ("property", name.text))
            case sx.Like(name=name):
                self.use(name.span, ("instance", name.text))
                self.notes.arguments(("param", "setup", name.text), node.args)
            case sx.Include(name=name):
                self.use(name.span, ("fragment", name.text))
                self.notes.arguments(("param", "fragment", name.text), node.args)
            case sx.ReplaceFun(name=name):
                self.use(name.span, ("function", name.text))
            case sx.ReplacePart(what=what, name=name, at=place):
                self._part(what, name, place)
            case sx.Drop(what=what, name=name, at=place):
                self._part(what, name, place)
            case _:
                pass

    def _operation(
        self, machine: str, name: sx.Name, branch: sx.Name | None, args: Iterable[sx.Expr]
    ) -> None:
        lost = ("state", machine, name.text.removeprefix("lose_"))
        if not name.text.startswith("lose_"):
            lost = ("operation", machine, name.text)
        self.use(name.span, ("operation", machine, name.text), lost)
        if branch is not None:
            self.use(branch.span, ("branch", machine, name.text, branch.text))
        self.notes.arguments(("param", machine, name.text), args)

    def _component(self, system: str, part: str) -> str:
        """The component of a part."""
        found = self.symbols.get(("state", system, part))
        return found.head.split()[-1] if found is not None else ""

    def _target(self, node: sx.Expr, at: Surroundings) -> ty.Type | None:
        """The names of an assignment's target; returns the type of the place."""
        match node:
            case sx.Ident(name=name):
                self.use(Span(node.span.source, node.span.start, node.span.start + len(name)),
                         ("state", at.machine, name))  # fmt: skip
                return self.notes.state.get((at.machine, name))
            case sx.Index():
                kind = self._target(node.target, at)
                return kind.value if isinstance(kind, ty.Map) else None
            case sx.FieldOf(field=name):
                return self._field(self._target(node.target, at), name)
            case _:
                return None

    def _field(self, kind: ty.Type | None, name: sx.Name) -> ty.Type | None:
        if not isinstance(kind, ty.Record):
            return None
        self.use(name.span, ("field", kind.name, name.text))
        return dict(kind.fields).get(name.text)

    def _walk_observed(self, path: tuple[sx.Name, ...], at: Surroundings) -> None:
        head, *rest = path
        self.use(head.span, ("state", at.machine, head.text))
        kind = self.notes.state.get((at.machine, head.text))
        for name in rest:
            while isinstance(kind, ty.Map | ty.Option):
                kind = kind.value if isinstance(kind, ty.Map) else kind.inner
            kind = self._field(kind, name)

    def _elements(self, value: sx.Expr) -> None:
        for item in value.items if isinstance(value, sx.SetLit) else ():
            if isinstance(item, sx.Ident):
                name = sx.Name(item.name, span=item.span)
                self.declare(("element", item.name), name, item, "element", item.name)

    def _start(self, name: sx.Name, at: Surroundings) -> None:
        head, dot, tail = name.text.partition(".")
        first, last = _ends(name, head, tail)
        self.use(first, ("state", at.machine, head))
        if dot:
            self.use(last, ("state", self._component(at.machine, head), tail))

    def _walk_missed(self, name: sx.Name, at: Surroundings) -> None:
        head, slash, tail = name.text.partition("/")
        first, last = _ends(name, head, tail)
        if slash:
            self.use(first, ("operation", at.machine, head))
            self.use(last, ("branch", at.machine, head, tail))
        else:
            self.use(first, ("property", head), ("operation", at.machine, head))

    # --- edits -----------------------------------------------------------------------------------

    def _address(self, node: sx.Address) -> None:
        head, operation, branch = node.head, node.operation, node.branch
        self.use(
            head.span, ("machine", head.text), ("function", head.text), ("property", head.text)
        )
        if operation is not None:
            self.use(operation.span, ("operation", head.text, operation.text))
            if branch is not None:
                key = ("branch", head.text, operation.text, branch.text)
                self.use(branch.span, key)

    def _part(self, what: str, name: sx.Name, at: sx.Address | None) -> None:
        """The name of what an edit replaces or drops."""
        match what, at:
            case (("property" | "witness"), None):
                self.use(name.span, ("property", name.text))
            case (("update" | "history" | "image"), sx.Address(head=head)):
                self.use(name.span, ("state", head.text, name.text))
            case "conjunct", sx.Address(head=head, operation=operation, branch=branch):
                of = tuple("" if part is None else part.text for part in (operation, branch))
                self.use(name.span, ("conjunct", head.text, *of, name.text))
            case _:
                pass


_KINDS = {
    sx.SortDecl: "sort",
    sx.CounterDecl: "counter",
    sx.ConstDecl: "constant",
    sx.AliasDecl: "type",
    sx.EnumDecl: "enum",
    sx.RecordDecl: "record",
    sx.UnionDecl: "union",
    sx.VariantDecl: "variant",
    sx.MutantDecl: "mutant",
    sx.OverlayDecl: "overlay",
    sx.OverlayEntry: "entry",
}


def _at(place: sx.Address, at: Surroundings) -> Surroundings:
    """Where what an edit brings stands."""
    operation = "" if place.operation is None else place.operation.text
    branch = "" if place.branch is None else place.branch.text
    return replace(at, machine=place.head.text, operation=operation, branch=branch)


def _ends(name: sx.Name, head: str, tail: str) -> tuple[Span, Span]:
    """The first and the last part of a name of two parts."""
    source, start, end = name.span.source, name.span.start, name.span.end
    return Span(source, start, start + len(head)), Span(source, end - len(tail), end)
