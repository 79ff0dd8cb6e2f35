"""Validates core after elaboration and after every pass, to find bugs of the compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.channels import content_of, each_position, find_received_type, key_types
from charter.core.transition import argument, steps_of
from charter.core.walk import children, prelude_of, statement_expressions

Names = Mapping[str, ty.Type]


class InvalidCore(Exception):
    """Core is malformed: the compiler has a bug. The message has the stage and the problems."""

    def __init__(self, stage: str, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        self.stage = stage
        super().__init__(stage, self.problems)  # what a worker's exception is made of again

    def __str__(self) -> str:
        return f"core is broken after {self.stage}: {'; '.join(self.problems)}"


def validate(model: ir.Model, stage: str) -> None:
    """Check that names are bound and that types agree. Raises `InvalidCore`."""
    checker = _Checker({f.name: f for f in model.functions}, dict(model.consts))
    checker.model(model)
    if checker.problems:
        raise InvalidCore(stage, checker.problems)


def alike(left: ty.Type, right: ty.Type) -> bool:
    """Whether types are equal, apart from ranges of integers and limits of sequences."""
    if left is right:
        return True
    match left, right:
        case (ty.Int(), ty.Int()) | (ty.Bool(), ty.Bool()):
            return True
        case (
            (ty.Option(inner=a), ty.Option(inner=b))
            | (ty.Set(inner=a), ty.Set(inner=b))
            | (ty.Ranking(inner=a), ty.Ranking(inner=b))
            | (ty.Seq(inner=a), ty.Seq(inner=b))
        ):
            return alike(a, b)
        case ty.Map(key=key, value=value), ty.Map(key=other_key, value=other):
            return alike(key, other_key) and alike(value, other)
        case _:
            return left == right


def _arguments(model: ir.Model, machine: str) -> Names:
    """The locals for arguments of a machine's operations or steps in properties of transitions."""
    return {
        argument(name, param.name): param.type
        for name, params in steps_of(model, machine).items()
        for param in params
    }


