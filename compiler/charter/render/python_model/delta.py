"""Prints a sibling model as its difference from the plain one, or from another sibling.

The two modules of each model are split into functions, types, constants and methods. Those that
differ are printed in the sibling's module, which runs the other model's modules first. This needs
no knowledge of the edits that made the models different.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent, wrap

from charter.formats.image import is_of_image
from charter.render.python_model.emit import PACKAGE, Page, Texts, wire_module
from charter.render.python_model.faults import FAILS
from charter.render.python_model.imports import (
    SIBLING_NAMES,
    import_lines,
    lines_of,
    methods_in,
    names_defined,
    names_read,
    parse,
    with_imports,
)
from charter.render.python_model.line_breaks import WIDTH
from charter.render.python_model.names import PRELUDE
from charter.render.python_model.offered import OFFERED_TABLES
from charter.render.python_model.operations import BREAKS, doc_lines
from charter.render.text import INDENT, environment

CHANGED = "Changed"
"""The name of the class in a sibling that replaces the component's class. A sibling of a sibling
has another one, with a number."""

_CONSTANTS = frozenset(
    {"VARIANT", "SPEC_DIGEST", "OPERATIONS", "OBSERVES", "GHOSTS", "NEVER_ISSUED", *OFFERED_TABLES}
)


@dataclass(frozen=True, slots=True)
class Plain:
    """The model that a sibling differs from: its module, its texts, and the component's class. If
    it is a sibling itself, `names` maps each name that it and those before it define anew to the
    module, and `changes` counts the classes that have replaced the component's."""

    module: str
    texts: Texts
    klass: str
    before: Plain | None = None
    own: frozenset[str] = frozenset()
    changes: int = 0

    @property
    def latest(self) -> str:
        """The class that stands for the component."""
        return _find_changed(self.changes) or self.klass

    def imports(self, read: frozenset[str]) -> list[str]:
        """The lines that import the names that are read, each from where it is defined last."""
        if self.before:
            mine = self.own & read
            return [*self.before.imports(read - mine), *import_lines(self.module, mine, depth=1)]
        model, wire = (names_defined(outline) & read for outline in self.texts.outlines)
        typed = import_lines(self.module, model, depth=1)
        return typed + import_lines(wire_module(self.module), wire, depth=1)


@dataclass(frozen=True, slots=True)
class Delta:
    """A sibling as its difference: the text of its module, and the model for those that differ from
    it."""

    text: str
    model: Plain


def _find_changed(number: int) -> str:
    return ("", CHANGED)[number] if number < 2 else f"{CHANGED}{number}"


def _beginning(plain: Plain, digest: str) -> str:
    """The call that runs the other model."""
    name = "go_on" if plain.before else "begin"
    given = ("__name__", f'"{plain.module}"', f'"{digest}"')
    line = f"{name}({', '.join(given)})"
    rows = "".join(f"{INDENT}{argument},\n" for argument in given)
    return line if len(line) <= WIDTH else f"{name}(\n{rows})"


def _changes(operations: Iterable[str]) -> str:
    """The line that names the operations that differ; a judge asks no others of this model."""
    names = " ".join(sorted(operations))
    line = f'CHANGES = "{names}"'
    if len(line) <= WIDTH:
        return line
    rows = [f'{INDENT}"{row} "\n' for row in wrap(names, WIDTH - len(INDENT) - 3)]
    return f"CHANGES = (\n{''.join(rows)})"


def sibling_text() -> str:
    """The text of the module `charter_models.sibling`, which siblings import."""
    return environment(PACKAGE).get_template("sibling.py.j2").render()


