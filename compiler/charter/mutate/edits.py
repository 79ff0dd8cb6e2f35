"""Applies mutation rules to expressions: `of_node` says which rules apply to which node.

A rule is a function from a node to its edits. To add one, write the function and name it in
`of_node`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic, Literal, TypeVar, assert_never

from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.operators import OPERATORS
from charter.core.show import show_expr
from charter.core.walk import children, rebuild
from charter.diagnostics import Span

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")

TRUE = ir.Literal(True, type=ty.Bool())
FALSE = ir.Literal(False, type=ty.Bool())


@dataclass(frozen=True, slots=True)
class Edit(Generic[T_co]):
    """One mistake. `new` replaces the node, or whatever was rebuilt around it; `text` replaces the
    charter's text at `span`; `mark` identifies it within its rule, without positions."""

    kind: str
    says: str
    span: Span
    text: str
    mark: str
    new: T_co

    def around(self, new: U) -> Edit[U]:
        """The same mistake in what was rebuilt around it."""
        return Edit(self.kind, self.says, self.span, self.text, self.mark, new)


ExprEdit = Edit[ir.Expr]


def edits(expr: ir.Expr, *, own: bool = True) -> Iterator[ExprEdit]:
    """The edits of an expression: its `own`, then those of its subexpressions."""
    if own:
        yield from of_node(expr)
    parts = children(expr)
    for i, part in enumerate(parts):
        for edit in edits(part, own=not _is_one_quantifier(expr, part)):
            if not (isinstance(expr, ir.Unary) and _inverts(edit, part)):
                yield edit.around(rebuild(expr, (*parts[:i], edit.new, *parts[i + 1 :])))


def _is_one_quantifier(expr: ir.Expr, part: ir.Expr) -> bool:
    """Whether the charter has one quantifier with several names for two nodes."""
    both = isinstance(expr, ir.Quantified) and isinstance(part, ir.Quantified)
    return both and expr.span == part.span


def _inverts(edit: ExprEdit, part: ir.Expr) -> bool:
    """Whether an edit is the opposite of a condition: below `not`, another edit is the same."""
    match edit.new:
        case ir.Unary(op="not", operand=operand):
            return operand == part
        case ir.Binary(op="eq" | "ne", left=left, right=right) if isinstance(part, ir.Binary):
            return (left, right) == (part.left, part.right)
        case _:
            return False


def of_node(expr: ir.Expr) -> Iterator[ExprEdit]:
    """The edits of one node."""
    match expr:
        case ir.Binary():
            return chain(
                drop_operand(expr), change_comparison(expr), set_operation(expr), negate(expr)
            )
        case ir.Literal():
            return chain(off_by_one(expr), other_value(expr)) if is_written(expr) else iter(())
        case ir.Quantified():
            return chain(change_quantifier(expr), negate(expr))
        case ir.Comprehend():
            return drop_filter(expr)
        case ir.If():
            return one_side(expr)
        case ir.Match():
            return other_case(expr)
        case ir.RecordWith():
            return field_kept(expr)
        case ir.MapWith():
            return entry_kept(expr)
        case ir.SetNew():
            return item_left_out(expr)
        case ir.Present():
            return absent(expr)
        case ir.UnionNew():
            return other_tag(expr)
        case ir.Builtin():
            return chain(other_builtin(expr), negate(expr))
        case ir.Local() | ir.StateRef() | ir.Call() | ir.FieldOf() | ir.MapGet() | ir.IsCase():
            return negate(expr)
        case ir.Unary():
            return negate(expr)
        case ir.ConstRef() | ir.Domain() | ir.Took() | ir.RecordNew() | ir.MapNew() | ir.SeqNew():
            return iter(())
        case ir.Let() | ir.CaseArg() | ir.Primitive() | ir.Checked():
            return iter(())
        case _:
            assert_never(expr)


# --- conditions ----------------------------------------------------------------------------------

_WORDS = {"and": "conjunct", "or": "disjunct"}


def drop_operand(expr: ir.Binary) -> Iterator[ExprEdit]:
    """`a and b` without one side; `a implies b` without its condition."""
    match expr.op:
        case "and" | "or":
            word = _WORDS[expr.op]
            for kept, lost in ((expr.left, expr.right), (expr.right, expr.left)):
                if not (isinstance(lost, ir.Binary) and lost.op == expr.op):
                    says = f"the {word} `{write(lost)}` is dropped"
                    yield _edit(expr, f"drop-{word}", says, kept, write(kept))
        case "implies":
            says = f"the condition `{write(expr.left)}` is dropped"
            yield _edit(expr, "drop-condition", says, expr.right, write(expr.right))
        case _:
            pass


def negate(expr: ir.Expr) -> Iterator[ExprEdit]:
    """The opposite of a condition that no other rule inverts."""
    if expr.type != ty.Bool():
        return
    says = f"`{write(expr)}` is negated"
    match expr:
        case ir.Unary(op="not", operand=ir.Binary(op="in") as member) if member.span == expr.span:
            # `x not in s` is one text for two nodes.
            text = f"{write(member.left)} in {write(member.right)}"
            yield _edit(expr, "negate", says, member, text)
        case ir.Unary(op="not"):
            yield _edit(expr, "negate", says, expr.operand, write(expr.operand))
        case ir.Binary() if expr.traits.kind != "membership":
            return
        case _:
            opposite = ir.Unary("not", expr, type=ty.Bool(), span=expr.span)
            yield _edit(expr, "negate", says, opposite, f"not ({write(expr)})")


