"""Computes what a crash of the process, or of its machine, leaves of the state of a component.

`flush`, `crash` and updates of cached state become choices and updates at the end of a branch, so
core has no storage. Of a cached sequence the variable on disk is a number, and the first so many
items are there; of any other cached variable it is the value that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from charter.check.names.scopes import TypeScope, suggest
from charter.check.names.types import BOOL, INT, is_unknown, show_type
from charter.check.typing.statements import Body
from charter.core import nodes as ir
from charter.core import types as ty
from charter.diagnostics import Span
from charter.syntax import nodes as sx


def check_declared(scope: TypeScope, node: sx.StateDecl) -> None:
    """Report cached state without a variable that says what is on disk, or with one that cannot."""
    name, disk = node.name.text, node.on_disk
    if scope.machine is None or scope.machine.is_system:
        if node.kind == "cached" or disk is not None:
            message = "cached state belongs to a component, whose branches can flush it"
            scope.error("effect/on-disk", message, node.span)
        return
    if (node.kind == "cached") is (disk is None):
        message = f"`{name}` is cached, but nothing says what of it is on disk"
        hint = f"write `cached state {name}: ... = ... on disk y`, with a variable `y`"
        if disk is not None:
            message, hint = f"`{name}` is not cached", "write `cached state`"
        scope.error("effect/on-disk", message, node.name.span, hint=hint)
    if disk is None:
        return
    found = scope.machine.state.get(disk.text)
    if found is None:
        scope.missing(f"{scope.machine.name} has no state variable `{disk.text}`", disk.span)
        return
    kind = _kind_on_disk(scope.machine.state[name].type)
    others = scope.machine.storage
    is_taken = disk.text in others or disk.text in scope.machine.histories
    owners = [n for n, other in others.items() if other.on_disk == disk]
    if is_taken or found.kind != "durable" or owners != [name]:
        message = f"`{disk.text}` cannot say what of `{name}` is on disk"
        hint = "it is a variable of its own, neither ghost, volatile nor cached"
        scope.error("effect/on-disk", message, disk.span, hint=hint)
    elif found.type != kind and not is_unknown(kind) and not is_unknown(found.type):
        message = f"what of `{name}` is on disk is of type {show_type(kind)}"
        scope.error("effect/on-disk", message, disk.span)


def _kind_on_disk(kind: ty.Type) -> ty.Type:
    """The type of the variable that says what is on disk."""
    return ty.Int(ty.Limit(), kind.limit) if isinstance(kind, ty.Seq) else kind


@dataclass(frozen=True, slots=True)
class _Flushed:
    """A `flush`: how many of the first items (None: all), and under which condition."""

    end: ir.Expr | None
    condition: ir.Expr | None
    span: Span


@dataclass(slots=True)
class _Done:
    """What a branch does to storage."""

    crash: sx.Crash | None = None
    kept: tuple[str, ir.Expr] | None = None
    """The sequence of which the branch says how much a crash of the machine keeps."""
    flushed: dict[str, _Flushed] = field(default_factory=dict)


def settle(body: Body) -> None:
    """Add to a branch what its `flush` and `crash` do, and its updates of cached state."""
    done = _Done()
    for line in body.of_storage:
        match line:
            case sx.Flush():
                _flush(body, line, done)
            case sx.Crash():
                _crash(body, line, done)
    for name, node in body.machine.storage.items():
        if node.kind == "volatile":
            if done.crash is not None:
                _lose(body, name, node, done.crash.span)
        elif node.on_disk is None or node.on_disk.text not in body.machine.state:
            pass
        elif done.crash is not None and done.crash.of == "machine":
            _lose_cached(body, name, node.on_disk.text, done)
        else:
            _keep(body, name, node.on_disk.text, done.flushed.get(name))


def _flush(body: Body, node: sx.Flush, done: _Done) -> None:
    name, scope = node.name.text, body.scope
    end = None if node.end is None else scope.check(node.end, INT)
    condition = None if node.condition is None else scope.check(node.condition, BOOL)
    if not _is_cached(body, name):
        _no_cached(body, node.name)
    elif end is not None and not isinstance(body.machine.state[name].type, ty.Seq):
        scope.error("type/mismatch", f"`{name}` is no sequence: it is flushed whole", end.span)
    elif name in done.flushed:
        _twice(body, name, node.span)
    else:
        done.flushed[name] = _Flushed(end, condition, node.span)


def _crash(body: Body, node: sx.Crash, done: _Done) -> None:
    if node.kept is not None and node.end is not None:
        name = node.kept.text
        done.kept = (name, body.scope.check(node.end, INT))
        if not _is_cached(body, name):
            _no_cached(body, node.kept)
        elif node.of == "process" or not isinstance(body.machine.state[name].type, ty.Seq):
            message = "only a crash of the machine says what it keeps, and of sequences alone"
            body.scope.error("statement/misplaced", message, node.span)
    if not body.machine.storage:
        message = "a crash loses volatile and cached state, and there is none"
        body.scope.error("statement/misplaced", message, node.span)
    elif done.crash is not None:
        body.scope.error("statement/misplaced", "a branch crashes once", node.span)
    else:
        done.crash = node


def _is_cached(body: Body, name: str) -> bool:
    declared = body.machine.storage.get(name)
    return declared is not None and declared.on_disk is not None


def _no_cached(body: Body, name: sx.Name) -> None:
    message = f"{body.machine.name} has no cached state `{name.text}`"
    body.scope.missing(message, name.span, hint=suggest(name.text, body.machine.storage))


def _twice(body: Body, name: str, span: Span) -> None:
    message = f"`{name}` is changed twice on this path"
    body.scope.error("effect/double-update", message, span)


def _lose(body: Body, name: str, node: sx.StateDecl, span: Span) -> None:
    """The variable begins again."""
    if _find_assignment(body, name) is not None:
        _twice(body, name, span)
        return
    outside = replace(body.scope.without_locals(), machine=None)
    value = outside.check(node.initial, body.machine.state[name].type)
    body.lines.append(ir.Assign(name, value, span=span))


def _lose_cached(body: Body, name: str, disk: str, done: _Done) -> None:
    """Of a sequence some prefix is left, with what is on disk; of anything else what is on disk, or
    all."""
    assert done.crash is not None
    span = done.crash.span
    if _find_assignment(body, name) is not None or name in done.flushed:
        _twice(body, name, span)
        return
    cached = _variable(body, name, span)
    on_disk = _variable(body, disk, span)
    body.scope, kept = body.scope.fresh("kept", on_disk.type, span)
    if done.kept is not None and done.kept[0] == name:
        most = ir.Builtin("min", (done.kept[1], _size(cached)), type=INT, span=span)
        value = ir.Builtin("max", (most, on_disk), type=INT, span=span)
        body.lines.append(ir.Bind(kept.name, replace(value, type=kept.type), span=span))
    else:
        domain: ir.Expr = ir.SetNew((cached, on_disk), type=ty.Set(cached.type), span=span)
        if isinstance(cached.type, ty.Seq):
            domain = _ends(body, cached, on_disk)
        body.lines.append(ir.Pick(kept.name, kept.type, None, domain, False, span=span))
    left: ir.Expr = kept
    if isinstance(cached.type, ty.Seq):
        left = ir.Builtin("take", (cached, kept), type=cached.type, span=span)
    body.lines.append(ir.Assign(name, left, span=span))
    body.lines.append(ir.Assign(disk, kept, span=span))


def _keep(body: Body, name: str, disk: str, flushed: _Flushed | None) -> None:
    """What is on disk after an update of the variable, and after a flush."""
    made = _find_assignment(body, name)
    if made is not None:
        span = made.span
    elif flushed is not None:
        span = flushed.span
    else:
        return
    cached, on_disk = _variable(body, name, span), _variable(body, disk, span)
    after: ir.Expr = cached if made is None else _name_value(body, made)
    is_sequence = isinstance(cached.type, ty.Seq)
    kept = on_disk
    if made is not None and is_sequence:
        kept = _common(body, on_disk, cached, after)
    value = kept if flushed is None else _compute_flushed(flushed, kept, after, is_sequence)
    if value != on_disk:
        body.lines.append(ir.Assign(disk, value, span=span))


def _compute_flushed(
    flushed: _Flushed, kept: ir.Expr, after: ir.Expr, is_sequence: bool
) -> ir.Expr:
    """What is on disk after a flush, if `kept` is there without it."""
    span = flushed.span
    value = after
    if is_sequence:
        value = _size(after)
        if flushed.end is not None:
            value = ir.Builtin("min", (value, flushed.end), type=INT, span=span)
            value = ir.Builtin("max", (value, kept), type=INT, span=span)
    if flushed.condition is None:
        return value
    return ir.If(flushed.condition, value, kept, type=value.type, span=span)


def _find_assignment(body: Body, name: str) -> ir.Assign | None:
    found = (x for x in body.lines if isinstance(x, ir.Assign) and x.variable == name)
    return next(found, None)


def _name_value(body: Body, made: ir.Assign) -> ir.Local:
    """A name for the value that the branch assigns."""
    if isinstance(made.value, ir.Local):
        return made.value
    body.scope, local = body.scope.fresh(f"next_{made.variable}", made.value.type, made.span)
    place = body.lines.index(made)
    named = ir.Bind(local.name, made.value, span=made.span)
    body.lines[place : place + 1] = [named, replace(made, value=local)]
    return local


def _variable(body: Body, name: str, span: Span) -> ir.Expr:
    return ir.StateRef(name, type=body.machine.state[name].type, span=span)


def _size(sequence: ir.Expr) -> ir.Expr:
    return ir.Builtin("size", (sequence,), type=INT, span=sequence.span)


def _binary(op: ir.RichOp, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Binary(op, left, right, type=BOOL, span=left.span)


def _ends(body: Body, cached: ir.Expr, on_disk: ir.Expr) -> ir.Expr:
    """Where a sequence may end after a crash of the machine."""
    span, kinds = cached.span, ty.Set(on_disk.type)
    body.scope, end = body.scope.fresh("end", on_disk.type, span)
    condition = _binary("and", _binary("le", on_disk, end), _binary("lt", end, _size(cached)))
    domain = ir.Domain(type=kinds, span=span)
    shorter = ir.Comprehend(end.name, domain, condition, end, type=kinds, span=span)
    whole = ir.SetNew((_size(cached),), type=kinds, span=span)
    return ir.Binary("union", whole, shorter, type=kinds, span=span)


def _common(body: Body, on_disk: ir.Expr, before: ir.Expr, after: ir.Expr) -> ir.Expr:
    """How many of the first items, which are on disk, a sequence keeps."""
    assert isinstance(before.type, ty.Seq)
    span, kinds = before.span, ty.Set(on_disk.type)
    body.scope, place = body.scope.fresh("place", on_disk.type, span)
    item = ty.Option(before.type.inner)
    old = ir.Builtin("at", (before, place), type=item, span=span)
    new = ir.Builtin("at", (after, place), type=item, span=span)
    condition = _binary("and", _binary("lt", place, on_disk), _binary("ne", old, new))
    domain = ir.Domain(type=kinds, span=span)
    changed = ir.Comprehend(place.name, domain, condition, place, type=kinds, span=span)
    all_ = ir.SetNew((on_disk,), type=kinds, span=span)
    places: ir.Expr = ir.Binary("union", all_, changed, type=kinds, span=span)
    return ir.Builtin("min", (places,), type=on_disk.type, span=span)
