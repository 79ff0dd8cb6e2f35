"""Checks beyond types: totality, shadowed branches, ghost state, failover, empty choices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from charter.check.names.types import is_wrong
from charter.check.warnings.facts import Facts, can_pick
from charter.core import nodes as ir
from charter.core.walk import nodes, operands, statement_expressions
from charter.diagnostics import Diagnostics
from charter.formats.image import is_of_image

FAILOVER = "failover"


Functions = Mapping[str, ir.Function]


def check_component(
    component: ir.Component, functions: Functions, diagnostics: Diagnostics
) -> None:
    """All effects of one component."""
    ghosts = ghosts_of(component)
    for operation in component.operations:
        _total(operation, diagnostics)
        _assumed(operation, diagnostics)
        _reachable(operation, diagnostics)
        for branch in operation.branches:
            if ghosts:
                _Ghosts(ghosts, diagnostics).branch(branch)
        for facts, branch in with_facts(operation):
            _picks(branch.body, facts, functions, diagnostics)
    _failover(component, diagnostics)


def check_faults(component: ir.Component, ghosts: frozenset[str], diagnostics: Diagnostics) -> None:
    """Check that faults, and what images show, do not read ghost state: the generated models that
    the judge asks have none."""
    for operation in component.operations:
        for branch in operation.branches:
            if branch.faults:
                _Ghosts(ghosts, diagnostics).faults(branch)
            if is_of_image(operation.name):
                _Ghosts(ghosts, diagnostics).refuse(branch.reply, "an image")


def ghosts_of(component: ir.Component) -> frozenset[str]:
    """The names of its ghost state."""
    return frozenset(v.name for v in component.state if v.kind == "ghost")


def check_system(system: ir.System, functions: Functions, diagnostics: Diagnostics) -> None:
    """Choices and ghost state of the steps of a system."""
    ghosts = frozenset(v.name for v in system.state if v.kind == "ghost")
    for step in system.steps:
        _picks(step.body, Facts(()), functions, diagnostics)
        if ghosts:
            _Ghosts(ghosts, diagnostics).body(step.body)


def _total(operation: ir.Operation, diagnostics: Diagnostics) -> None:
    if not operation.branches:
        message = f"{operation.name} has no branch"
        diagnostics.error("operation/not-total", message, operation.span)
        return
    last = operation.branches[-1]
    final = [b for b in operation.branches if b is last or (b.group and b.group == last.group)]
    if any(is_open_guard(branch) for branch in final):
        return
    message = f"{operation.name} has no branch for states where the guard of {last.name} is false"
    hint = "remove `when` from the last branch, or add a branch without it"
    diagnostics.error("operation/not-total", message, last.span, hint=hint)


def _assumed(operation: ir.Operation, diagnostics: Diagnostics) -> None:
    """Report assumptions that are false for all arguments in all states."""
    for assumed in operation.assumes:
        if _is_false(assumed.condition):
            message = f"{operation.name} can never happen: this assumption is always false"
            hint = "an assumption says what is true whenever the environment does this"
            diagnostics.error("operation/never", message, assumed.span, hint=hint)


def _is_false(expr: ir.Expr) -> bool:
    """Whether an expression is false in every state, as far as its text shows."""
    match expr:
        case _ if is_wrong(expr):
            return False
        case ir.Literal():
            return expr.value is False
        case ir.Unary(op="not"):
            return _is_true(expr.operand)
        case ir.Binary(op="ne" | "lt" | "gt"):
            return expr.left == expr.right
        case ir.Binary(op="and"):
            return _is_false(expr.left) or _is_false(expr.right)
        case ir.Binary(op="or"):
            return _is_false(expr.left) and _is_false(expr.right)
        case ir.Let():
            return _is_false(expr.body)
        case _:
            return False


def is_open_guard(branch: ir.Branch) -> bool:
    """Whether the guard is true in every state, as far as its text shows."""
    return all(_is_true(part) for part in _parts(branch))


def _parts(branch: ir.Branch) -> list[ir.Expr]:
    """The conjuncts of a branch's guard, those inside labels too."""
    return [part for conjunct in branch.guard for part in operands(conjunct.condition, "and")]


def _is_true(expr: ir.Expr) -> bool:
    match expr:
        case _ if is_wrong(expr):
            return False
        case ir.Literal():
            return expr.value is True
        case ir.Binary() if expr.traits.is_reflexive:
            return expr.left == expr.right
        case ir.Binary(op="or"):
            return _is_true(expr.left) or _is_true(expr.right)
        case _:
            return False


def _reachable(operation: ir.Operation, diagnostics: Diagnostics) -> None:
    """Report shadowed branches: an earlier branch outside its group is enabled whenever it is. The
    earlier ones are found by the first part of their guard that is not always true."""
    needs: dict[ir.Expr | None, list[tuple[int, ir.Branch, frozenset[ir.Expr]]]] = {}
    for position, branch in enumerate(operation.branches):
        conditions = frozenset(part for part in _parts(branch) if not is_wrong(part))
        shadows = (
            (at, before)
            for first in (None, *conditions)
            for at, before, needed in needs.get(first, ())
            if needed <= conditions and not (before.group and before.group == branch.group)
        )
        found = min(shadows, key=lambda shadow: shadow[0], default=None)
        if found is not None:
            message = f"{branch.name} is never reached: {found[1].name} is taken before it"
            notes = (("this one is taken", found[1].span),)
            diagnostics.error("branch/shadowed", message, branch.span, notes=notes)
        parts = tuple(part for part in _parts(branch) if not _is_true(part))
        first_part = parts[0] if parts else None
        needs.setdefault(first_part, []).append((position, branch, frozenset(parts)))


