"""An overlay's entry says what an image shows of a variable after an operation."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.charters import codes
from tests.support.comparing.agreement import import_model

from charter import api
from charter.core import nodes as ir
from charter.core.show import show_expr
from charter.project.compile import check_overlay_files

CHARTER = """protocol test.words
sort Topic
component c {
  state row: map Topic -> bool = [t in Topic: false]
  state on: bool = true
  ghost state ever: bool = false
  operation clear(t: Topic) -> bool { branch done { row[t]' = false  reply true } }
}
always safe of c: on
witness w of c: took clear/done
instance tiny of c { Topic = 2 }
"""
OTHERS = "[o in Topic: if last_image[o] and o != t then row[o] else replaced[o]]"
IMAGE = f"replace image row of c.clear with {OTHERS}"


def overlay(folder: Path, *edits: str) -> ir.Model:
    """The model of an overlay with one entry for each text of edits, all of them."""
    charter, overlay = folder / "a.charter", folder / "target.charter"
    charter.write_text(CHARTER, encoding="utf-8")
    entries = [f"entry e{n} known_defect {{ {edit} }}" for n, edit in enumerate(edits)]
    overlay.write_text(
        f"protocol test.words\noverlay target of c {{ {' '.join(entries)} }}", encoding="utf-8"
    )
    assert not check_overlay_files(charter, overlay).errors
    names = tuple(f"e{n}" for n in range(len(edits)))
    return api.load(charter, api.Selection(overlay=api.read_sources(overlay), entries=names))


def reply_of(model: ir.Model) -> str:
    """What the last operation replies."""
    (branch,) = model.components[0].operations[-1].branches
    return show_expr(branch.reply)


def test_image_is_the_reply_of_an_operation_that_the_charter_does_not_have(tmp_path: Path) -> None:
    operations = overlay(tmp_path, IMAGE).components[0].operations
    assert [operation.name for operation in operations] == ["clear", "clear_image_of_row"]
    params = [param.name for param in operations[-1].params]
    assert params == ["t", "last_image", "next_image"]
    assert operations[-1].result == operations[-1].params[-1].type


def test_what_a_second_entry_replaces_is_what_the_first_one_says(tmp_path: Path) -> None:
    first = "replace image row of c.clear with if on then last_image else replaced"
    second = "replace image row of c.clear with [o in Topic: not replaced[o]]"
    assert reply_of(overlay(tmp_path, first)) == "(if @on then last_image else next_image)"
    both = reply_of(overlay(tmp_path, first, second))
    assert both == "[o in Topic: not((if @on then last_image else next_image)[o])]"


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (IMAGE, []),
        ("replace image row of c.clear with on", ["type/mismatch"]),
        ("replace image row of c.clear with row'", ["effect/reads-after"]),
        (
            "replace image row of c.clear with if ever then row else replaced",
            ["effect/ghost-interference"],
        ),
        ("replace image raw of c.clear with replaced", ["edit/unknown-target"]),
        ("replace image row of c.cleer with replaced", ["edit/unknown-target"]),
        ("replace image row of d.clear with replaced", ["edit/unknown-target"]),
        ("replace image row of c with replaced", ["edit/unknown-target"]),
        ("replace image row of c.clear/done with replaced", ["edit/unknown-target"]),
        ("replace update row of c.clear/done with last_image", ["name/unknown"]),
    ],
)
def test_errors_of_an_image(edit: str, found: list[str]) -> None:
    text = CHARTER.replace("protocol test.words\nsort Topic\n", "")
    assert codes(f"{text}overlay target of c {{ entry e known_defect {{ {edit} }} }}") == found


@pytest.mark.parametrize("title", ["variant v", "mutant v in tiny"])
def test_image_outside_of_an_overlay_is_refused(title: str) -> None:
    text = CHARTER.replace("protocol test.words\nsort Topic\n", "")
    ending = " caught by safe" if title.startswith("mutant") else ""
    assert codes(f"{text}{title} {{ {IMAGE} }}{ending}") == ["edit/image-outside-overlay"]


def test_model_of_an_entry_computes_the_image(tmp_path: Path) -> None:
    edited = overlay(tmp_path, IMAGE)
    model = import_model(edited, edited.components[0], tmp_path, "images")
    state = model.decode({"row": {"a": True, "b": True}, "on": True}, {"Topic": ("a", "b")})
    for last, expected in (({"a": True, "b": True}, True), ({"a": True, "b": False}, False)):
        args = {"t": "a", "last_image": last, "next_image": {"a": False, "b": False}}
        (outcome,) = model.images(state, "clear_image_of_row", args)
        assert outcome.reply == {"a": False, "b": expected}
