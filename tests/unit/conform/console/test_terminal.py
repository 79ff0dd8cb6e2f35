"""What comes from outside steers neither a terminal nor a page."""

import json
import unicodedata

import pytest

from conform.cli.main import main
from conform.console.terminal import one_line, out, out_json, say, shorten, visible

STEERING = "\x1b[2J\x07\x9b\r\x7f\u202e\u2066\u200f\u061c\u2028\ufeff\ud800"


def test_steering_characters_become_escapes():
    assert visible("\x1b[2J") == r"\u001b[2J"
    assert visible(STEERING).isprintable()


def test_other_text_stays_as_it_is():
    text = "a\tb\nä → ⟨b1⟩ … 漢字 🙂 e\u0301"
    assert visible(text) is text or visible(text) == text


def test_every_control_and_direction_is_made_visible():
    """All that Unicode calls a control, an embedding, an isolate, or a mark of direction."""
    turning = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    marks = {"LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK", "ARABIC LETTER MARK"}
    for code in range(0x10000):
        char = chr(code)
        kind, name = unicodedata.category(char), unicodedata.name(char, "")
        controls = kind == "Cc" and char not in "\t\n"
        turns = unicodedata.bidirectional(char) in turning or name in marks
        if controls or kind in ("Cs", "Zl", "Zp") or turns:
            assert visible(char) == f"\\u{code:04x}", hex(code)


@pytest.mark.parametrize("write", [out, say])
def test_lines_are_written_visibly(write, capsys):
    write(f"name {STEERING}\nnext")
    said = capsys.readouterr()
    assert (said.out + said.err) == f"name {visible(STEERING)}\nnext\n"


def test_json_has_the_same_value_and_no_steering_character(capsys):
    value = {"name": STEERING[:-1], "more": "\x00"}
    out_json(value)
    text = capsys.readouterr().out
    assert json.loads(text) == value
    assert visible(text) == text


def test_part_of_a_line_has_no_newline():
    assert one_line("a\nb") == r"a\nb"
    assert shorten("a\nb" + "c" * 10, 5) == "a\\nb…"


def test_error_and_excerpt_of_a_charter_are_visible(capsys, tmp_path):
    path = tmp_path / "hostile.charter"
    path.write_text(f"protocol a.b {STEERING[:-1]}\n", encoding="utf-8")
    assert main(["check", str(path)]) in (1, 2)
    assert main(["check", str(tmp_path / "no\x1b[2Jne")]) == 2
    said = capsys.readouterr()
    assert r"\u001b[2J" in said.err
    assert visible(said.out + said.err) == said.out + said.err
