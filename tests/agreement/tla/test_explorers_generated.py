"""All explorers on charters that nobody wrote: the reference, the native one with one worker and
with two, whole states and fingerprints, optimized code and other, and the one for Spark."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import NoReturn

import pytest
from hypothesis import given, settings
from tests.support.comparing.sampled import DRAWN, few_or_all
from tests.support.drawn.drawn_models import INSTANCE, models
from tests.support.engines import counts, verdicts

from charter.core import nodes as n
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.program.anchor import use
from charter.explore.native.search.explore import Choices, NativeOptions, explore, result_of
from charter.explore.native.search.levels import GaveUp
from charter.explore.native.search.search_files import Store
from charter.explore.native.search.spark import SparkSearch
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as by_reference
from charter.passes import for_search

MOST = 3_000


class NoSession:
    """Levels this small are done by the process that asks: nothing but its width is asked of it."""

    sparkContext = SimpleNamespace(defaultParallelism=1)

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"a session was asked for: {name}")


def agree(folder: pytest.TempPathFactory, tally: Counter[str], model: n.Model) -> None:
    asked = for_search(model, INSTANCE.machine)
    try:
        native = explore(asked, INSTANCE, NativeOptions(most_states=MOST))
    except CannotCompile:
        tally["unsupported"] += 1
        return
    except GaveUp:
        return  # a counter that is not renamed grows for ever
    if not native.counts.complete:
        return
    plain = by_reference(asked, INSTANCE, ReferenceOptions())
    assert (counts(native), verdicts(native)) == (counts(plain), verdicts(plain))
    hashed = NativeOptions(Choices(fingerprints=True), workers=2)
    for other in (
        explore(asked, INSTANCE, NativeOptions(workers=2, optimized=True)),
        explore(asked, INSTANCE, hashed),
    ):
        assert (counts(other), verdicts(other)) == (counts(native), verdicts(native))
    compiled = native.search.program
    use(compiled.library, None)  # as in a new process
    search = SparkSearch(compiled, NoSession(), Store(str(folder.mktemp("spark"))), bits=4)
    search.run()
    found = result_of(search, search.message)
    assert (counts(found), verdicts(found)) == (counts(native), verdicts(native))
    tally["states"] += native.counts.distinct
    tally["searched"] += 1


LEAST = {6: 2, 25: 12}
"""Of so many charters at least so many are searched to their end."""


@few_or_all(*LEAST)
def test_all_explorers_agree_when_charters_are_generated(
    tmp_path_factory: pytest.TempPathFactory, examples: int
) -> None:
    tally: Counter[str] = Counter()

    @settings(DRAWN, max_examples=examples)
    @given(models())
    def agrees(model: n.Model) -> None:
        agree(tmp_path_factory, tally, model)

    agrees()
    assert tally["searched"] >= LEAST[examples], dict(tally)
    assert tally["states"] > 3 * tally["searched"], dict(tally)
