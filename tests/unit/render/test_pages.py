"""Pages in Markdown and HTML: each kind of block, with what must be escaped."""

from __future__ import annotations

import pytest

from charter.render.pages.as_html import in_html
from charter.render.pages.as_markdown import in_markdown
from charter.render.pages.blocks import (
    CodeBlock,
    DocumentPage,
    Figure,
    Heading,
    Paragraph,
    Table,
    TextRun,
    anchor_headings,
    plain,
    prose,
)

CASES = [
    (Heading(2, "a_b", is_code=True, anchor="a_b"), "## `a_b`", '<h2 id="a_b"><code>a_b</code>'),
    (Heading(3, "x < *y*", anchor="x--y"), "### x \\< \\*y\\*", '<h3 id="x--y">x &lt; *y*'),
    (Paragraph(prose("`a` & b")), "`a` & b", "<p><code>a</code> &amp; b</p>"),
    (
        Paragraph((TextRun("r", "code", "rules#r"),), is_aside=True),
        "[`r`](rules.md#r)",
        '<p class="aside"><a href="rules.html#r"><code>r</code></a></p>',
    ),
    (Paragraph((TextRun("t", target="#t"),)), "[t](#t)", '<a href="#t">t</a>'),
    (
        Paragraph((TextRun("u", target="https://e.org/?a=1&b"),)),
        "[u](https://e.org/?a=1&b)",
        '<a href="https://e.org/?a=1&amp;b">u</a>',
    ),
    (
        CodeBlock((TextRun("f", target="p#f"), TextRun(" < 1 "), TextRun("-- c", "comment"))),
        "```charter\nf < 1 -- c\n```",
        '<pre><code><a href="p.html#f">f</a> &lt; 1 <i>-- c</i></code></pre>',
    ),
    (
        Table(("a", "b"), ((prose("x|y"), prose("two\nlines")),)),
        "| a | b |\n| --- | --- |\n| x\\|y | two lines |",
        "<td>x|y</td><td>two\nlines</td>",
    ),
    (
        Figure("p/x.svg", "<svg/>", "A < b", is_folded=True),
        "![A \\< b](p/x.svg)",
        "<details><summary>A &lt; b</summary>",
    ),
    (Figure("p/x.svg", "<svg/>", 'A "b"'), '![A "b"](p/x.svg)', 'alt="A &quot;b&quot;"'),
]


@pytest.mark.parametrize(("block", "markdown", "html"), CASES)
def test_each_block_in_both_forms(
    block: Heading | Paragraph | CodeBlock | Table | Figure, markdown: str, html: str
) -> None:
    page = DocumentPage("page", "The <page>", (block,))
    assert in_markdown(page) == f"# The \\<page\\>\n\n{markdown}\n"
    written = in_html((page,), page)
    assert html in written and "<h1>The &lt;page&gt;</h1>" in written


def test_code_that_has_fences_stays_in_its_block() -> None:
    page = DocumentPage("page", "Page", (CodeBlock((TextRun("-- ```\n-- # no title"),)),))
    assert in_markdown(page).endswith("````charter\n-- ```\n-- # no title\n````\n")


def test_headings_of_one_title_have_anchors_of_their_own() -> None:
    found = anchor_headings(
        [Heading(3, "State"), Heading(4, "a/b", is_code=True), Heading(3, "State")]
    )
    assert [heading.anchor for heading in found] == ["state", "ab", "state-1"]


def test_names_between_backticks_are_code() -> None:
    text = prose("the `isr`, not `elr`")
    assert [run.text for run in text if run.kind == "code"] == ["isr", "elr"]
    assert plain(text) == "the isr, not elr"


def test_a_picture_keeps_its_place_and_is_not_shrunk_until_it_cannot_be_read() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="50"></svg>'
    page = DocumentPage("page", "Page", (Figure("x.svg", svg, "x"),))
    assert ' width="1000" height="50" style="min-width:800px"' in in_html((page,), page)


def test_a_page_leads_to_the_one_before_and_the_one_behind() -> None:
    pages = tuple(DocumentPage(name, name.upper(), ()) for name in ("a", "b", "c"))
    middle, last = in_html(pages, pages[1]), in_html(pages, pages[2])
    assert '<a href="a.html" rel="prev">← A</a>' in middle
    assert '<a class="following" href="c.html" rel="next">C →</a>' in middle
    assert 'rel="prev">← B</a>' in last and 'rel="next"' not in last


def test_a_long_name_in_the_menu_breaks_behind_an_underscore() -> None:
    page = DocumentPage("page", "Page", (Heading(3, "a_<b", is_code=True, anchor="a_b"),))
    assert '<a href="#a_b">a_<wbr>&lt;b</a>' in in_html((page,), page)
