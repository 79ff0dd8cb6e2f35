"""Finds which parts of a state the expectations of a scenario read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from charter.core import nodes as n
from charter.core.walk import children
from charter.render.story.panel import Part


def find_expected_parts(model: n.Model, scenario: n.Scenario) -> frozenset[Part]:
    """The parts of the state that the `expect` lines of a scenario read, through functions, too. A
    value that is only tested for presence is not read."""
    functions = {one.name: one for one in model.functions}
    lines = (line for line in scenario.steps if isinstance(line, n.Expect))
    return frozenset(part for line in lines for part in _read(line.condition, {}, functions))


def _read(
    expr: n.Expr, known: Mapping[str, Part], functions: Mapping[str, n.Function]
) -> Iterator[Part]:
    """What an expression reads; `known` are the local names of parts."""
    part = _part(expr, known, functions)
    if part is not None:
        yield part
        return
    match expr:
        case n.Call(function=name, args=args):
            function = functions[name]
            params = [param.name for param in function.params]
            parts = [_part(arg, known, functions) for arg in args]
            inner = {p: part for p, part in zip(params, parts, strict=True) if part is not None}
            yield from _read(function.body, inner, functions)
            for arg, part in zip(args, parts, strict=True):
                yield from _read(arg, known, functions) if part is None else ()
        case n.Match(subject=subject, cases=cases):
            found = _part(subject, known, functions)
            yield from _read(subject, known, functions) if found is None else ()
            for case in cases:
                bound = {} if found is None else dict.fromkeys(case.names, found)
                yield from _read(case.body, {**known, **bound}, functions)
        case n.Let(name=name, value=value, body=body):
            found = _part(value, known, functions)
            yield from _read(value, known, functions) if found is None else ()
            yield from _read(body, known if found is None else {**known, name: found}, functions)
        case n.IsCase(target=target) if _part(target, known, functions) is not None:
            return
        case n.Binary(op="eq" | "ne") if _is_presence(expr.left, expr.right):
            return
        case _:
            for operand in children(expr):
                yield from _read(operand, known, functions)


def _is_presence(*sides: n.Expr) -> bool:
    """Whether a comparison is with `none`."""
    return any(isinstance(side, n.Literal) and side.value is None for side in sides)


def _part(
    expr: n.Expr, known: Mapping[str, Part], functions: Mapping[str, n.Function]
) -> Part | None:
    """The part of the state that an expression is; None if it is computed."""
    match expr:
        case n.StateRef(name=name):
            return (name,)
        case n.Local(name=name):
            return known.get(name)
        case n.FieldOf(target=target, field=field):
            outer = _part(target, known, functions)
            return None if outer is None else (*outer, field)
        case n.MapGet(target=target) | n.CaseArg(target=target):
            return _part(target, known, functions)
        case n.Builtin(name="value", args=(inner,)):
            return _part(inner, known, functions)
        case n.Call(function=name, args=args):
            function = functions[name]
            pairs = zip(function.params, args, strict=True)
            parts = {param.name: _part(arg, known, functions) for param, arg in pairs}
            bound = {param: part for param, part in parts.items() if part is not None}
            return _part(function.body, bound, functions) if bound else None
        case n.Match(subject=subject, cases=cases):
            # What is there if it is there, else a substitute: `match p { none -> new(), … }`.
            found = _part(subject, known, functions)
            bound = {} if found is None else {x: found for case in cases for x in case.names}
            inside = {_part(case.body, {**known, **bound}, functions) for case in cases} - {None}
            return inside.pop() if len(inside) == 1 else None
        case _:
            return None
