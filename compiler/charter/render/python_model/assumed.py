"""Prints what an operation assumes: a method that says which assumption is false."""

from __future__ import annotations

import json

from charter.core import nodes as n
from charter.render.python_model.line_breaks import WIDTH, Block, Doc
from charter.render.python_model.operations import OperationPrinter, breaks_name
from charter.render.python_model.present_values import bound
from charter.render.text import cite, wrap


def print_breaks(printer: OperationPrinter, operation: n.Operation) -> None:
    """The method: the text of the first assumption that is false, or "" if all are true."""
    out, names = printer.out, printer.printer.names
    printer.printer.take(
        bound([assumed.condition for assumed in operation.assumes])
        | {p.name for p in operation.params}
    )
    params = {p.name: p.type for p in operation.params}
    printer.head(breaks_name(names, operation), params, "str")
    with out.indent():
        printer.docstring(f'The first assumption of {operation.name} that is false; "" if none is.')
        for assumed in operation.assumes:
            condition = assumed.condition
            while isinstance(condition, n.Let):
                printer.assign(printer.printer.bind(condition.name, condition.value))
                condition = condition.body
            about = " ".join(part for part in (assumed.doc, cite(assumed.citations)) if part)
            if about:
                printer.comment(about)
            printer.put(_negate(printer, condition), "if ", ":")
            with out.indent():
                printer.put(_text(assumed.span.quote(), out.depth), "return ")
        out.line('return ""')


def _negate(printer: OperationPrinter, condition: n.Expr) -> Doc:
    """That a condition is false."""
    match condition:
        case n.Unary(op="not"):
            return printer.printer.doc(condition.operand)
        case n.Binary() if condition.op != "in":
            return Block("not (", (printer.printer.doc(condition),), ")", "")
        case _:
            broken = n.Unary("not", condition, type=condition.type, span=condition.span)
            return printer.printer.doc(broken)


def _text(text: str, depth: int) -> Doc:
    """A text in quotes, as several of them if it is long."""
    rows = wrap(text, WIDTH - 4 * depth - 20)
    rows = [f"{row} " for row in rows[:-1]] + rows[-1:]
    quoted = [json.dumps(row, ensure_ascii=False) for row in rows]
    quoted = [
        f"'{row}'" if '"' in row and not {"'", "\\"} & {*row} else json_text
        for row, json_text in zip(rows, quoted, strict=True)
    ]
    return quoted[0] if len(quoted) == 1 else Block("(", tuple(quoted), ")", "")
