"""The types of a component for adapters, in each language, as committed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden

from charter import api

FOLDER = Path(__file__).parent / "adapters"
LIBRARY = FOLDER / "kinds.charter"


@pytest.mark.parametrize("language", api.LANGUAGES)
def test_the_types_and_the_skeleton_of_every_kind_are_as_written(
    language: str, golden: Golden
) -> None:
    made = api.adapter_files(api.load(LIBRARY), language)
    for path, text in {**made.types, **made.skeleton}.items():
        golden.matches(FOLDER / language / Path(path).name, text)
