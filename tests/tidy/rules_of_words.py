"""Finds words that docs/STYLE.md advises against. Old cases are counted in the ratchet, by tree."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from typing import Final

from tests.tidy.house import ROOT, File, Rule, is_generated, is_python, is_source

SENTENCE_WORDS: Final = 25
CLAUSES: Final = 2
KNOWN: Final = {
    name: frozenset(words.split())
    for name, words in tomllib.loads((ROOT / "tests/tidy/words.toml").read_text("utf-8")).items()
}
IDIOM: Final = re.compile(r"(?<![\w.])(beside|stands?|told|asked|anew|of it)(?!\w)", re.IGNORECASE)
BLOCK: Final = re.compile(r"^(```|~~~).*?^\1.*?$", re.MULTILINE | re.DOTALL)
PARAGRAPH: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.)\s?)")
SENTENCE: Final = re.compile(r"(?<=[.?!])\s+(?=[A-Z`\"(\[])")


def is_participle(name: str) -> bool:
    """Whether the name of a function begins with a past participle, such as `told` or `unread`."""
    word = name.lstrip("_").split("_")[0].lower()
    bare = word.removeprefix("un")
    regular = len(word) > 3 and word.endswith("ed") and word not in KNOWN["no_participles"]
    return regular or bare in KNOWN["irregular"] or word in ("uncut", "unread", "unset")


def participle(file: File) -> Iterator[str]:
    """Functions called by what they return. A property or a fixture is a value, so it may be."""
    for node in file.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        made_by = " ".join(map(ast.unparse, node.decorator_list))
        if is_participle(node.name) and "property" not in made_by and "fixture" not in made_by:
            yield f"{node.lineno}: {node.name}: say what it does, as in `count` or `select`"


def no_verb_first(file: File) -> Iterator[str]:
    """Modules whose first sentence does not begin with a verb. That of a command begins with it."""
    text = ast.get_docstring(file.tree()) or ""
    first, second = (*text.split(maxsplit=2), "", "")[:2]
    word = first.rstrip(",").casefold()
    is_noun = first.endswith(",") or second.casefold() in KNOWN["prepositions"]
    verb = word.isalpha() and word.endswith("s") and not (is_noun and word in KNOWN["no_verbs"])
    if not verb and not text.startswith("`conform"):
        yield f"1: {first!r}: begin with a verb, as in `Checks ...`, `Writes ...`"


def adverb_constant(file: File) -> Iterator[str]:
    """Constants that are no nouns: only names of one word are looked at."""
    for statement in file.tree().body:
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        if isinstance(statement, ast.AnnAssign):
            targets = (statement.target,)
        for name in (n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
            word = name.lstrip("_").lower()
            if (
                name.isupper()
                and (word in KNOWN["no_nouns"] or is_participle(word))
                and "_" not in word
            ):
                yield f"{statement.lineno}: {name}: a constant is a noun, with its unit"


def long_sentence(file: File) -> Iterator[str]:
    """Sentences of prose that have too many words, or too many relative clauses."""
    text = BLOCK.sub(lambda m: "\n\n" + "\n" * m[0].count("\n"), file.text)
    begin = 0
    for end in (*(m.start() for m in PARAGRAPH.finditer(text)), len(text)):
        paragraph, line = text[begin:end], text.count("\n", 0, begin) + 1
        begin = end
        if paragraph.lstrip()[:1] in ("", "|", "#", "<", ":", "!"):
            continue
        prose = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", paragraph))
        for sentence in SENTENCE.split(prose):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            clauses = len(re.findall(r"\b(?:that|which)\b", sentence, re.IGNORECASE))
            if len(words) > SENTENCE_WORDS or clauses > CLAUSES:
                shown = " ".join(words[:6])
                yield f"{line}: {shown} ...: {len(words)} words, {clauses} relative clauses"


def idiom(file: File) -> Iterator[str]:
    """Words of the house that a new reader trips over; a name of code counts like prose."""
    for number, line in file.lines():
        for found in IDIOM.finditer(line):
            yield f"{number}: {found[1]}"


def _code(path: str) -> bool:
    return is_python(path) and not is_generated(path)


def _source(path: str) -> bool:
    return is_source(path) and not path.startswith("generated/")


def _page(path: str) -> bool:
    return path.endswith(".md") and not path.startswith(("generated/", "docs/plans/"))


def _spoken(path: str) -> bool:
    spoken = path.endswith((".py", ".md", ".charter", ".j2", ".toml"))
    ours = not path.startswith(("generated/", "docs/plans/", "spec/kafka/verdicts/"))
    return spoken and ours and path not in ("docs/STYLE.md", "tests/tidy/rules_of_words.py")


BAD_MODULE: Final = "compiler/charter/bad.py"
RULES_OF_WORDS: Final = (
    Rule("participles", _code, participle, (BAD_MODULE, "def _told(): ...")),
    Rule("first_sentences", _source, no_verb_first, (BAD_MODULE, '"""What a charter means."""')),
    Rule("constants", _source, adverb_constant, (BAD_MODULE, "SOON, SOONER = 8, 4")),
    Rule("sentences", _page, long_sentence, ("docs/bad.md", "# A\n\nIt is" + 24 * " so" + ".")),
    Rule("idiom", _spoken, idiom, ("docs/bad.md", "# A\n\nIt is told anew.")),
)
"""Rules whose breaches are counted: the name of each is a table of the ratchet."""
