"""The title of a finding says in which variable something differs."""

from collections import Counter

import pytest

from conform.reports.findings import Finding


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (["queue.b1", "spent.b1"], "queue.b1, spent.b1"),
        (["reply.case"], "reply.case"),
        (["version"], "version"),
        (["topics.t1.parts.0.isr", "topics.t2.parts.1.isr"], "topics…isr"),
        (["a.x", "b.x", "c.x", "d.x"], "a.x, b.x, c.x …"),
    ],
)
def test_title_names_the_variable_and_the_place(paths, told):
    found = Finding("f-0123456789", branches=Counter(["post/full"]), paths=Counter(paths))
    assert found.title == f"post/full: {told}"


def test_title_of_an_explained_finding_is_its_entry():
    assert (
        Finding("keeps_leader", name="keeps_leader", paths=Counter(["a.b"])).title == "keeps_leader"
    )
