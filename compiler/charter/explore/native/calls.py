"""Emits calls of declared functions: small ones inline, others as functions."""

from __future__ import annotations

from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import children
from charter.explore.native.code import Code, Ref
from charter.explore.native.expr import Expr
from charter.explore.native.layout import FAR
from charter.explore.native.unit import FATAL_COUNTER, FATAL_RANGE
from charter.explore.native.values import SCALARS, Held, Place, Scalar

INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Prints calls in the function that `expr` prints into."""

    expr: Expr

    def value(self, e: n.Call) -> Held:
        """A declared function: printed here if it is small, called otherwise."""
        functions = self.expr.unit.machine.evaluator.functions
        function = functions[e.function]
        args = [self.expr.value(a) for a in e.args]
        params = zip(function.params, args, strict=True)
        fits = all(self._fits(p.type, a) for p, a in params) and self._simple(function.result)
        if fits and size_of(function.body) > INLINE:
            return self.called(function, args)
        outer = self.expr.names
        self.expr.names = {p.name: a for p, a in zip(function.params, args, strict=True)}
        found = self.expr.value(function.body)
        self.expr.names = outer
        return found

    def _simple(self, kind: t.Type) -> bool:
        return not isinstance(kind, t.Set) or not self.expr.layout.is_open(kind.inner)

    def _fits(self, kind: t.Type, value: Held) -> bool:
        if not isinstance(value, Scalar) or isinstance(kind, t.Bool):
            return True
        if isinstance(kind, t.Set):
            return self._simple(kind)
        low, high = self.expr.layout.span(kind)
        return low <= value.low and value.high <= high

    def called(self, function: n.Function, args: list[Held]) -> Held:
        """A call of a function of its own."""
        texts = ["ptr %ctx"]
        for param, value in zip(function.params, args, strict=True):
            if isinstance(value, Scalar):
                texts.append(f"{self.register(param.type)} {self.passed(param.type, value)}")
            else:
                texts.append(
                    f"ptr {self.expr.keep.address(self.expr.keep.placed(value, param.type))}"
                )
        self.unit_function(function)
        kind = function.result
        if isinstance(kind, SCALARS):
            ty = self.register(kind)
            ref = self.expr.code.let(f"call {ty} @fn_{function.name}({', '.join(texts)})")
            return self.bounded(kind, ref)
        room = self.expr.code.memory(self.expr.layout.slots(kind))
        self.expr.code.do(f"call void @fn_{function.name}({', '.join([*texts, f'ptr {room}'])})")
        return Place(kind, room)

    def register(self, kind: t.Type) -> str:
        """The LLVM type of a scalar."""
        if isinstance(kind, t.Bool):
            return "i1"
        return self.expr.layout.width(kind)[0] if isinstance(kind, t.Set) else "i64"

    def passed(self, kind: t.Type, value: Scalar) -> Ref:
        """A scalar as an argument of its type."""
        if isinstance(kind, t.Set):
            _, low, high = self.expr.layout.width(kind)
            return self.expr.keep.rebased(value, low, high)
        return value.ref

    def bounded(self, kind: t.Type, ref: Ref) -> Scalar:
        """A scalar of a type."""
        if isinstance(kind, t.Set):
            _, low, high = self.expr.layout.width(kind)
        else:
            low, high = self.expr.layout.span(kind)
        return Scalar(ref, low, high)

    def unit_function(self, function: n.Function) -> None:
        """Print a function once."""
        if function.name in self.expr.unit.printed:
            return
        self.expr.unit.printed.add(function.name)
        texts, names = ["ptr %ctx"], dict[str, Held]()
        for i, param in enumerate(function.params):
            if isinstance(param.type, SCALARS):
                texts.append(f"{self.register(param.type)} %a{i}")
                names[param.name] = self.bounded(param.type, f"%a{i}")
            else:
                texts.append(f"ptr noalias readonly %a{i}")
                names[param.name] = Place(param.type, f"%a{i}")
        kind = function.result
        plain = isinstance(kind, SCALARS)
        ty = self.register(kind) if plain else "void"
        out = [] if plain else ["ptr noalias %out"]
        head = f"internal {ty} @fn_{function.name}({', '.join([*texts, *out])})"
        code = Code(head, "nounwind")
        inner = Calls(Expr(self.expr.unit, code, names))
        value = inner.expr.value(function.body)
        if isinstance(value, Scalar):
            code.do(f"ret {ty} {inner.passed(kind, inner.checked(kind, value))}")
        else:
            inner.expr.keep.put(value, kind, "%out", 0)
            code.do("ret void")
        self.expr.unit.add(code)

    def checked(self, kind: t.Type, value: Scalar) -> Scalar:
        """A scalar that is within its type, or the engine cannot go on."""
        if isinstance(kind, t.Bool | t.Set):
            return value
        low, high = self.expr.layout.span(kind)
        if value.low < low or value.high > high:
            at = self.expr.code.binary("sub", value.ref, str(low))
            if low != -FAR:
                with self.expr.code.unless(self.expr.code.compare("ule", at, str(high - low))):
                    self.expr.fatal(
                        FATAL_RANGE if not isinstance(kind, t.Counter) else FATAL_COUNTER
                    )
        return value


def size_of(expr: n.Expr) -> int:
    """How many nodes an expression has."""
    return 1 + sum(size_of(child) for child in children(expr))
