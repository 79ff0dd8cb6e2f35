"""Shows types and expressions as documents, with the fewest parentheses that keep the tree."""

from __future__ import annotations

from typing import Final, assert_never

from charter.syntax import nodes
from charter.syntax.documents import LINE, Break, Doc, Group, Nest, brackets, flat, join
from charter.syntax.nodes import Expr

IMPLIES, LOGIC, NOT, COMPARE, SUM, PRODUCT, UNARY, WITH, POSTFIX, ATOM = range(10)
"""Precedence levels, as in the grammar."""

LOGICAL: Final = frozenset({"and", "or"})
ADDING: Final = frozenset("+-|&")
NUMBERS: Final = frozenset("+-")


def quote(text: str) -> str:
    """A string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def show_expr(expr: Expr) -> str:
    """`expr` on one line."""
    return flat(expression(expr))


def show_type(type_: nodes.Type) -> str:
    """`type_` on one line."""
    return flat(type_doc(type_))


# --- types ---------------------------------------------------------------------------------------


def type_doc(type_: nodes.Type) -> Doc:
    """Any type."""
    match type_:
        case nodes.NamedType(name):
            return name
        case nodes.IntType(low, high):
            return ("int ", close(low, SUM), "..", close(high, SUM))
        case nodes.WrappedType(wrapper, inner):
            return (wrapper, " ", type_doc(inner))
        case nodes.SeqType(inner, limit):
            return ("seq ", type_doc(inner), " max ", close(limit, SUM))
        case nodes.MapType(key, value):
            return ("map ", type_doc(key), " -> ", type_doc(value))
        case _:
            assert_never(type_)


def params_doc(params: tuple[nodes.Param, ...]) -> Doc:
    """`(x: T, y: U)`."""
    if not params:
        return "()"
    return brackets("(", join((",", LINE), [_param(param) for param in params]), ")")


def _param(param: nodes.Param) -> Doc:
    default = (" = ", expression(param.default)) if param.default else ""
    return (param.name.text, ": ", type_doc(param.type), default)


# --- how tightly ---------------------------------------------------------------------------------


def _level_of(op: nodes.BinaryOp) -> int:
    match op:
        case "implies":
            return IMPLIES
        case "and" | "or":
            return LOGIC
        case "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" | "subset":
            return COMPARE
        case "+" | "-" | "|" | "&":
            return SUM
        case "*":
            return PRODUCT


def _level(expr: Expr) -> int:
    match expr:
        case nodes.Binary():
            return _level_of(expr.op)
        case nodes.Unary(op="not"):
            return NOT
        case nodes.Is():
            return COMPARE
        case nodes.Unary() | nodes.If() | nodes.LetIn() | nodes.Quantifier() | nodes.Match():
            return UNARY
        case nodes.WithFields() | nodes.WithEntries():
            return WITH
        case nodes.FieldOf() | nodes.Index():
            return POSTFIX
        case _:
            return ATOM


def _right_level(op: str) -> int:
    """The least precedence of the right operand of `op`."""
    if op == "implies":
        return IMPLIES
    if op in LOGICAL:
        return NOT
    if op in ADDING:
        return PRODUCT
    return UNARY if op == "*" else SUM


def is_open(expr: Expr) -> bool:
    """Whether the text of `expr` ends in a part that extends as far right as possible."""
    match expr:
        case nodes.If() | nodes.LetIn() | nodes.Quantifier():
            return True
        case nodes.Binary(op, _, right):
            return _level(right) >= _right_level(op) and is_open(right)
        case nodes.Unary("not", operand):
            return _level(operand) >= NOT and is_open(operand)
        case nodes.Unary("-", operand):
            return _level(operand) >= UNARY and is_open(operand)
        case _:
            return False


def _has_free_in(expr: Expr) -> bool:
    """Whether `in` occurs outside of brackets as a comparison: a `let` around it would end
    there."""
    match expr:
        case nodes.Binary(op, left, right):
            return op == "in" or _has_free_in(left) or _has_free_in(right)
        case nodes.Unary(_, operand):
            return _has_free_in(operand)
        case nodes.If(condition, then, otherwise):
            return any(_has_free_in(part) for part in (condition, then, otherwise))
        case nodes.LetIn(_, value, body):
            return _has_free_in(value) or _has_free_in(body)
        case nodes.Quantifier(_, binders, body):
            return _has_free_in(body) or any(_has_free_in(each.domain) for each in binders)
        case nodes.Match(subject, _) | nodes.Is(subject, _):
            return _has_free_in(subject)
        case _:
            return False


def parenthesise(expr: Expr) -> Doc:
    """`(expr)`."""
    return Group(("(", Nest(expression(expr)), ")"))


def last(expr: Expr, level: int) -> Doc:
    """`expr` where nothing follows that could become part of it; parentheses below `level`."""
    return expression(expr) if _level(expr) >= level else parenthesise(expr)


def close(expr: Expr, level: int) -> Doc:
    """`expr` where an operator or a bracket follows."""
    return parenthesise(expr) if is_open(expr) else last(expr, level)


# --- expressions ---------------------------------------------------------------------------------


def expression(expr: Expr) -> Doc:
    """Any expression, without parentheses around it."""
    match expr:
        case nodes.IntLit(value):
            return str(value)
        case nodes.BoolLit(value):
            return "true" if value else "false"
        case nodes.NoneLit():
            return "none"
        case nodes.Ident(name, primed):
            return f"{name}'" if primed else name
        case nodes.NamedArg(name, value):
            return (f"{name.text}: ", expression(value))
        case nodes.Apply(name, args):
            return (name.text, arguments_doc(args))
        case nodes.FieldOf(target, field):
            return (last(target, POSTFIX), ".", field.text)
        case nodes.Index(target, key):
            return (last(target, POSTFIX), brackets("[", expression(key), "]"))
        case nodes.Took(operation, branch, args):
            taken = f"{operation.text}/{branch.text}" if branch else operation.text
            return (f"took {taken}", "" if args is None else arguments_doc(args))
        case nodes.Unary(op, operand):
            return _unary(op, operand)
        case nodes.Is(subject, pattern):
            return (close(subject, SUM), f" is {_pattern(pattern)}")
        case nodes.Binary():
            return _binary(expr)
        case nodes.If() | nodes.LetIn() | nodes.Quantifier() | nodes.Match():
            return _reaching(expr)
        case _:
            return _collection(expr)


def _hugs(expr: Expr) -> bool:
    """Whether the opening bracket of `expr` may end the line before its content."""
    records = nodes.RecordLit | nodes.WithFields | nodes.WithEntries | nodes.Apply | nodes.Match
    return isinstance(
        expr, records | nodes.SetLit | nodes.SeqLit | nodes.MapLit | nodes.Comprehension
    )


def bound_to(opening: Doc, value: Expr) -> Doc:
    """`opening value`, on the same line if it fits or the value opens a bracket there."""
    if _hugs(value):
        return (opening, " ", expression(value))
    return Group((opening, Nest((LINE, expression(value)))))


def arguments_doc(args: tuple[Expr, ...]) -> Doc:
    """`(a, b)`."""
    if not args:
        return "()"
    if len(args) == 1 and _hugs(args[0]):
        return ("(", expression(args[0]), ")")
    return brackets("(", _list(args), ")")


def _list(items: tuple[Expr, ...]) -> Doc:
    return join((",", LINE), [expression(item) for item in items])


def _unary(op: str, operand: Expr) -> Doc:
    if op == "not":
        return ("not ", last(operand, NOT))
    if isinstance(operand, nodes.Unary) and operand.op == "-":
        return ("-", parenthesise(operand))  # two dashes would begin a comment
    return ("-", last(operand, UNARY))


def _chains(op: str, left: Expr) -> bool:
    """Whether `left` needs no parentheses to the left of `op` although it has the same
    precedence."""
    if not isinstance(left, nodes.Binary):
        return False
    if op in NUMBERS and left.op in NUMBERS:
        return True
    return left.op == op and (op in LOGICAL or op in ADDING or op == "*")


def _binary(expr: nodes.Binary) -> Doc:
    if expr.op == "implies":
        right = last(expr.right, IMPLIES)
        return Group((close(expr.left, LOGIC), " implies", Nest((LINE, right))))
    parts: list[Doc] = [(LINE, expr.op, " ", last(expr.right, _right_level(expr.op)))]
    here = expr
    while isinstance(here.left, nodes.Binary) and _chains(here.op, here.left):
        here = here.left
        parts.append((LINE, here.op, " ", close(here.right, _right_level(here.op))))
    parts.append(close(here.left, _right_level(here.op)))
    first, *rest = reversed(parts)
    return Group((first, Nest(tuple(rest))))


def binders_doc(binders: tuple[nodes.AnyBinder, ...]) -> Doc:
    return join(", ", [binder_doc(each) for each in binders])


def binder_doc(binder: nodes.AnyBinder) -> Doc:
    """`x in S`, `k, present(x) in m`."""
    return (_bound(binder), " in ", close(binder.domain, SUM))


def _bound(binder: nodes.AnyBinder) -> str:
    if isinstance(binder, nodes.Binder):
        return binder.name.text
    key = "" if binder.key is None else f"{binder.key.text}, "
    match binder.value:
        case nodes.Name(text):
            return f"{key}{text}"
        case nodes.Pattern():
            return key + _pattern(binder.value)
        case _:
            assert_never(binder.value)


def _pattern(pattern: nodes.Pattern) -> str:
    return f"{pattern.tag.text}({', '.join(name.text for name in pattern.names)})"


def _reaching(expr: nodes.If | nodes.LetIn | nodes.Quantifier | nodes.Match) -> Doc:
    match expr:
        case nodes.If(condition, then, otherwise):
            first: Doc = ("if ", Nest(expression(condition)))
            second: Doc = ("then ", Nest(expression(then)))
            third: Doc = ("else ", Nest(expression(otherwise)))
            return Group((first, Nest((LINE, second, LINE, third))))
        case nodes.LetIn(name, value, body):
            bound = parenthesise(value) if _has_free_in(value) else expression(value)
            return Group((f"let {name.text} = ", Nest(bound), " in", LINE, expression(body)))
        case nodes.Quantifier(kind, binders, body):
            return Group((f"{kind} ", binders_doc(binders), ":", Nest((LINE, expression(body)))))
        case nodes.Match(subject, cases):
            shown = [_case(case) for case in cases]
            return (
                "match ",
                expression(subject),
                " ",
                brackets("{", join(Break(", "), shown), "}", LINE),
            )
        case _:
            assert_never(expr)


def _case(case: nodes.Case) -> Doc:
    names = f"({', '.join(name.text for name in case.names)})" if case.names else ""
    return bound_to(f"{case.tag.text}{names} ->", case.body)


def _inits(fields: tuple[nodes.FieldInit, ...]) -> Doc:
    shown = [bound_to(f"{each.name.text}:", each.value) for each in fields]
    return brackets("{", join((",", LINE), shown), "}", LINE)


def _entry(entry: nodes.Entry) -> Doc:
    return bound_to((close(entry.key, IMPLIES), ":"), entry.value)


def _collection(
    expr: nodes.RecordLit
    | nodes.WithFields
    | nodes.WithEntries
    | nodes.SetLit
    | nodes.SeqLit
    | nodes.Comprehension
    | nodes.MapLit,
) -> Doc:
    match expr:
        case nodes.RecordLit(name, fields):
            return (name.text, " ", _inits(fields))
        case nodes.WithFields(target, fields):
            return (last(target, WITH), " with ", _inits(fields))
        case nodes.WithEntries(target, entries):
            shown = join((",", LINE), [_entry(each) for each in entries])
            return (last(target, WITH), " with ", brackets("[", shown, "]"))
        case nodes.SetLit(items):
            return brackets("{", _list(items), "}") if items else "{}"
        case nodes.SeqLit(items):
            shown = join((",", LINE), [close(item, SUM) for item in items])
            return brackets("<", shown, ">") if items else "<>"
        case nodes.MapLit(binder, value):
            return brackets("[", bound_to((binder_doc(binder), ":"), value), "]")
        case nodes.Comprehension():
            return _comprehension(expr)
        case _:
            assert_never(expr)


def _comprehension(expr: nodes.Comprehension) -> Doc:
    parts: list[Doc] = []
    if expr.body is None:
        parts.append(binders_doc(expr.binders))
    else:
        parts.extend((expression(expr.body), LINE, "for ", binders_doc(expr.binders)))
    if expr.condition is not None:
        parts.extend((LINE, "if ", expression(expr.condition)))
    return brackets("{", tuple(parts), "}", LINE)
