"""Where the compiler may have a list of built-in functions, or of the primitives that they become:
whoever adds one has to find all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, get_args

from tests.tidy.house import File, Rule, is_python

from charter.core.builtins import BUILTINS, PrimitiveName

COMPILER: Final = "compiler/charter/"
LISTS: Final = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Match, ast.BoolOp)
NAMES: Final = frozenset({*BUILTINS, *get_args(PrimitiveName)})
OF_BUILTINS: Final = (
    "core/builtins.py",  # its name and its traits
    "check/typing/builtins.py",  # its type
    "semantics/builtins.py",  # its meaning
    "passes/builtins.py",  # its lowering
    "render/python_model/operators.py",  # Python's name for it, if that is another
)
OF_PRIMITIVES: Final = (
    "core/builtins.py",
    "semantics/builtins.py",
    "explore/native/emit/primitives.py",
    "prove/collections.py",
    "render/tla/expr.py",
)
OF_OTHER_THINGS: Final = {
    # Of others the type says which numbers there are.
    "check/numbers/known_numbers.py": ("of_builtin",),
    "analysis/counters.py": ("places", "_keys", "_more"),  # what becomes of one value of a counter
    "render/python_model/names.py": ("",),  # the names that Python has taken
}
"""Lists that a new function need not be in, by the functions that have them ("" is the module)."""


def _texts(nodes: Iterable[ast.AST | None]) -> set[str]:
    return {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _find_compared(node: ast.BoolOp) -> Iterator[ast.expr]:
    """What is compared in `e.name == "first" or e.name == "last"`."""
    for part in node.values:
        if isinstance(part, ast.Compare):
            yield from part.comparators


def _list_named(node: ast.expr | ast.Match) -> set[str]:
    """The built-in functions that a node lists."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return _texts(parts) & NAMES
        case ast.Dict(keys=keys, values=values):
            return max(_texts(keys) & NAMES, _texts(values) & NAMES, key=len)
        case ast.Match(cases=cases):
            inside = (part for case in cases for part in ast.walk(case.pattern))
            return _texts(p.value for p in inside if isinstance(p, ast.MatchValue)) & NAMES
        case ast.BoolOp():
            return _texts(_find_compared(node)) & NAMES
        case _:
            return set()


def lists(file: File) -> Iterator[tuple[int, str]]:
    """The line of each list of two or more, and the function that has it."""
    found = [node.lineno for node in file.nodes(*LISTS) if len(_list_named(node)) > 1]
    functions = [*file.nodes(ast.FunctionDef)] if found else []
    for line in found:
        around = [f.name for f in functions if f.lineno <= line <= (f.end_lineno or 0)]
        yield line, around[-1] if around else ""


def find_builtin_lists(file: File) -> Iterator[str]:
    """Lists of built-in functions in files that should ask for their traits."""
    allowed = OF_OTHER_THINGS.get(file.path.removeprefix(COMPILER), ())
    for line, function in lists(file):
        if function not in allowed:
            yield f"{line}: a list of built-in functions: ask their traits (core/builtins.py)"


def _asks(path: str) -> bool:
    return (
        is_python(path)
        and path.startswith(COMPILER)
        and path.removeprefix(COMPILER) not in (*OF_BUILTINS, *OF_PRIMITIVES)
    )


BUILTINS_ARE_LISTED_ONCE: Final = Rule(
    "built-in functions are listed in five files",
    _asks,
    find_builtin_lists,
    (f"{COMPILER}bad.py", "def f(e):\n    return e.name in ('first', 'last')"),
)
