"""The rules of the house for every file that is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.tidy.house import RATCHET, ROOT, File, Rule

# Written in pieces, so that this file obeys its own rules.
LEFTOVERS: Final = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK)\b")
HOSTS: Final = tuple(
    ".".join(parts)
    for parts in (
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("repository", "apache", "org"),
        ("central", "sonatype", "com"),
        ("pypi", "org"),
        ("pythonhosted", "org"),
    )
)
HOST: Final = re.compile("|".join(map(re.escape, HOSTS)))
FOLDER: Final = re.compile(r"/(?:home|root|Users|work|mnt|opt|private|var/folders)/|:\\")
"""What each path of a machine holds: quickly found, and rare."""
MACHINE: Final = re.compile(
    r"(?<![\w.})>])(/(?:home|root|Users|work|mnt|opt|private|var/folders)/[\w.]|[A-Z]:\\\w)"
)
WORDS: Final = {
    r"test[ -]cases?": "vector",
    r"test vectors?": "vector",
    r"discrepanc(y|ies)": "deviation",
    r"test harness(es)?|harness(es)?": "adapter, or judge",
    r"oracles?": "the definition, or the judge",
    r"plug-?ins?": "adapter, or backend",
    r"system under test": "target",
    r"known issues?": "overlay entry",
    r"ground truth": "the charter",
    r"spec files?|specfiles?": "charter",
    r"blacklist|whitelist": "banned, allowed",
}


def _word(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])({pattern})\b", re.IGNORECASE)


ANYWHERE: Final = re.compile("|".join(WORDS))
"""What a text in small letters holds that has one of the words: found in a quarter of the time."""
GLOSSARY: Final = "docs/GLOSSARY.md"
PROSE_COLUMNS: Final = 120
CHARTER_LINES: Final = 500


def leftover(file: File) -> Iterator[str]:
    for number, _ in file.find(LEFTOVERS):
        yield f"{number}: do it now, or open an issue"


def registry_host(file: File) -> Iterator[str]:
    for number, _ in file.find(HOST):
        yield f"{number}: a registry is the business of its client's configuration"


def machine_path(file: File) -> Iterator[str]:
    if FOLDER.search(file.text):
        for number, found in file.find(MACHINE):
            yield f"{number}: {found[1]}...: a path of one machine; take it as an argument"


def find_varied_words(file: File) -> Iterator[str]:
    if ANYWHERE.search(file.text.casefold()):
        for pattern, noun in WORDS.items():
            for number, found in file.find(_word(pattern)):
                yield f"{number}: {found[1]!r}: the glossary says {noun}"


def no_title(file: File) -> Iterator[str]:
    if not file.text.startswith("# "):
        yield "1: a page opens with its title, `# ...`"


PAGE: Final = "docs/bad.md"
IN_DOCS: Final = File(PAGE, "")
FENCE: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")


def find_broken_links(file: File) -> Iterator[str]:
    """Links to files that are not there, and to headings that no page has."""
    prose = FENCE.sub(lambda m: "\n" * m[0].count("\n"), file.text)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    for found in LINK.finditer(prose):
        target = found[1]
        if not re.match(r"[a-z]+:", target) and not _resolves(file, target):
            yield f"{prose.count(chr(10), 0, found.end()) + 1}: the link {target} leads nowhere"


def _resolves(file: File, target: str) -> bool:
    where, _, anchor = target.partition("#")
    path = (ROOT / file.path).parent / where if where else ROOT / file.path
    if not path.exists():
        return False
    if not anchor or path.suffix != ".md":
        return True
    text = file.text if not where else path.read_text(encoding="utf-8")
    return anchor in {_anchor(title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


DESIGN: Final = re.compile(r"docs/(design/[\w-]+\.md)(#[\w-]+)?|\b[Dd]ecisions? \d{4}\b")
"""A page that explains a choice, as comments name it. There are no numbered decisions."""


def no_design_page(file: File) -> Iterator[str]:
    """Names of design pages, or of headings of theirs, that do not exist."""
    for found in DESIGN.finditer(file.text):
        if not found[1] or not _resolves(IN_DOCS, found[1] + (found[2] or "")):
            number = file.text.count("\n", 0, found.start()) + 1
            yield f"{number}: {found[0]} is no page or heading of docs/design"


WITH_TABS: Final = ("Makefile", ".go", ".go.j2")
"""make and gofmt indent with tabs."""


def trailing_space(file: File) -> Iterator[str]:
    if "\r" in file.text or ("\t" in file.text and not file.path.endswith(WITH_TABS)):
        yield "1: carriage returns and tabs have no place here"
    for number, line in file.lines():
        if line != line.rstrip():
            yield f"{number}: blanks at the end of the line"


def long_prose(file: File) -> Iterator[str]:
    """Lines of prose; tables, code, headings and pictures may be as long as they have to be."""
    code = False
    for number, line in file.lines():
        code ^= line.lstrip().startswith("```")
        if len(line) > PROSE_COLUMNS and not code and line.lstrip()[0] not in "|#<":
            yield f"{number}: {len(line)} columns, the limit of prose is {PROSE_COLUMNS}"


def long_charter(file: File) -> Iterator[str]:
    length = len(file.text.splitlines())
    if length > CHARTER_LINES and file.path not in RATCHET["long_charters"]["one_block"]:
        yield f"1: {length} lines, the limit is {CHARTER_LINES}: split it by subject"


def _anywhere(_path: str) -> bool:
    return True


def _ours(path: str) -> bool:
    return path != "LICENSE" and not path.startswith("docs/reports/")


def _speaks(path: str) -> bool:
    told = Path(path).suffix in (".py", ".md", ".charter", ".java", ".j2", ".toml")
    return told and path not in (GLOSSARY, "tests/tidy/rules_of_text.py")


def _prose(path: str) -> bool:
    """Pages that are written by hand. A plan is a working paper."""
    return _page(path) and not path.startswith(("generated/", "docs/plans/"))


def _charter(path: str) -> bool:
    return path.endswith(".charter")


def _page(path: str) -> bool:
    return path.endswith(".md")


RULES_OF_TEXT: Final = (
    Rule("nothing is left for later", _anywhere, leftover, (PAGE, "TO" "DO: later")),
    Rule("no registry is named", _anywhere, registry_host, (PAGE, f"https://{HOSTS[0]}/x")),
    Rule("no path of one machine", _ours, machine_path, (PAGE, "see /ho" "me/me/x")),
    Rule("the words of the glossary", _speaks, find_varied_words,
         (PAGE, "a test case of the suite")),
    Rule("a page has a title", _page, no_title, (PAGE, "Hello.")),
    Rule("a link leads somewhere", _page, find_broken_links, (PAGE, "[a](nowhere.md)")),
    Rule("a link finds its heading", _page, find_broken_links, (PAGE, "# A\n\n[a](#b)")),
    Rule("a design page exists", _anywhere, no_design_page, (PAGE, "docs/" "design/x.md")),
    Rule("a design page exists", _anywhere, no_design_page, (PAGE, "decision " "0007")),
    Rule("prose has at most 120 columns", _prose, long_prose, (PAGE, "# A\n\n" + 25 * "words ")),
    Rule("a charter has at most 500 lines", _charter, long_charter,
         ("spec/bad.charter", 501 * "-- a\n")),
    Rule("no stray blanks", _ours, trailing_space, (PAGE, "# A \n")),
)  # fmt: skip
