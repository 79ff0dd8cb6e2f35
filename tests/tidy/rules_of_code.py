"""The rules of the house for Python files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Final

from tests.tidy.house import RATCHET, File, Rule, imports, is_generated, is_python, is_source

FILE_LINES: Final = 500
FUNCTION_LINES: Final = 70
ARGUMENTS: Final = 5

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(file: File) -> Iterator[Function]:
    return file.nodes(ast.FunctionDef, ast.AsyncFunctionDef)


def _dot(node: ast.expr) -> str:
    """The name of what is called, such as `random.choice`; "" if it is no name."""
    if isinstance(node, ast.Attribute):
        of = _dot(node.value)
        return of and f"{of}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def long_file(file: File) -> Iterator[str]:
    length = len(file.text.splitlines())
    limit = RATCHET["file_lines"].get(file.path, FILE_LINES)
    if length > limit:
        yield f"1: {length} lines, the limit is {limit}: split it by what it knows"


def long_function(file: File) -> Iterator[str]:
    for node in _functions(file):
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        limit = RATCHET["function_lines"].get(f"{file.path}::{node.name}", FUNCTION_LINES)
        if length > limit:
            yield f"{node.lineno}: {node.name} has {length} lines, the limit is {limit}"


def many_arguments(file: File) -> Iterator[str]:
    for node in _functions(file):
        of = node.args
        names = [a.arg for a in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
        count = len([name for name in names if name not in ("self", "cls")])
        if count > ARGUMENTS:
            yield f"{node.lineno}: {node.name} takes {count} arguments: give them a record"


def any_type(file: File) -> Iterator[str]:
    for line, name in imports(file):
        if name == "typing.Any":
            yield f"{line}: Any: say which type, or object"


def missing_docstring(file: File) -> Iterator[str]:
    if ast.get_docstring(file.tree()) is None:
        yield "1: a module opens with a sentence that says what it knows"


def printing(file: File) -> Iterator[str]:
    for node in file.nodes(ast.Call):
        if _dot(node.func) == "print":
            yield f"{node.lineno}: print: return a value, the command line prints"


BANNED_CALLS: Final = {
    "eval": "write a parser, or a table",
    "exec": "emit a module and import it",
    "os.system": "subprocess.run with a list",
    "os.popen": "subprocess.run with a list",
    "tempfile.mktemp": "tempfile.TemporaryDirectory",
    "random.random": "random.Random(seed)",
    "random.choice": "random.Random(seed)",
    "random.shuffle": "random.Random(seed)",
    "random.seed": "random.Random(seed)",
    "datetime.utcnow": "datetime.now(UTC)",
    "hash": "hashlib, whose result is the same in every run",
}
BANNED_MODULES: Final = {
    "pickle": "charter.formats",
    "marshal": "charter.formats",
    "shelve": "charter.formats",
    "unittest": "pytest",
    "optparse": "argparse",
}


def find_banned_calls(file: File) -> Iterator[str]:
    """Calls that a better one replaces; `__hash__` may of course call hash."""
    hashing = {
        id(inner) for node in file.nodes(ast.FunctionDef)
        if node.name == "__hash__" for inner in ast.walk(node)
    }  # fmt: skip
    whole_random = any(
        alias.name == "random" for node in file.nodes(ast.Import) for alias in node.names
    )
    for node in file.nodes(ast.Call):
        name = _dot(node.func)
        if name.startswith("random.") and not whole_random:
            continue  # a Random that somebody called random
        if name in BANNED_CALLS and id(node) not in hashing:
            yield f"{node.lineno}: {name}: use {BANNED_CALLS[name]}"
        for keyword in node.keywords:
            if keyword.arg == "shell" and ast.unparse(keyword.value) != "False":
                yield f"{node.lineno}: shell=True: give a list of arguments"


def find_banned_imports(file: File) -> Iterator[str]:
    for line, name in imports(file):
        if name in BANNED_MODULES:
            yield f"{line}: {name}: use {BANNED_MODULES[name]}"


def global_state(file: File) -> Iterator[str]:
    """`global`, and lists, sets and dicts of a module that are not constants."""
    for node in file.nodes(ast.Global):
        yield f"{node.lineno}: global: hand the value down"
    for statement in file.tree().body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        mutable = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp)
        if mutable and not name.isupper() and name != "__all__":
            yield f"{statement.lineno}: {name}: a module holds no state; a table is upper case"


def loose_dataclass(file: File) -> Iterator[str]:
    for node in file.nodes(ast.ClassDef):
        for decorator in map(ast.unparse, node.decorator_list):
            if decorator.startswith("dataclass") and "slots=True" not in decorator:
                yield f"{node.lineno}: {node.name}: dataclass(frozen=True, slots=True)"


def foreign_import(file: File) -> Iterator[str]:
    own = "charter.formats" if "/formats/" in file.path else "charter_models"
    for line, name in imports(file):
        top = name.split(".")[0]
        inside = name == top == own.split(".", maxsplit=1)[0] or name.startswith(own)
        if top not in sys.stdlib_module_names and not inside:
            yield f"{line}: {name}: the standard library only, this must run anywhere"


def adapter_import(file: File) -> Iterator[str]:
    for line, name in imports(file):
        if name.split(".")[0] in ("charter", "charter_models") or (
            name.startswith("conform") and name not in ("conform", "conform.sdk")
            and not name.startswith("conform.sdk.")
        ):  # fmt: skip
            yield f"{line}: {name}: an adapter is an island, it may import conform.sdk only"


def test_class(file: File) -> Iterator[str]:
    for node in file.tree().body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield f"{node.lineno}: {node.name}: a test is a function, test_<what>_<when>"


SKIP: Final = re.compile(r"pytest\.(mark\.)?(skip|skipif|importorskip)\b|mark\.flaky")


def find_skips(file: File) -> Iterator[str]:
    for number, line in file.lines():
        if SKIP.search(line) and "pytest.skip(tlc.NO_JAR)" not in line:  # told aloud: conftest
            yield f"{number}: a test runs or is deleted; what is missing is a failure"


IGNORE: Final = re.compile(r"#\s*(type:\s*ignore(?!\[)|noqa(?!:))")


def find_unexplained_ignores(file: File) -> Iterator[str]:
    for number, _ in file.find(IGNORE):
        yield f"{number}: name the error that is ignored, as in ignore[misc]"


def _ours(path: str) -> bool:
    return is_python(path) and not is_generated(path)


def _quiet(path: str) -> bool:
    return is_source(path) and not path.startswith(
        ("conformance/conform/cli/", "conformance/conform/console/terminal.py")
    )


def _alone(path: str) -> bool:
    return is_python(path) and path.startswith(("compiler/charter/formats/", "generated/"))


def _adapter(path: str) -> bool:
    return is_python(path) and path.startswith("conformance/adapters/")


def _is_typed(path: str) -> bool:
    return is_source(path) and not path.startswith("compiler/charter/formats/")


def _test(path: str) -> bool:
    return is_python(path) and path.startswith("tests/") and "/tidy/" not in path


LONG_BODY: Final = "def f():\n" + "    a = 1\n" * FUNCTION_LINES
SOURCE: Final = "compiler/charter/bad.py"
RULES_OF_CODE: Final = (
    Rule("a file has at most 500 lines", _ours, long_file, (SOURCE, "a = 1\n" * 501)),
    Rule("a function has at most 70 lines", _ours, long_function, (SOURCE, LONG_BODY)),
    Rule("a function takes at most 5 arguments", _ours, many_arguments,
         (SOURCE, "def f(self, a, b, c, d, *, e, f): ...")),
    Rule("no Any outside the formats", _is_typed, any_type, (SOURCE, "from typing import Any")),
    Rule("a module says what it knows", is_python, missing_docstring, (SOURCE, "a = 1")),
    Rule("only the command line prints", _quiet, printing, (SOURCE, "print('a')")),
    Rule("no banned call", is_python, find_banned_calls,
         (SOURCE, "subprocess.run('a', shell=True)")),
    Rule("no call of eval", is_python, find_banned_calls, (SOURCE, "eval('1')")),
    Rule("no unseeded randomness", is_python, find_banned_calls,
         (SOURCE, "import random\nrandom.choice([1])")),
    Rule("no banned module", is_python, find_banned_imports, (SOURCE, "from pickle import loads")),
    Rule("a module holds no state", _ours, global_state, (SOURCE, "seen: list[int] = []")),
    Rule("nothing is global", is_python, global_state, (SOURCE, "def f():\n    global a")),
    Rule("a dataclass has slots", is_source, loose_dataclass, (SOURCE, "@dataclass\nclass A: ...")),
    Rule("formats and models stand alone", _alone, foreign_import,
         ("compiler/charter/formats/bad.py", "import orjson")),
    Rule("an adapter is an island", _adapter,
         adapter_import, ("conformance/adapters/a/bad.py", "import conform.judging.automaton")),
    Rule("a test is a function", _test, test_class, ("tests/unit/test_a.py", "class TestA: ...")),
    Rule("no test is skipped", _test, find_skips, ("tests/unit/test_a.py", "pytest.skip('x')")),
    Rule("what is ignored is named", is_python, find_unexplained_ignores,
         (SOURCE, "a = b  # no" + "qa")),
)  # fmt: skip