def change_comparison(expr: ir.Binary) -> Iterator[ExprEdit]:
    """`<` for `<=`, `==` for `!=`, and the other way round."""
    if expr.traits.compares and expr.traits.mistake:
        yield _with_operator(expr, "compare", expr.traits.mistake)


def change_quantifier(expr: ir.Quantified) -> Iterator[ExprEdit]:
    """`some` for `forall`, and the other way round."""
    match expr.kind:
        case "forall":
            yield _quantifier(expr, "some")
        case "some":
            yield _quantifier(expr, "forall")
        case "exactly one" | "the" | "sum":
            pass
        case _:
            assert_never(expr.kind)


def _quantifier(expr: ir.Quantified, kind: Literal["forall", "some"]) -> ExprEdit:
    says = f"`{expr.kind}` becomes `{kind}`"
    text = write(expr).replace(expr.kind, kind, 1)
    return _edit(expr, "quantifier", says, _flip(expr, kind), text)


def _flip(expr: ir.Quantified, kind: Literal["forall", "some"]) -> ir.Expr:
    body = expr.body
    if isinstance(body, ir.Quantified) and _is_one_quantifier(expr, body):
        body = _flip(body, kind)
    return replace(expr, kind=kind, body=body)


def drop_filter(expr: ir.Comprehend) -> Iterator[ExprEdit]:
    """`{ x for x in s if p }` without its condition."""
    if expr.condition != TRUE:
        condition = write(expr.condition)
        text = write(expr)
        bent = text.replace(f" if {condition}", "", 1)
        says = f"the filter `{condition}` is dropped"
        yield _edit(expr, "drop-filter", says, replace(expr, condition=TRUE), bent)


def one_side(expr: ir.If) -> Iterator[ExprEdit]:
    """One side of an `if`, whatever its condition."""
    sides = (("else", expr.then), ("then", expr.otherwise))
    for lost, kept in sides:
        says = f"the {lost} side of `if {write(expr.condition)}` is removed"
        yield _edit(expr, "drop-branch", says, kept, write(kept))


def other_case(expr: ir.Match) -> Iterator[ExprEdit]:
    """A case of a `match` that takes the result of the first other case that binds no names."""
    for i, case in enumerate(expr.cases):
        for j, other in enumerate(expr.cases):
            if i != j and not other.names and other.body != case.body:
                bent = replace(case, body=other.body)
                cases = (*expr.cases[:i], bent, *expr.cases[i + 1 :])
                says = f"the case `{case.tag}` is handled like `{other.tag}`"
                new = replace(expr, cases=cases)
                yield _edit(case.body, "drop-case", says, new, write(other.body))
                break


# --- values --------------------------------------------------------------------------------------


def off_by_one(expr: ir.Literal) -> Iterator[ExprEdit]:
    """A number and its neighbours."""
    if not isinstance(expr.type, ty.Int) or not isinstance(expr.value, int):
        return
    for number in (expr.value + 1, expr.value - 1):
        if number >= 0:
            here = ty.Limit(plus=number)
            other = replace(expr, value=number, type=ty.Int(here, here))
            says = f"`{expr.value}` becomes `{number}`"
            yield _edit(expr, "off-by-one", says, other, str(number))


def other_value(expr: ir.Literal) -> Iterator[ExprEdit]:
    """The opposite truth value, or the next member of an enum."""
    match expr.type, expr.value:
        case ty.Bool(), bool(truth):
            text = "false" if truth else "true"
            says = f"`{write(expr)}` becomes `{text}`"
            yield _edit(expr, "other-value", says, replace(expr, value=not truth), text)
        case ty.Enum(members=members), str(member) if len(members) > 1:
            other = members[(members.index(member) + 1) % len(members)]
            says = f"`{member}` becomes `{other}`"
            yield _edit(expr, "other-value", says, replace(expr, value=other), other)
        case _:
            pass


def other_tag(expr: ir.UnionNew) -> Iterator[ExprEdit]:
    """The next case of a union with the same parameters."""
    union = ty.union_of(expr.type)
    tags = [tag for tag, _ in union.cases]
    at = tags.index(expr.tag)
    mine = [kind for _, kind in union.params(expr.tag)]
    for other in (*tags[at + 1 :], *tags[:at]):
        if [kind for _, kind in union.params(other)] == mine:
            says = f"`{expr.tag}` becomes `{other}`"
            text = write(expr).replace(expr.tag, other, 1)
            yield _edit(expr, "other-value", says, replace(expr, tag=other), text)
            return


def absent(expr: ir.Present) -> Iterator[ExprEdit]:
    """`none` in place of a value."""
    none = ir.Literal(None, type=expr.type, span=expr.span)
    says = f"`{write(expr)}` becomes `none`"
    yield _edit(expr, "forget-value", says, none, "none")


