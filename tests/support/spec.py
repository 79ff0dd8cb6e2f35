"""The charters of spec/, and what the native engine finds in them: each instance is searched once
in a process, whoever asks. Tests that ask for one instance are of one xdist group and share it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.native.search.explore import Choices, Exploration, NativeOptions, explore
from charter.explore.native.states.graph import CompiledGraph

SPEC = Path(__file__).resolve().parents[2] / "spec"
EXAMPLES = tuple(sorted(path.stem for path in (SPEC / "examples").glob("*.charter")))


def list_declared(kind: str, files: str = "*.charter") -> list[str]:
    """The variants or mutants that files of Kafka's charter declare. They are looked for in the
    text: what names tests is read in each process, before the first test is run."""
    paths = sorted((SPEC / "kafka").rglob(files), key=lambda path: path.name)
    texts = [path.read_text("utf-8") for path in paths]
    return [name for text in texts for name in re.findall(rf"^{kind} (\w+)", text, re.MULTILINE)]


@cache
def model(charter: str) -> n.Model:
    """Kafka's charter, or that of an example."""
    return api.load(SPEC / "kafka" if charter == "kafka" else SPEC / f"examples/{charter}.charter")


def instance(charter: str, name: str) -> n.Instance:
    """An instance of a charter."""
    return next(i for i in model(charter).instances if i.name == name)


OPTIMIZED = {"tiny_elr", "tiny_topics", "tiny_log", "tiny_consumer"}
"""Components that are searched in optimized code; the other ones, and systems, are not: to optimize
takes longer than most of these searches, and the engine does it where one is long."""


def graph(
    charter: str, name: str, *, symmetry: bool = True, optimized: bool = False
) -> CompiledGraph:
    """The graph that the native engine finds. Its code is kept in the user's cache."""
    return _graph(charter, name, symmetry, optimized or name in OPTIMIZED)


@cache  # which takes `symmetry=True` and no symmetry for two questions
def _graph(charter: str, name: str, symmetry: bool, optimized: bool) -> CompiledGraph:
    choices = Choices(symmetry=symmetry, detailed=True)
    options = NativeOptions(choices, cache=cache_folder("engine"), optimized=optimized)
    return CompiledGraph.around(explore(model(charter), instance(charter, name), options))


def explore_instance(charter: str, name: str, *, symmetry: bool = True) -> Exploration:
    """What the same search found."""
    return graph(charter, name, symmetry=symmetry).found


def together(charter: str, name: str) -> pytest.MarkDecorator:
    """The mark of tests that ask for searches of an instance of Kafka, or of an example."""
    return pytest.mark.xdist_group(f"kafka {name}" if charter == "kafka" else charter)


def of_kafka(names: Iterable[str]) -> list[object]:
    """Kafka's instances as parameters of a test."""
    return [pytest.param(name, marks=together("kafka", name)) for name in names]


def examples(names: Iterable[str] = EXAMPLES) -> list[object]:
    """Examples as parameters of a test."""
    return [pytest.param(name, marks=together(name, "tiny")) for name in names]
