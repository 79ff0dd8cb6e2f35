"""What a published report says of a vector that was not judged."""

from conform.reports.exports import markdown
from conform.reports.reasons import brief
from conform.reports.target_matrix import TargetMatrix

STACK = "it ended with 1; stderr: Traceback (most recent call last): | {} | ValueError: /etc/x"


def test_of_stderr_the_first_and_the_last_line_stay_and_no_folder_of_a_machine():
    lines = " | ".join(f'File "/srv/a/work/{n}.py", line {n}' for n in range(9))
    told = brief(STACK.format(lines))
    assert told == (
        "it ended with 1; stderr: Traceback (most recent call last): | … | ValueError: x"
    )
    assert brief("stderr says; stderr: at /srv/a b/c.py:3") == "stderr says; stderr: at a b/c.py:3"


def test_what_is_no_stderr_stays_as_it_is():
    for detail in ("", "adapter.py:254 in step 1: xack/granted", "/a/b is no value"):
        assert brief(detail) == detail


class Sentence:
    word, sentence, tone = "fine", "not compared: 11 unsupported <img src=x> [click](x)", "good"


def test_markdown_of_a_report_has_no_element_and_no_link_of_an_adapter(monkeypatch):
    monkeypatch.setattr("conform.reports.exports.wording.statement", lambda _: Sentence)
    monkeypatch.setattr("conform.reports.exports.wording.scope", lambda _: "x <b>")

    class Run:
        name, summary = "<i>run</i>", {"digest": "0"}

        def counts(self, _):
            return {"<u>": 1}

    class Item:
        run, findings = Run, ()

    Item.run = Run()
    text = markdown([Item], [], TargetMatrix((), (), ()))
    assert "<" not in text and "[click]" not in text
    assert r"11 unsupported &lt;img src=x&gt; \[click\](x)" in text
