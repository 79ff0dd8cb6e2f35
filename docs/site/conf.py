"""The documentation site: `make docs` builds it with Sphinx from the Markdown of the whole tree, so
that a link works on the site as it does in the repository. A link to a file that is no page, such
as a charter, becomes a download."""

import re
from pathlib import Path
from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from sphinx.application import Sphinx

project = "Charter"
author = "the Charter contributors"
copyright = f"{author}, Apache License 2.0"

root_doc = "docs/index"
# Docstrings are plain text: `x` is code.
default_role = "code"
autodoc_member_order = "bysource"
myst_heading_anchors = 4
highlight_language = "none"

html_theme = "furo"
html_title = "Charter"
html_copy_source = False


# `make docs` puts the handbook beside the pages. In the repository it is not there, so the link
# leads to the page that says how to make it.
IN_TREE = "[The charter as a handbook](guide/handbook.md)"
ON_SITE = '<a href="../handbook/index.html">The charter as a handbook</a>'


def link_handbook(app: Sphinx, page: str, text: list[str]) -> None:
    """Called by Sphinx for each page that it reads."""
    if page == root_doc:
        text[0] = text[0].replace(IN_TREE, ON_SITE)


class CharterLexer(RegexLexer):
    """Colours of code blocks marked `charter`. The keywords are those of the grammar."""

    name = "Charter"
    grammar = Path(__file__).parents[2] / "compiler" / "charter" / "syntax" / "charter.lark"
    keywords = sorted(set(re.findall(r'"([a-z]+)"', grammar.read_text(encoding="utf-8"))))
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"--.*?$", Comment.Single),
            (r'"[^"\n]*"', String),
            (words(keywords, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\d+", Number),
            (r"[A-Z]\w*", Name.Class),
            (r"\w+'?", Name),
            (r"[-+*/=<>|&:']+", Operator),
            (r"[^\w\s]", Punctuation),
        ]
    }


def setup(app: Sphinx) -> None:
    """Called by Sphinx. The pages are all but docs/plans."""
    app.config.include_patterns = [
        "docs/*.md", "docs/[!p]*/*.md", "docs/[!p]*/*/*.md", "spec/*/README.md",
        "spec/*/*/*.md", "tests/README.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
        "conformance/adapters/README.md", "conformance/adapters/*/README.md",
        "conformance/conform/templates/examples/README.md",
    ]  # fmt: skip
    app.config.html_extra_path = ["redirect"]
    app.setup_extension("myst_parser")
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("source-read", link_handbook)
    app.add_lexer("charter", CharterLexer)
