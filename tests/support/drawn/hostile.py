"""Charters whose every name is one that an SDK of adapters, or a language, has for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import conform
from charter import api
from charter.project.pipeline import check_texts
from charter.render import adapters

SDKS = Path(conform.__file__).parent / "templates" / "adapters"
PAGES = Path(adapters.__file__).parent / "templates"
PARTS = {
    "go": (("go/charter/sdk.go", "go/charter/values.go"), ("protocol.go.j2", "main.go.j2")),
    "java": (
        tuple(f"java/src/charter/{name}.java" for name in ("Codec", "Json", "Sdk")),
        ("Protocol.java.j2", "Main.java.j2"),
    ),
    "node": (
        ("node/charter/codecs.js", "node/charter/sdk.js"), ("protocol.js.j2", "adapter.js.j2")
    ),
    "python": (("../../sdk.py",), ("protocol.py.j2", "adapter.py.j2")),
    "rust": (("rust/src/charter/mod.rs", "rust/src/charter/values.rs"),
             ("protocol.rs.j2", "main.rs.j2")),
}  # fmt: skip
"""The files of the SDK of each language, and the templates of what is generated beside it."""
KEYWORDS = """
abstract and as assert async await become box bool boolean break byte case catch chan char class
clone const constructor continue crate debugger def default defer del delete do double dyn elif
else enum except export extends extern fallthrough final finalize finally float fn for from func
function gen get_class global go goto hash_code if impl implements import in instanceof int
interface internal is lambda let len long loop macro make map match mod module move mut name native
new nil none nonlocal not notify null number object operator or override package panic pass print
priv private protected pub public raise range record ref return sealed select self short static
str strictfp string struct super switch synchronized this throw throws to_string trait transient
true try type typeof undefined union unsafe unsized use value values var virtual void volatile wait
where while with yield
"""
_REFUSED = frozenset(
    {"if", "let", "match", "none", "not", "true", "false", "some", "forall", "the"}
)
"""Words that a charter cannot use as names."""
ROLES = ("const", "case", "member")
"""What may have a small name, apart from fields, parameters and operations: one in each charter,
as these share one space of names."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_OWN = re.compile(r"[a-z][a-z_0-9]*")
_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*")
_TEXTS = re.compile(r"//[^\n]*|/\*.*?\*/|\{[{%].*?[%}]\}|^\s*#[^\n]*$", re.S | re.M)


def code(path: Path) -> str:
    """The text of a source without comments and placeholders."""
    return _TEXTS.sub(" ", path.read_text(encoding="utf-8"))


def sources(language: str) -> tuple[Path, ...]:
    """The files of an SDK, and the templates beside it."""
    own, pages = PARTS[language]
    return (*(SDKS / name for name in own), *(PAGES / name for name in pages))


def hostile_charter(language: str, role: str) -> str:
    """A charter of everything that the SDK of a language names, and of keywords."""
    found = {word for path in sources(language) for word in _WORD.findall(code(path))}
    page = {word for name in PARTS[language][1] for word in _WORD.findall(code(PAGES / name))}
    own = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower() for word in page}
    words = sorted({*own, *KEYWORDS.split()} - _REFUSED)
    small = [*_apart(word for word in words if _OWN.fullmatch(word) and len(word) > 2)]
    large = [*_apart(word for word in sorted(found) if _TYPE.fullmatch(word))]
    text = _text(large, small, role)
    errors = check_texts((api.Source("hostile", text),)).errors
    assert not errors, [(one.message, text[one.span.start - 20 : one.span.end]) for one in errors]
    return text


def _apart(found: Iterable[str]) -> Iterable[str]:
    """The words that stay different in every style of names."""
    seen: set[str] = set()
    for word in found:
        if (plain := word.replace("_", "").lower()) and plain not in seen:
            seen.add(plain)
            yield word


def _text(large: list[str], small: list[str], role: str) -> str:
    turn = ROLES.index(role)
    kinds: tuple[list[str], ...] = ([], [], [], [])
    for place, word in enumerate(large):
        kinds[(place + turn) % 4].append(word)
    sorts, records, enums, unions = kinds
    consts, cases, members = (small if role == each else [] for each in ROLES)
    held = [f"{word}({word.replace('case', 'kind')}: bool)" for word in cases]
    lines = ["protocol test.hostile", *(f"sort {word}" for word in sorts)]
    lines += [f"record {word} {{ {small[0]}: bool }}" for word in records]
    lines.append(f"record Wide_of_all {{ {', '.join(f'{word}: bool' for word in small)} }}")
    lines += [f"enum {word} {{ m{place}_of_it }}" for place, word in enumerate(enums)]
    lines.append(f"enum Members_of_it {{ {', '.join(['m_of_it', *members])} }}")
    lines += [f"union {word} {{ c{place}_of_it(at: bool) }}" for place, word in enumerate(unions)]
    lines.append(f"union Cases_of_it {{ {', '.join(['c_of_it', *held])} }}")
    lines += [f"const {word}: int 0..1" for word in consts]
    lines.append("component c {")
    shown = ["Wide_of_all", "Members_of_it", "Cases_of_it", *large]
    lines += [f"  state v{place}_of_it: option {word} = none" for place, word in enumerate(shown)]
    params = ", ".join(f"{word}: bool" for word in small) if role == "case" else ""
    lines.append(
        f"  operation wide_of_it({params}) -> option Cases_of_it {{ branch all reply none }}"
    )
    lines += [
        f"  operation {word}() -> bool {{\n    branch other when {word} == 0 reply true\n"
        "    branch taken reply false }"
        if consts
        else f"  operation {word}() -> bool {{ branch taken reply true }}"
        for word in small
    ]
    return "\n".join([*lines, "}", "witness any_of_it of c: true", ""])
