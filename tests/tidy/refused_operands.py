"""Misuses of the builder of LLVM IR, one each. mypy reads this file with the tree (`test_tools`)
and must refuse every one: it reports an `ignore` that hides no error, too. No test runs this."""

from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import TRUE, Code, Label, Pointer, Ref, Truth

PLACE, NUMBER, TEST = Pointer("%p"), Ref("%n"), Truth("%t")


def misuse(code: Code, on: Label) -> None:
    """Operands of each kind in places of the others."""
    code.add(PLACE, 1)  # type: ignore[arg-type]  # a pointer is no number
    code.add(TEST, 1)  # type: ignore[arg-type]  # a truth is no number
    code.add("1", 1)  # type: ignore[arg-type]  # text is no constant
    code.load(NUMBER)  # type: ignore[arg-type]  # a number is no pointer
    code.load(8)  # type: ignore[arg-type]  # nor is a constant
    code.store(TRUE, PLACE)  # type: ignore[arg-type]  # a truth has no place in memory
    code.fork(NUMBER, on, on)  # type: ignore[arg-type]  # a number is no truth
    code.both(TRUE, PLACE)  # type: ignore[arg-type]  # a pointer is no truth
    code.fork(TRUE, on, "after")  # type: ignore[arg-type]  # text is no block
    code.compare("slt", NUMBER, 1)  # type: ignore[arg-type]  # comparisons have other names
    code.call(fn.SAME, PLACE, NUMBER, 1)  # type: ignore[misc]  # arguments have types, too
    code.add(code.call(fn.SAME, PLACE, PLACE, 1), 1)  # type: ignore[arg-type]  # and results
    Code.of(fn.PACK, PLACE, NUMBER)  # type: ignore[misc]  # and parameters
