"""Prints core as text, for goldens and for developers of the compiler.

The text is like a charter with everything explicit: types of locals, one binder each, calls of
built-ins as `size!(x)`, whole-variable updates.

Digests of rules are computed from this text, so any change of its format changes all of them.
Messages to users therefore print the limits of types with `check.names.types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from charter.core import nodes as ir
from charter.core import types as ty


def show_limit(limit: ty.Limit | None) -> str:
    """`3`, `max_log`, `max_log+1`, `?`."""
    if limit is None:
        return "?"
    if not limit.const:
        return str(limit.plus)
    return limit.const + (f"{limit.plus:+}" if limit.plus else "")


def show_type(kind: ty.Type, limit: Callable[[ty.Limit | None], str] = show_limit) -> str:
    """The type, by its name if it has one; `limit` prints the limits in it."""
    match kind:
        case ty.Bool():
            return "bool"
        case ty.Int():
            return f"int {limit(kind.low)}..{limit(kind.high)}"
        case ty.Sort() | ty.Counter() | ty.Enum() | ty.Record() | ty.Union():
            return kind.name
        case ty.Option():
            return f"option {show_type(kind.inner, limit)}"
        case ty.Set():
            return f"set {show_type(kind.inner, limit)}"
        case ty.Ranking():
            return f"ranking {show_type(kind.inner, limit)}"
        case ty.Seq():
            return f"seq {show_type(kind.inner, limit)} max {limit(kind.limit)}"
        case ty.Map():
            return f"map {show_type(kind.key, limit)} -> {show_type(kind.value, limit)}"
        case _:
            assert_never(kind)


def _all(exprs: Iterable[ir.Expr]) -> str:
    return ", ".join(show_expr(expr) for expr in exprs)


def _literal(expr: ir.Literal) -> str:
    match expr.value:
        case None:
            return "none"
        case bool(truth):
            return "true" if truth else "false"
        case int(number) if isinstance(expr.type, ty.Sort | ty.Counter):
            return f"{expr.type.name}#{number}"
        case value:
            return str(value)


def show_expr(expr: ir.Expr) -> str:
    """One expression on one line, operators in parentheses."""
    match expr:
        case ir.Literal():
            return _literal(expr)
        case ir.Local() | ir.ConstRef():
            return expr.name
        case ir.StateRef():
            return f"@{expr.name}{chr(39) if expr.primed else ''}"
        case ir.Domain():
            return show_type(expr.type).removeprefix("set ")
        case ir.Call():
            return f"{expr.function}({_all(expr.args)})"
        case ir.Builtin() | ir.Primitive():
            return f"{expr.name}!({_all(expr.args)})"
        case ir.Checked():
            return f"({show_expr(expr.value)} checked {show_expr(expr.condition)})"
        case ir.FieldOf():
            return f"{show_expr(expr.target)}.{expr.field}"
        case ir.MapGet():
            return f"{show_expr(expr.target)}[{show_expr(expr.key)}]"
        case ir.RecordNew():
            return f"{show_type(expr.type)}{{{_all(expr.fields)}}}"
        case ir.RecordWith():
            fields = ", ".join(f"{name}: {show_expr(value)}" for name, value in expr.fields)
            return f"({show_expr(expr.target)} with {{{fields}}})"
        case ir.UnionNew():
            return f"{expr.tag}({_all(expr.args)})"
        case ir.MapWith():
            pairs = ", ".join(f"{show_expr(k)}: {show_expr(v)}" for k, v in expr.entries)
            return f"({show_expr(expr.target)} with [{pairs}])"
        case ir.SetNew():
            return f"{{{_all(expr.items)}}}"
        case ir.SeqNew():
            return f"<{_all(expr.items)}>"
        case ir.Present():
            return f"present({show_expr(expr.inner)})"
        case ir.IsCase():
            return f"({show_expr(expr.target)} is {expr.tag})"
        case ir.CaseArg():
            return f"{show_expr(expr.target)}.{expr.tag}.{expr.position}"
        case _:
            return _show_compound(expr)


def _show_compound(
    expr: ir.MapNew | ir.Comprehend | ir.Quantified | ir.Unary | ir.Binary | ir.If | ir.Let
    | ir.Match | ir.Took,
) -> str:  # fmt: skip
    match expr:
        case ir.MapNew():
            key = show_type(expr.type.key) if isinstance(expr.type, ty.Map) else "?"
            return f"[{expr.name} in {key}: {show_expr(expr.value)}]"
        case ir.Comprehend():
            word = "union" if expr.flatten else "set"
            tail = f"for {expr.name} in {show_expr(expr.domain)} if {show_expr(expr.condition)}"
            return f"{word}{{{show_expr(expr.body)} {tail}}}"
        case ir.Quantified():
            head = f"{expr.kind} {expr.name} in {show_expr(expr.domain)}"
            return f"({head}: {show_expr(expr.body)})"
        case ir.Unary():
            return f"{expr.op}({show_expr(expr.operand)})"
        case ir.Binary():
            return f"({show_expr(expr.left)} {expr.op} {show_expr(expr.right)})"
        case ir.If():
            then, other = show_expr(expr.then), show_expr(expr.otherwise)
            return f"(if {show_expr(expr.condition)} then {then} else {other})"
        case ir.Let():
            return f"(let {expr.name} = {show_expr(expr.value)} in {show_expr(expr.body)})"
        case ir.Match():
            cases = ", ".join(_case(case) for case in expr.cases)
            return f"(match {show_expr(expr.subject)} {{{cases}}})"
        case ir.Took():
            return f"took {expr.branch}"
        case _:
            assert_never(expr)


def _case(case: ir.Case) -> str:
    names = f"({', '.join(case.names)})" if case.names else ""
    return f"{case.tag}{names} -> {show_expr(case.body)}"


def _params(params: Iterable[ir.Param]) -> str:
    return ", ".join(f"{param.name}: {show_type(param.type)}" for param in params)


def _cites(citations: Iterable[ir.Citation]) -> str:
    text = ", ".join(f"{c.source} {c.section}".strip() for c in citations)
    return f"  cites {text}" if text else ""


def _each(line: ir.Repeated) -> str:
    each = "" if line.each is None else f" for {line.each[0]} in {show_expr(line.each[1])}"
    return each if line.condition is None else f"{each} if {show_expr(line.condition)}"


def show_statement(line: ir.Statement) -> str:
    """One statement on one line."""
    match line:
        case ir.Bind():
            return f"let {line.name}: {show_type(line.value.type)} = {show_expr(line.value)}"
        case ir.Pick():
            index = ""
            if line.index is not None:
                index = f" for {line.index[0]} in {show_type(line.index[1])}"
            tail = " or none" if line.or_none else ""
            domain = show_expr(line.domain)
            return f"pick {line.name}: {show_type(line.type)}{index} in {domain}{tail}"
        case ir.Assign():
            return f"@{line.variable}' = {show_expr(line.value)}"
        case ir.Require():
            label = f"{line.label}: " if line.label else ""
            return f"require {label}{show_expr(line.condition)}"
        case ir.Send():
            place = f"@{line.channel}{_keys(line.keys)}"
            return f"send {place} {show_expr(line.message)}{_each(line)}"
        case ir.Clear():
            return f"clear @{line.channel}{_keys(line.keys)}{_each(line)}"
        case ir.Receive():
            many = "" if line.many is None else f"[{show_expr(line.many)}]"
            stays = " that may stay" if line.may_stay else ""
            return f"receive {line.name}{many} from @{line.channel}{_keys(line.keys)}{stays}"
        case ir.CallOperation():
            result = f"let {line.result} = " if line.result else ""
            index = "" if line.index is None else f"[{show_expr(line.index)}]"
            return f"{result}{line.part}{index}.{line.operation}({_all(line.args)})"
        case _:
            assert_never(line)


def _keys(keys: Iterable[ir.Expr]) -> str:
    return "".join(f"[{show_expr(key)}]" for key in keys)


def show_model(model: ir.Model) -> str:
    """The whole model, in the order of its declarations."""
    return "\n".join(_model(model)) + "\n"


def _model(model: ir.Model) -> Iterator[str]:
    yield f"protocol {model.protocol}" + (f" variant {model.variant}" if model.variant else "")
    for sort in model.sorts:
        yield f"sort {sort.name}"
    for counter in model.counters:
        order = "" if counter.ordered else " unordered"
        yield f"counter {counter.name}{' opaque' if counter.opaque else ''}{order}"
    for name, kind in model.consts:
        yield f"const {name}: {show_type(kind)}"
    for enum in model.enums:
        yield f"enum {enum.name} {{{', '.join(enum.members)}}}"
    for record in model.records:
        fields = ", ".join(f"{name}: {show_type(kind)}" for name, kind in record.fields)
        yield f"record {record.name} {{{fields}}}"
    for union in model.unions:
        cases = ", ".join(
            f"{tag}({_params(ir.Param(*param) for param in params)})" for tag, params in union.cases
        )
        yield f"union {union.name} {{{cases}}}"
    for function in model.functions:
        head = f"fun {function.name}({_params(function.params)}) -> {show_type(function.result)}"
        yield head + _cites(function.citations)
        yield f"  = {show_expr(function.body)}"
    for component in model.components:
        yield from _component(component)
    for system in model.systems:
        yield from _system(system)
    for prop in model.properties:
        yield f"{prop.kind} {prop.name} of {prop.machine}{_cites(prop.citations)}"
        yield f"  : {show_expr(prop.body)}"
    for live in model.liveness:
        yield from _live(live)
    for instance in model.instances:
        yield f"instance {instance.name} of {instance.machine}"
        yield from _bounds(instance)
    for scenario in model.scenarios:
        yield from _scenario(scenario)
    for mutant in model.mutants:
        edits = ", ".join(mutant.addresses)
        yield f"mutant {mutant.name} in {mutant.instance}: {edits}; caught by {mutant.caught_by}"


def _state(state: Iterable[ir.StateVar]) -> Iterator[str]:
    for variable in state:
        kind = "" if variable.kind == "durable" else f"{variable.kind} "
        initial = show_expr(variable.initial)
        yield f"  {kind}state @{variable.name}: {show_type(variable.type)} = {initial}"


def _component(component: ir.Component) -> Iterator[str]:
    yield f"component {component.name}"
    yield from _state(component.state)
    for operation in component.operations:
        head = f"  operation {operation.name}({_params(operation.params)})"
        yield f"{head} -> {show_type(operation.result)}{_cites(operation.citations)}"
        for assumed in operation.assumes:
            cites = _cites(assumed.citations)
            yield f"    assume {assumed.label}: {show_expr(assumed.condition)}{cites}"
        for branch in operation.branches:
            yield from _branch(branch)
    for seen in component.observables:
        yield f"  observe {seen.level}: {'.'.join(seen.path)} by {seen.mode}"


def _branch(branch: ir.Branch) -> Iterator[str]:
    group = f" group {branch.group}" if branch.group else ""
    yield f"    branch {branch.name}{group}{_cites(branch.citations)}"
    for let in branch.lets:
        yield f"      before: {show_statement(let)}"
    for conjunct in branch.guard:
        yield f"      when {conjunct.label}: {show_expr(conjunct.condition)}"
    for fault in branch.faults:
        saying = f' saying "{fault.saying}"' if fault.saying else ""
        yield f'      fault "{fault.exception}"{saying} when {show_expr(fault.condition)}'
    for line in branch.body:
        yield f"      {show_statement(line)}"
    yield f"      reply {show_expr(branch.reply)}"


def _system(system: ir.System) -> Iterator[str]:
    yield f"system {system.name}"
    for part in system.parts:
        index = "" if part.index is None else f"map {show_type(part.index)} -> "
        yield f"  part {part.name}: {index}{part.component}"
    yield from _state(system.state)
    for step in system.steps:
        yield f"  step {step.name}({_params(step.params)}){_cites(step.citations)}"
        for line in step.body:
            yield f"    {show_statement(line)}"


def _live(live: ir.Eventually) -> Iterator[str]:
    yield f"eventually {live.name} of {live.machine}{_cites(live.citations)}"
    for fair in live.fairness:
        yield f"  fair {fair.step}({', '.join(fair.params)})"
    for param in live.params:
        yield f"  for {param.name}: {show_type(param.type)}"
    if live.trigger is not None:
        yield f"  whenever {show_expr(live.trigger)}"
    yield f"  : {show_expr(live.goal)}"


def _bounds(instance: ir.Instance) -> Iterator[str]:
    for sort, names in instance.sorts:
        yield f"  {sort} = {{{', '.join(names)}}}"
    for const, value in instance.consts:
        yield f"  {const} = {value}"
    for name, start in instance.starts:
        yield f"  start @{name} = {show_expr(start)}"
    if instance.offers:
        yield f"  offers {', '.join(instance.offers)}"
    for operation, condition in instance.only:
        yield f"  only {operation} if {show_expr(condition)}"
    if instance.prelude is not None:
        yield "  prelude"
        yield from (f"  {line}" for line in show_lines(instance.prelude.steps))


def show_scenario(scenario: ir.Scenario) -> str:
    """A scenario as text, with its bounds."""
    return "\n".join(_scenario(scenario))


def _scenario(scenario: ir.Scenario) -> Iterator[str]:
    yield f'scenario "{scenario.title}" of {scenario.instance.machine}{_cites(scenario.citations)}'
    yield from _bounds(scenario.instance)
    yield from show_lines(scenario.steps)


def show_lines(lines: Iterable[ir.Line]) -> Iterator[str]:
    """The lines of a scenario or a prelude as text."""
    for line in lines:
        match line:
            case ir.Do():
                branch = f" -> {line.branch}" if line.branch else ""
                reply = "" if line.reply is None else f" reply {show_expr(line.reply)}"
                never = "never " if line.never else ""
                yield f"  {never}do {line.operation}({_all(line.args)}){branch}{reply}"
            case ir.Expect():
                yield f"  {'never ' if line.never else ''}expect {show_expr(line.condition)}"
            case ir.Bind():
                yield f"  let {line.name} = {show_expr(line.value)}"
            case ir.Moment():
                yield f'  step "{line.title}"'
            case _:
                assert_never(line)