@dataclass(slots=True)
class _Checker:
    functions: Mapping[str, ir.Function]
    consts: Names
    state: Names = field(default_factory=dict)
    replies: Mapping[tuple[str, str], ty.Type] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def problem(self, text: str, node: ir.Expr | ir.Placed) -> None:
        self.problems.append(f"{text} ({node.span.where()})")

    def agree(self, expr: ir.Expr, wanted: ty.Type, what: str) -> None:
        if not alike(expr.type, wanted):
            self.problem(f"{what} has the type {expr.type}, not {wanted}", expr)

    def model(self, model: ir.Model) -> None:
        machines: dict[str, Names] = {}
        for function in model.functions:
            self.expr(function.body, {param.name: param.type for param in function.params})
            self.agree(function.body, function.result, f"the body of {function.name}")
        for component in model.components:
            machines[component.name] = self.variables(component.state)
            for operation in component.operations:
                self.operation(operation)
        for system in model.systems:
            machines[system.name] = self.variables(system.state)
            self.replies = {
                (part.name, operation.name): operation.result
                for part in system.parts
                for component in model.components
                if component.name == part.component
                for operation in component.operations
            }
            for step in system.steps:
                self.body(step.body, {p.name: p.type for p in step.params}, step.name)
        for prop in model.properties:
            self.state = machines[prop.machine]
            self.expr(prop.body, _arguments(model, prop.machine))
            self.agree(prop.body, ty.Bool(), f"property {prop.name}")
        for live in model.liveness:
            self.state = machines[live.machine]
            self.live(live, steps_of(model, live.machine))
        for scenario in model.scenarios:
            self.state = machines[scenario.instance.machine]
            self.instance(scenario.instance, self.state)
            self.lines(scenario.steps)
        for instance in model.instances:
            self.state = machines[instance.machine]
            self.instance(instance, self.state)

    def live(self, live: ir.Eventually, steps: Mapping[str, tuple[ir.Param, ...]]) -> None:
        names = {param.name: param.type for param in live.params}
        for part in (live.trigger, live.goal):
            if part is not None:
                self.expr(part, names)
                self.agree(part, ty.Bool(), f"eventually {live.name}")
        for fair in live.fairness:
            known = {param.name for param in steps.get(fair.step, ())}
            if fair.step not in steps or not known.issuperset(fair.params):
                self.problem(f"unknown fair step {fair.step}", live)

    def variables(self, state: tuple[ir.StateVar, ...]) -> Names:
        self.state = {}
        for variable in state:
            self.expr(variable.initial, {})
            self.agree(variable.initial, variable.type, f"the initial {variable.name}")
        self.state = {variable.name: variable.type for variable in state}
        return self.state

    def instance(self, instance: ir.Instance, state: Names) -> None:
        for name, value in instance.starts:
            self.expr(value, {})
            if name not in state:
                self.problem(f"start of unknown {name}", value)
            else:
                self.agree(value, state[name], f"the start of {name}")
        for _, condition in instance.only:
            self.agree(condition, ty.Bool(), "an argument condition")
        self.lines(prelude_of(instance))

    def lines(self, lines: Iterable[ir.Line]) -> None:
        names: dict[str, ty.Type] = {}
        for line in lines:
            match line:
                case ir.Do():
                    for arg in (*line.args, *(() if line.reply is None else (line.reply,))):
                        self.expr(arg, names)
                case ir.Expect():
                    self.expr(line.condition, names)
                case ir.Bind():
                    self.expr(line.value, names)
                    names[line.name] = line.value.type
                case ir.Moment():
                    pass
                case _:
                    assert_never(line)

    def operation(self, operation: ir.Operation) -> None:
        params = {param.name: param.type for param in operation.params}
        for assumed in operation.assumes:
            self.expr(assumed.condition, params)
            self.agree(assumed.condition, ty.Bool(), f"an assumption of {operation.name}")
        for branch in operation.branches:
            where = f"{operation.name}/{branch.name}"
            names = dict(params)
            for let in branch.lets:
                self.expr(let.value, names)
                names[let.name] = let.value.type
            for conjunct in branch.guard:
                self.expr(conjunct.condition, names)
                self.agree(conjunct.condition, ty.Bool(), f"{where}:{conjunct.label}")
            for fault in branch.faults:
                self.expr(fault.condition, names)
                self.agree(fault.condition, ty.Bool(), f"a fault of {where}")
            names = self.body(branch.body, names, where)
            self.expr(branch.reply, names)
            self.agree(branch.reply, operation.result, f"the reply of {where}")

    def body(
        self, body: Iterable[ir.Statement], names: dict[str, ty.Type], where: str
    ) -> dict[str, ty.Type]:
        """Check the statements; returns the locals that are visible behind them."""
        names = dict(names)
        assigned: set[str] = set()
        for line in body:
            match line:
                case ir.Bind():
                    self.expr(line.value, names)
                    names[line.name] = line.value.type
                case ir.Pick():
                    index = {} if line.index is None else dict((line.index,))
                    self.expr(line.domain, {**names, **index})
                    names[line.name] = line.type
                case ir.Assign():
                    self.assign(line, names)
                    if line.variable in assigned:
                        self.problem(f"{where} assigns {line.variable} twice", line)
                    assigned.add(line.variable)
                case ir.Require():
                    self.expr(line.condition, names)
                    self.agree(line.condition, ty.Bool(), f"a requirement of {where}")
                case ir.OnChannel():
                    self.mail(line, names)
                    if isinstance(line, ir.Receive):
                        names[line.name] = find_received_type(line)
                case ir.CallOperation():
                    for arg in (*line.args, *(() if line.index is None else (line.index,))):
                        self.expr(arg, names)
                    if line.result:
                        names[line.result] = self.reply_type(line)
                case _:
                    assert_never(line)
        return names

    def mail(self, line: ir.ChannelUse, names: Names) -> None:
        """Check that the channel exists and that keys and message have its types."""
        if line.channel not in self.state or not alike(line.type, self.state[line.channel]):
            self.problem(f"no channel {line.channel}", line)
            return
        if isinstance(line, ir.Receive):
            if line.many is not None:
                self.agree(line.many, ty.Int(ty.Limit("", 0), ty.Limit("", 0)), line.channel)
        elif line.each is not None:
            at = each_position(line)
            if at is None:
                self.problem(f"{line.each[0]} is no key of {line.channel}", line)
                return
            names = {**names, line.each[0]: key_types(line.type)[at]}
        for expr in statement_expressions(line):
            self.expr(expr, names)
        if isinstance(line, ir.Send):
            self.agree(line.message, content_of(line.type, len(line.keys)).inner, line.channel)
        if not isinstance(line, ir.Receive) and line.condition is not None:
            self.agree(line.condition, ty.Bool(), f"the condition for {line.channel}")

    def reply_type(self, line: ir.CallOperation) -> ty.Type:
        found = self.replies.get((line.part, line.operation))
        if found is None:
            self.problem(f"call of unknown {line.part}.{line.operation}", line)
            return ty.Bool()
        return found

    def assign(self, line: ir.Assign, names: Names) -> None:
        self.expr(line.value, names)
        if line.variable not in self.state:
            self.problem(f"assignment to unknown {line.variable}", line)
        else:
            self.agree(line.value, self.state[line.variable], line.variable)

    def expr(self, expr: ir.Expr, names: Names) -> None:
        """Check that names are bound and that the types of subexpressions fit."""
        match expr:
            case ir.Local():
                self.check_known(expr, expr.name, names, "local")
            case ir.StateRef():
                self.check_known(expr, expr.name, self.state, "state variable")
            case ir.ConstRef():
                self.check_known(expr, expr.name, self.consts, "constant")
            case ir.Call():
                self.call(expr)
            case ir.FieldOf():
                record = expr.target.type
                if not isinstance(record, ty.Record) or expr.field not in dict(record.fields):
                    self.problem(f"{record} has no field {expr.field}", expr)
            case ir.MapGet():
                if not isinstance(expr.target.type, ty.Map):
                    self.problem("lookup in what is no map", expr)
                else:
                    self.agree(expr.key, expr.target.type.key, "a key")
            case ir.Unary() | ir.Binary() | ir.If():
                self.operator(expr)
            case _:
                pass
        self.below(expr, names)

    def below(self, expr: ir.Expr, names: Names) -> None:
        match expr:
            case ir.Comprehend() | ir.Quantified():
                self.expr(expr.domain, names)
                kind = expr.domain.type
                if not isinstance(kind, ty.Set):
                    self.problem("a domain is no set", expr)
                    return
                inner = {**names, expr.name: kind.inner}
                self.expr(expr.body, inner)
                if isinstance(expr, ir.Comprehend):
                    self.expr(expr.condition, inner)
            case ir.MapNew():
                if isinstance(expr.type, ty.Map):
                    self.expr(expr.value, {**names, expr.name: expr.type.key})
            case ir.Let():
                self.expr(expr.value, names)
                self.expr(expr.body, {**names, expr.name: expr.value.type})
            case ir.Match():
                self.expr(expr.subject, names)
                for case in expr.cases:
                    kinds = case_types(expr.subject.type, case.tag)
                    bound = dict(zip(case.names, kinds, strict=False))
                    self.expr(case.body, {**names, **bound})
            case _:
                for child in children(expr):
                    self.expr(child, names)

    def check_known(self, expr: ir.Expr, name: str, names: Names, what: str) -> None:
        if name not in names:
            self.problem(f"unknown {what} {name}", expr)
        else:
            self.agree(expr, names[name], f"{what} {name}")

    def call(self, expr: ir.Call) -> None:
        function = self.functions.get(expr.function)
        if function is None or len(function.params) != len(expr.args):
            self.problem(f"call of unknown {expr.function}/{len(expr.args)}", expr)
            return
        for arg, param in zip(expr.args, function.params, strict=True):
            self.agree(arg, param.type, f"argument {param.name} of {expr.function}")
        self.agree(expr, function.result, f"a call of {expr.function}")

    def operator(self, expr: ir.Unary | ir.Binary | ir.If) -> None:
        match expr:
            case ir.Binary(op="and" | "or" | "implies") | ir.Unary(op="not"):
                for part in children(expr):
                    self.agree(part, ty.Bool(), "a truth value")
            case ir.Binary(op="eq" | "ne"):
                self.agree(expr.right, expr.left.type, "the right side")
            case ir.If():
                self.agree(expr.condition, ty.Bool(), "a condition")
                self.agree(expr.otherwise, expr.then.type, "the other side")
            case _:
                pass


def case_types(kind: ty.Type, tag: str) -> tuple[ty.Type, ...]:
    """The types of the names that a case of a match binds."""
    match kind:
        case ty.Option() if tag == "present":
            return (kind.inner,)
        case ty.Union():
            return tuple(param for _, param in kind.params(tag))
        case _:
            return ()
