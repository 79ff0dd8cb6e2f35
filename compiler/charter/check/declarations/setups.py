"""Resolves `like`: instances and scenarios include the lines of set-ups, with arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from charter.check.names.scopes import Shared, TypeScope, suggest
from charter.check.typing.calls import arguments
from charter.core import nodes as ir
from charter.core.walk import substitute
from charter.diagnostics import Span
from charter.syntax import nodes as sx

Sharing = sx.SetupDecl | sx.InstanceDecl | sx.ScenarioDecl


@dataclass(frozen=True, slots=True)
class Origin:
    """The set-up that a line comes from, and the `like` that includes it. The `like` is in the
    set-up `outer`, or (None) in the instance or scenario itself."""

    like: sx.Like
    setup: Shared
    outer: Origin | None

    @property
    def first(self) -> Origin:
        """The one that the instance or scenario itself names."""
        return self if self.outer is None else self.outer.first


@dataclass(frozen=True, slots=True)
class Stated:
    """A line of an instance or a scenario; `origin` is None if it was not included."""

    line: sx.Setting
    origin: Origin | None


def include_lines(scope: TypeScope, node: Sharing) -> tuple[Stated, ...]:
    """The lines of a declaration with those that it includes. A bound, a start, an `only` and
    `offers` override included ones of the same name; `misses` and `fails` are added, and a
    `prelude` goes on from where the included ones lead. With a `start` and no `prelude` of its own
    a declaration includes none: it starts elsewhere."""
    return _include_lines(scope, node, None, ())


def _include_lines(
    scope: TypeScope, node: Sharing, origin: Origin | None, above: tuple[str, ...]
) -> tuple[Stated, ...]:
    inherited: dict[object, Stated] = {}
    for like in node.likes:
        base = find(scope, like.name, (scope.globals.setups, "set-up or instance"), node.machine)
        if base is None:
            continue
        if like.name.text in above:
            uses_itself(scope, like.name)
            continue
        assert isinstance(base.node, sx.SetupDecl | sx.InstanceDecl)
        inner = Origin(like, base, origin)
        for each in _include_lines(scope, base.node, inner, (*above, like.name.text)):
            inherited[_key(each.line)] = each
    own: dict[object, list[Stated]] = {}
    for line in node.body:
        if isinstance(line, sx.Setting):
            own.setdefault(_key(line), []).append(Stated(line, origin))
    if _starts_elsewhere(node):
        inherited = {k: x for k, x in inherited.items() if not isinstance(x.line, sx.Prelude)}
    found: list[Stated] = []
    for key, each in inherited.items():
        found += own.pop(key, [each])
    return (*found, *(each for lines in own.values() for each in lines))


def _starts_elsewhere(node: Sharing) -> bool:
    kinds = {type(line) for line in node.body}
    return sx.Start in kinds and sx.Prelude not in kinds


def find(
    scope: TypeScope, name: sx.Name, table: tuple[Mapping[str, Shared], str], machine: sx.Name
) -> Shared | None:
    """The entry of a name in a table; None, and an error, if there is none or it is of another
    machine."""
    known, what = table
    found = known.get(name.text)
    if found is None:
        message, hint = f"there is no {what} `{name.text}`", suggest(name.text, known)
        scope.error("name/unknown", message, name.span, hint=hint)
        return None
    if found.node.machine.text != machine.text:
        message = f"`{name.text}` is of {found.node.machine.text}, not of {machine.text}"
        scope.error("instance/like", message, name.span)
        return None
    return found


def uses_itself(scope: TypeScope, name: sx.Name) -> None:
    """Report a set-up or fragment that includes itself."""
    scope.error("instance/like", f"`{name.text}` copies its own lines", name.span)


def _key(line: sx.Setting) -> object:
    match line:
        case sx.Bound() | sx.Start():
            return type(line).__name__, line.name.text
        case sx.Only():
            return "Only", line.operation.text
        case sx.Offers():
            return "Offers"
        case sx.Misses() | sx.Fails() | sx.Prelude():
            return line.span


def inside(scope: TypeScope, origin: Origin | None) -> tuple[TypeScope, dict[str, ir.Expr]]:
    """The scope of lines from `origin`, in which its parameters are visible, and their values."""
    if origin is None:
        return scope, {}
    outer, values = inside(scope, origin.outer)
    like, params = origin.like, origin.setup.params
    args = arguments(outer, like.args, params, like.name, origin.setup.defaults)
    return bound(scope, params, (substitute(arg, values) for arg in args), like.name.span)


def bound(
    scope: TypeScope, params: Iterable[ir.Param], args: Iterable[ir.Expr], span: Span
) -> tuple[TypeScope, dict[str, ir.Expr]]:
    """`scope` with parameters, and the arguments by the names that these have in core."""
    values: dict[str, ir.Expr] = {}
    for param, arg in zip(params, args, strict=True):
        scope, core = scope.bind(sx.Name(param.name, span=span), param.type)
        values[core] = arg
    return scope, values