def with_facts(operation: ir.Operation) -> Iterator[tuple[Facts, ir.Branch]]:
    """Each branch with the facts that hold in its body: assumptions and its guard are true, the
    guards of earlier branches are false."""
    refused = [assumed.condition for assumed in operation.assumes]
    members = defaultdict[int, list[ir.Branch]](list)
    for branch in operation.branches:
        members[branch.group].append(branch)
    branches = (*operation.branches, None)
    for branch, later in zip(operation.branches, branches[1:], strict=True):
        lets = tuple((let.name, let.value) for let in branch.lets)
        holds = (*refused, *(part.condition for part in branch.guard))
        yield Facts(holds, lets), branch
        if branch.group and later is not None and later.group == branch.group:
            continue
        for done in members[branch.group] if branch.group else (branch,):
            if len(done.guard) == 1:
                only = done.guard[0].condition
                refused.append(ir.Unary("not", only, type=only.type, span=only.span))


def _picks(
    body: Iterable[ir.Statement], facts: Facts, functions: Functions, diagnostics: Diagnostics
) -> None:
    for line in body:
        match line:
            case ir.Bind():
                facts = facts.let(line.name, line.value)
            case ir.Require():
                facts = facts.holding(line.condition)
            case ir.Pick() if is_wrong(line.domain):
                pass  # the error was reported
            case ir.Pick() if not line.or_none and not can_pick(line, facts, functions):
                message = f"`pick {line.name}` may have nothing to pick from"
                hint = "`or none`, or a conjunct of the guard such as `S != {}`"
                diagnostics.error("pick/empty", message, line.domain.span, hint=hint)
            case _:
                pass  # decides nothing that a pick reads


class _Ghosts:
    """Checks that ghost state, and lets that read it, are only used to update ghost state."""

    def __init__(self, ghosts: frozenset[str], diagnostics: Diagnostics) -> None:
        self.ghosts = ghosts
        self.diagnostics = diagnostics
        self.tainted: set[str] = set()

    def branch(self, branch: ir.Branch) -> None:
        """Check one branch."""
        self.lets(branch)
        for conjunct in branch.guard:
            self.refuse(conjunct.condition, "a guard")
        self.body(branch.body)
        self.refuse(branch.reply, "a reply")

    def faults(self, branch: ir.Branch) -> None:
        """Check the faults of a branch."""
        self.lets(branch)
        for fault in branch.faults:
            self.refuse(fault.condition, "a fault")

    def lets(self, branch: ir.Branch) -> None:
        """Remember which of the operation's lets read ghost state."""
        for let in branch.lets:
            if self.reads(let.value):
                self.tainted.add(let.name)

    def body(self, body: Iterable[ir.Statement]) -> None:
        """Check the statements of a branch or a step."""
        for line in body:
            match line:
                case ir.Bind():
                    if self.reads(line.value):
                        self.tainted.add(line.name)
                case ir.Assign() if line.variable in self.ghosts:
                    pass
                case ir.Assign():
                    self.refuse(line.value, f"the update of `{line.variable}`")
                case ir.OnChannel():
                    for expr in statement_expressions(line):
                        self.refuse(expr, f"the update of `{line.channel}`")
                case _:
                    for expr in statement_expressions(line):
                        self.refuse(expr, "a choice, a requirement or a call")

    def reads(self, expr: ir.Expr) -> ir.Expr | None:
        """The first subexpression that reads ghost state, or None."""
        for node in nodes(expr):
            if isinstance(node, ir.StateRef) and node.name in self.ghosts:
                return node
            if isinstance(node, ir.Local) and node.name in self.tainted:
                return node
        return None

    def refuse(self, expr: ir.Expr, what: str) -> None:
        """Report ghost state where it would influence what the component does."""
        found = self.reads(expr)
        if found is not None:
            message = f"{what} reads ghost state; it is for properties and assumptions only"
            self.diagnostics.error("effect/ghost-interference", message, found.span)


def _failover(component: ir.Component, diagnostics: Diagnostics) -> None:
    volatile = {v.name: v for v in component.state if v.kind == "volatile"}
    if not volatile:
        return
    operation = next((o for o in component.operations if o.name == FAILOVER), None)
    if operation is None:
        branches = (b for o in component.operations for b in o.branches)
        if any(_loses(branch, volatile.values()) for branch in branches):
            return
        message = f"{component.name} has volatile state, but no operation `{FAILOVER}`"
        span = next(iter(volatile.values())).span
        hint = f"add `operation {FAILOVER}()` that sets all volatile state, or `crash process`"
        diagnostics.error("effect/failover", message, span, hint=hint)
        return
    for branch in operation.branches:
        left = _left(branch, volatile)
        if left:
            message = f"{FAILOVER}/{branch.name} leaves {', '.join(left)} as it was"
            hint = "volatile state is lost, so every branch assigns all of it"
            diagnostics.error("effect/failover", message, branch.span, hint=hint)


def _left(branch: ir.Branch, volatile: Iterable[str]) -> list[str]:
    """The volatile state that a branch does not set."""
    assigned = {line.variable for line in branch.body if isinstance(line, ir.Assign)}
    return [name for name in volatile if name not in assigned]


def _loses(branch: ir.Branch, volatile: Iterable[ir.StateVar]) -> bool:
    """Whether a branch sets all volatile state to its initial values, as a crash does."""
    made = {line.variable: line.value for line in branch.body if isinstance(line, ir.Assign)}
    return all(made.get(variable.name) == variable.initial for variable in volatile)
