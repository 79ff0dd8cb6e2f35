"""Prints known faults of an implementation: a method for each operation that has some."""

from __future__ import annotations

import json
from dataclasses import replace

from charter.core import nodes as n
from charter.render.python_model.line_breaks import Block, call, join
from charter.render.python_model.names import Names
from charter.render.python_model.operations import OperationPrinter, locals_of
from charter.render.python_model.operators import TRUE

FAILS = "_fails"
"""How the names of these methods end."""


def has_faults(operation: n.Operation) -> bool:
    """Whether an overlay entry has added faults to an operation."""
    return any(branch.faults for branch in operation.branches)


def fails_name(names: Names, operation: n.Operation) -> str:
    """The name of the method that lists the faults of an operation."""
    return names.attribute(f"{operation.name}{FAILS}")


def print_fails(printer: OperationPrinter, operation: n.Operation) -> None:
    """The method: the faults of every branch that may be taken, where their conditions hold."""
    out, names = printer.out, printer.printer.names
    local = printer.printer.local
    params = {p.name: p.type for p in operation.params}
    printer.head(fails_name(names, operation), params, "list[Fault]")
    with out.indent():
        printer.docstring(f"How an implementation is known to fail in {operation.name}.")
        method = names.attribute(operation.name)
        asked = call(f"self.{method}", *(local(p.name) for p in operation.params))
        taken = Block("dict.fromkeys(", ("o.branch", join("for o in ", asked)), ")", "")
        out.line("faults: list[Fault] = []")
        printer.put(taken, "for allowed in ", ":")
        known: set[str] = set()
        with out.indent():
            out.line("match allowed:")
            with out.indent():
                for branch in operation.branches:
                    if branch.faults:
                        _branch(printer, operation, branch, known)
        out.line("return faults")


def _branch(
    printer: OperationPrinter, operation: n.Operation, branch: n.Branch, known: set[str]
) -> None:
    """The statements for one branch; `known` are the lets that already have type hints."""
    out = printer.out
    label = f"{operation.name}/{branch.name}"
    out.line(f'case "{label}":')
    with out.indent():
        needed = {name for fault in branch.faults for name in locals_of(fault.condition)}
        lets: list[n.Bind] = []
        for bind in reversed(branch.lets):
            if bind.name in needed:
                needed |= set(locals_of(bind.value))
                lets.insert(0, bind)
        for bind in lets:
            assignment = printer.printer.bind(bind.name, bind.value)
            printer.assign(replace(assignment, hint="") if bind.name in known else assignment)
            known.add(bind.name)
        for fault in branch.faults:
            made = call("Fault", f'"{label}"', _text(fault.exception), _text(fault.saying))
            if fault.condition == TRUE:
                printer.put(call("faults.append", made))
                continue
            printer.put(printer.printer.doc(fault.condition), "if ", ":")
            with out.indent():
                printer.put(call("faults.append", made))


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
