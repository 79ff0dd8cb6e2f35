"""A scenario whose headlines have comments is shown from picture to picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from tests.support import spec

from charter import api
from charter.api.handbook import handbook_pages
from charter.handbook.expected_parts import find_expected_parts
from charter.handbook.picture_book import list_picture_books
from charter.handbook.pictures import ScenarioRuns
from charter.render.pages.blocks import Figure, Heading, Paragraph, plain
from charter.render.story.draw import in_svg
from charter.render.story.scene import scene
from charter.render.story.tell import Story

SHELF = """protocol shelf

sort Shop

record Stock {
  books: seq int 0..9 max 2
  is_open: bool
  owner: option Shop
  floor: int 0..9
}

component shelf {
  state stock: map Shop -> Stock = [
    s in Shop: Stock { books: <>, is_open: false, owner: none, floor: 3 }
  ]

  operation open(shop: Shop) -> bool {
    branch opened {
      stock[shop].is_open' = true
      reply true
    }
  }

  -- A shop gets a book: it is put on the left.
  operation put(shop: Shop, book: int 0..9) -> bool {
    branch done {
      stock[shop].books' = <book>
      reply true
    }
  }
}

-- What the pictures show.
fun has(stock: map Shop -> Stock, shop: Shop, books: seq int 0..9 max 2) -> bool =
  stock[shop].books == books and stock[shop].floor == 3

witness somebody_opens of shelf: some s in Shop: stock[s].is_open

instance tiny of shelf {
  Shop = {here, there}
}

scenario "a book arrives" of shelf {
  Shop = {here, there}

  -- Both shops are closed.
  step "1 morning"
  expect has(stock, here, <>) and not stock[here].is_open

  -- A book comes. It has number 7.
  step "2 noon"
  do open(here)
  do put(here, 7)
  expect has(stock, here, <7>)
}

scenario "one headline has no comment" of shelf {
  Shop = {here}

  -- This one has.
  step "1 morning"
  expect not stock[here].is_open

  step "2 noon"
  do open(here)
}
"""


def test_each_headline_has_its_comment_and_a_picture_of_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "shelf.charter").write_text(SHELF, encoding="utf-8")
    first, page, *_ = handbook_pages(tmp_path / "shelf.charter", api.Selection())
    begin = next(block for block in first.blocks if isinstance(block, Paragraph))
    assert plain(begin.text) == "New here? Begin with Shelf."
    titles = [block.text for block in page.blocks if isinstance(block, Heading)]
    assert titles[-4:-1] == ["a book arrives", "1 morning", "2 noon"]
    drawn = [block for block in page.blocks if isinstance(block, Figure) and ": " in block.title]
    assert [figure.title for figure in drawn if "books" in figure.title] == [
        "here: books empty, not is open; there: books empty, not is open",
        "here: books 7, is open; there: books empty, not is open",
    ]
    (after,) = (figure.svg for figure in drawn if "books 7" in figure.title)
    assert "floor" not in after  # it never changes
    assert "owner" not in after  # nothing expects it
    bold = re.findall(r'font-weight="bold">([^<]*)<', after)
    assert bold == ["here", "7", "is open", "there"]
    said = [plain(block.text) for block in page.blocks if isinstance(block, Paragraph)]
    assert "A book comes. It has number 7." in said
    assert "put(here, 7): A shop gets a book. By put/done." in said


def test_kafkas_first_story_shows_what_its_expectations_read() -> None:
    model = spec.model("kafka")
    (story,) = list_picture_books(model)
    assert story.title.startswith("S1-E1 ")
    of_partition = {("controller.partition", f) for f in ("leader", "isr", "elr", "last_known_elr")}
    of_brokers = {("replica.log",), ("replica.high_watermark",), ("replica.running",)}
    fenced = ("controller.registration", "fenced")
    histories = {("acked",), ("committed",)}
    assert find_expected_parts(model, story) == of_partition | of_brokers | {fenced} | histories


def test_no_label_of_kafkas_first_story_covers_another_or_a_dot() -> None:
    model = spec.model("kafka")
    (scenario,) = list_picture_books(model)
    story = ScenarioRuns(model).of(scenario)
    assert isinstance(story, Story)
    svg = in_svg(scene(story))
    assert "budget." not in svg
    root = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    texts = [
        (float(one.attrib["x"]), float(one.attrib["y"]), one.text or "")
        for one in root.findall(f"{name}text")
    ]
    dots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in root.iter(f"{name}circle")]
    assert len(texts) > 60 and len(dots) > 20
    messages = [t for t in texts if re.match(r"(topic_id|epoch|previous_epoch|1 2 0|1 0 )", t[2])]
    assert messages
    for x, y, text in messages:
        right = x + 6 * len(text)
        assert not [d for d in dots if x <= d[0] <= right and y - 12 < d[1] < y], text
        assert not [
            other
            for left, line, other in texts
            if (left, line, other) != (x, y, text)
            and abs(line - y) < 10
            and left < right
            and x < left + 6 * len(other)
        ], text
