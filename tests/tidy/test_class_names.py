"""A class name stands for one thing in both trees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest
from tests.tidy.house import RATCHET, is_source
from tests.tidy.scan import scan

SURFACE = "compiler/charter/syntax/nodes"
CORE = ("compiler/charter/core/nodes", "compiler/charter/core/expressions")


def find_shared(classes: Iterable[tuple[str, str]]) -> set[str]:
    """The names that several classes have, public or private; classes are given as path and name.
    A node of the surface tree and the node of core that is made of it may have one name."""
    places: dict[str, set[str]] = defaultdict(set)
    for path, name in classes:
        places[name].add(path)
    return {
        name
        for name, paths in places.items()
        if len(paths) > 1
        and not (
            len(paths) == 2
            and any(path.startswith(SURFACE) for path in paths)
            and any(path.startswith(CORE) for path in paths)
        )
    }


def classes() -> list[tuple[str, str]]:
    """All classes of the compiler and of the judge."""
    return [
        (path, name)
        for path, outline in scan().outlines.items()
        if is_source(path) and not path.startswith("generated/")
        for name in outline.classes
    ]


@pytest.mark.xdist_group("rules")
def test_a_class_name_stands_for_one_thing_when_all_are_listed() -> None:
    assert find_shared(classes()) == set(RATCHET["class_names"]["shared"])


def test_a_name_is_shared_when_two_modules_have_it() -> None:
    one, other = ("compiler/charter/a.py", "Step"), ("conformance/conform/b.py", "Step")
    assert find_shared([one, other]) == {"Step"}
    assert find_shared([one, ("compiler/charter/b.py", "Stair")]) == set()
    assert find_shared([("a.py", "_Search"), ("b.py", "_Search")]) == {"_Search"}
    surface = ("compiler/charter/syntax/nodes_body.py", "Let")
    assert find_shared([surface, ("compiler/charter/core/expressions.py", "Let")]) == set()
