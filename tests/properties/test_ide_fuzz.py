"""Whatever the text: an editor gets answers, never a traceback, and places inside the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.test_syntax_fuzz import SPLINTERS, VALID
from tests.support.edited_texts import FILE, LEASE

from charter.diagnostics import Span
from charter.ide import answers
from charter.ide.complete import complete
from charter.ide.workspace import Snapshot, Workspace

WORDS = sorted({"size", "Client", "x", "lock", "tiny", "lease.acquire/busy", *SPLINTERS})


def is_inside(span: Span, snapshot: Snapshot) -> bool:
    """Whether a span is in the present text of its file."""
    text = snapshot.files[span.source.name].source.text
    return span.source.text == text and 0 <= span.start <= span.end <= len(text)


def ask(snapshot: Snapshot, offset: int) -> None:
    """Ask everything at one place."""
    found = answers.hover(snapshot, FILE, offset)
    spans = [] if found is None else [found.span]
    spans += answers.definition(snapshot, FILE, offset)
    spans += answers.references(snapshot, FILE, offset, declarations=True)
    spans += [lens.span for lens in answers.lenses(snapshot, FILE)]
    spans += [each.whole for each in answers.outline(snapshot, FILE)]
    assert all(is_inside(span, snapshot) for span in spans)
    assert all(each.text for each in complete(snapshot, FILE, offset))


def type_into(valid: str, start: int, length: int, splinter: str) -> None:
    """Open a charter, damage it, and ask before and after it is parsed again."""
    workspace = Workspace()
    workspace.open(FILE, valid)
    workspace.refresh(FILE)
    start = start % (len(valid) + 1)
    text = valid[:start] + splinter + valid[start + length :]
    workspace.open(FILE, text)
    offset = min(len(text), start + len(splinter))
    ask(workspace.snapshot(FILE), offset)
    snapshot = workspace.refresh(FILE)
    assert all(is_inside(snapshot.now(item.span), snapshot) for item in snapshot.found[FILE])
    ask(workspace.snapshot(FILE), offset)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(0, len(LEASE)), st.integers(0, 12), st.sampled_from(WORDS))
def test_every_question_is_answered_when_a_charter_is_damaged(
    start: int, length: int, splinter: str
) -> None:
    type_into(LEASE, start, length, splinter)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.booleans(), st.integers(0, 10_000), st.integers(0, 60), st.sampled_from(WORDS))
def test_every_question_is_answered_when_charters_are_damaged_often(
    small: bool, start: int, length: int, splinter: str
) -> None:
    type_into(LEASE if small else VALID, start, length, splinter)