def other_builtin(expr: ir.Builtin) -> Iterator[ExprEdit]:
    """`min` for `max`, `first` for `last`; a counter that is not bumped; nothing appended."""
    if other := expr.traits.opposite:
        says = f"`{expr.name}` becomes `{other}`"
        text = write(expr).replace(expr.name, other, 1)
        yield _edit(expr, "other-builtin", says, replace(expr, name=other), text)
    if expr.traits.is_update and expr.args[0].type == expr.type:
        kept = expr.args[0]
        says = f"`{write(expr)}` becomes `{write(kept)}`"
        yield _edit(expr, "skip-update", says, kept, write(kept))


# --- sets, records, maps -------------------------------------------------------------------------


def set_operation(expr: ir.Binary) -> Iterator[ExprEdit]:
    """Another operation on the same sets, or none."""
    if expr.traits.kind == "sets":
        if expr.traits.mistake:
            yield _with_operator(expr, "set-operation", expr.traits.mistake)
        says = f"`{expr.traits.sign} {write(expr.right)}` is left out"
        yield _edit(expr, "set-operation", says, expr.left, write(expr.left))


def item_left_out(expr: ir.SetNew) -> Iterator[ExprEdit]:
    """A set of several items without one of them."""
    for i, item in enumerate(expr.items if len(expr.items) > 1 else ()):
        left = (*expr.items[:i], *expr.items[i + 1 :])
        text = f"{{{', '.join(write(other) for other in left)}}}"
        says = f"the item `{write(item)}` is left out"
        yield _edit(expr, "set-operation", says, replace(expr, items=left), text)


def field_kept(expr: ir.RecordWith) -> Iterator[ExprEdit]:
    """A field of a record that is not updated."""
    updates = [(f"{name}: {write(value)}", value) for name, value in expr.fields]
    for i, (kind, says, left) in enumerate(_list_skips(updates)):
        target = write(expr.target)
        text = f"{target} with {{ {left} }}" if left else target
        fields = (*expr.fields[:i], *expr.fields[i + 1 :])
        yield _edit(expr, kind, says, replace(expr, fields=fields) if fields else expr.target, text)


def entry_kept(expr: ir.MapWith) -> Iterator[ExprEdit]:
    """An entry of a map that is not updated."""
    updates = [(f"{write(key)}: {write(value)}", value) for key, value in expr.entries]
    for i, (kind, says, left) in enumerate(_list_skips(updates)):
        target = write(expr.target)
        text = f"{target} with [{left}]" if left else target
        entries = (*expr.entries[:i], *expr.entries[i + 1 :])
        new = replace(expr, entries=entries) if entries else expr.target
        yield _edit(expr, kind, says, new, text)


def _list_skips(updates: Sequence[tuple[str, ir.Expr]]) -> Iterator[tuple[str, str, str]]:
    """For each update: the kind of the mistake to skip it, a sentence, and the other updates."""
    for i, (text, value) in enumerate(updates):
        kind = "forget-reset" if is_reset(value) else "skip-update"
        left = ", ".join(other for other, _ in (*updates[:i], *updates[i + 1 :]))
        yield kind, f"the update `{text}` is skipped", left


def is_reset(value: ir.Expr) -> bool:
    """Whether an update sets something back: to a constant, or to something empty."""
    match value:
        case ir.Literal() | ir.SetNew(items=()) | ir.SeqNew(items=()) | ir.Domain():
            return True
        case ir.MapNew():
            return is_reset(value.value)
        case _:
            return False


# --- helpers -------------------------------------------------------------------------------------


def write(expr: ir.Expr) -> str:
    """An expression as the charter has it, on one line."""
    if isinstance(expr, ir.Literal) and not is_written(expr):
        return show_expr(expr)
    return text_at(expr.span) or show_expr(expr)


def text_at(span: Span) -> str:
    """The charter's text at a span, on one line and without comments."""
    lines = span.source.text[span.start : span.end].split("\n")
    return " ".join(" ".join(line.partition("--")[0] for line in lines).split())


def is_written(expr: ir.Literal) -> bool:
    """Whether a constant stands in the charter: the check adds some, such as the start of a
    budget."""
    return text_at(expr.span) == show_expr(expr)


def _edit(expr: ir.Expr, kind: str, says: str, new: ir.Expr, text: str) -> ExprEdit:
    mark = f"{show_expr(expr)} {show_expr(new)}"
    return Edit(kind, says, expr.span, text, mark, new)


def _with_operator(expr: ir.Binary, kind: str, op: ir.RichOp) -> ExprEdit:
    left, right, here = write(expr.left), write(expr.right), write(expr)
    if expr.traits.sign not in here:  # such as `o is present(x)`
        new = replace(expr, op=op)
        return _edit(expr, kind, f"`{here}` is negated", new, f"not ({here})")
    says = f"`{expr.traits.sign}` becomes `{OPERATORS[op].sign}`"
    return _edit(expr, kind, says, replace(expr, op=op), f"{left} {OPERATORS[op].sign} {right}")