def delta(plain: Plain, sibling: Texts, page: Page, about: str) -> Delta | None:
    """The module of a sibling whose whole text is `sibling`; `about` is its docstring.

    None if the two do not differ in rules alone: if types or state differ, or what a judge calls is
    missing. Such a sibling differs from another model, or needs two whole modules.
    """
    base, wanted = Parts.of(plain.texts, plain.klass), Parts.of(sibling, plain.klass)
    if base.types != wanted.types or base.state != wanted.state or base.called - wanted.called:
        return None
    constants = _new(base.constants, wanted.constants)
    methods = _new(base.methods, wanted.methods)
    changes = plain.changes + bool(methods)
    changed = _find_changed(changes)
    functions = {
        name: re.sub(rf"(\(\s*state: ){plain.klass},", rf"\g<1>{changed or plain.klass},", text)
        for name, text in _new(base.functions, wanted.functions).items()
    }
    body = [*constants.values(), *functions.values()]
    read = names_read("\n\n".join(body))
    if methods:
        read |= names_read("\n".join([f"class {changed}:", *methods.values()]))
        read |= {plain.klass, plain.latest}
    own = frozenset(constants.keys() | functions.keys() | ({changed} if methods else set()))
    rendered = (
        environment(PACKAGE)
        .get_template("delta.py.j2")
        .render(
            page=page,
            plain=plain,
            begin=_beginning(plain, base.digest),
            title="\n".join(doc_lines(about)),
            names="\n".join(plain.imports(frozenset(read) - own)),
            changes="" if page.changes is None else _changes(page.changes),
            constants=[*constants.values()],
            functions=[*functions.values()],
            methods=[*methods.values()],
            changed=changed,
        )
    )
    text = with_imports(rendered, {page.prelude: PRELUDE, page.sibling: SIBLING_NAMES})
    return Delta(text, Plain(page.module, sibling, plain.klass, plain, own, changes))


def _new(base: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """The items of `wanted` that are missing in `base` or differ there. Docstrings that `base` has
    are left out."""
    return {
        name: _without_docstring_of(base.get(name.removeprefix("replaced_"), ""), text)
        for name, text in wanted.items()
        if base.get(name) != text
    }


def _without_docstring_of(base: str, text: str) -> str:
    """A function or method without its docstring, if the plain model's `base` has the same one."""
    repeated, documented = _docstring(base), _docstring(text)
    if not repeated or not documented or repeated[0] != documented[0]:
        return text
    _, first, last = documented
    lines = text.split("\n")
    body = lines[last:] if lines[last] else lines[last + 1 :]
    return "\n".join([*lines[:first], *body])


def _docstring(text: str) -> tuple[str, int, int] | None:
    """The docstring of a function, and the half-open range of its lines, counted from 0."""
    match ast.parse(dedent(text)).body:
        case [ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str(doc))) as where, *_])]:
            return inspect.cleandoc(doc), where.lineno - 1, where.end_lineno or where.lineno
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Parts:
    """What a model defines: texts by name, in their order. `state` is the head of the component's
    class, up to its first method."""

    types: Mapping[str, str]
    constants: Mapping[str, str]
    functions: Mapping[str, str]
    state: str
    methods: Mapping[str, str]

    @classmethod
    def of(cls, texts: Texts, klass: str) -> Parts:
        """The parts of a model whose component has the class `klass`."""
        types: dict[str, str] = {}
        constants: dict[str, str] = {}
        functions: dict[str, str] = {}
        state, methods = "", dict[str, str]()
        whole = {name: text for o in texts.operations for name, text in methods_in(o).items()}
        for text, printed in zip(texts.outlines, (texts.functions, {}), strict=True):
            lines = text.split("\n")
            for node in parse(text).body:
                written = lines_of(node, lines)
                match node:
                    case ast.Assign(targets=[ast.Name(id="__all__")]):
                        pass
                    case ast.ClassDef(name=name) if name == klass:
                        state, methods = _take_apart(node, lines)
                        methods = {name: whole.get(name, text) for name, text in methods.items()}
                    case ast.ClassDef(name=name):
                        types[name] = written
                    case ast.FunctionDef(name=name):
                        functions[name] = printed.get(name, written)
                    case (
                        ast.Assign(targets=[ast.Name(id=name)])
                        | ast.AnnAssign(target=ast.Name(id=name))
                    ):
                        (constants if name in _CONSTANTS else types)[name] = written
                    case _:
                        pass
        return cls(types, constants, functions, state, methods)

    @property
    def called(self) -> frozenset[str]:
        """What a judge calls: the operations, and the function that knows faults. Only that one
        calls the method for the faults of an operation. What images show is asked by name."""
        operations = (
            m
            for m in self.methods
            if m[0] != "_" and not m.endswith((FAILS, BREAKS)) and not is_of_image(m)
        )
        return frozenset({*operations, *({"assumed", "fails"} & self.functions.keys())})

    @property
    def digest(self) -> str:
        """SPEC_DIGEST of the model."""
        return str(ast.literal_eval(self.constants["SPEC_DIGEST"].partition(" = ")[2]))


def _take_apart(node: ast.ClassDef, lines: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The head of a class, and its methods."""
    methods = {n.name: lines_of(n, lines) for n in node.body if isinstance(n, ast.FunctionDef)}
    head = [lines_of(n, lines) for n in node.body if not isinstance(n, ast.FunctionDef)]
    return "\n".join(head), methods
