"""What an adapter sees of a component, names in other styles, and the folder that is written."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from tests.support.assumed import load_follower

from charter import api
from charter.core import types as t
from charter.render.adapters.emitters import EMITTERS
from charter.render.adapters.go import export
from charter.render.adapters.interface import interface
from charter.render.adapters.names import TakenNames, camel, pascal, snake
from conform.console.errors import ConformError
from conform.project.skeletons import Skeleton, write_skeleton

SHELF = """protocol shelf
sort Node
counter Epoch
record Member { epoch: Epoch, up: bool, left: int 0..9 }
component shelf {
  state first: map Node -> option Member = [n in Node: none]
  state second: option Member = none
  state third: option Member = none
  volatile state seen: set Node = {}
  ghost state ever: bool = false
  operation see(node: Node) -> bool { branch seen { seen' = {node}  reply true } }
  operation failover() -> bool { branch done { seen' = {}  reply true } }
  observe few { first.epoch  second.epoch: difference }
  observe all { second.up  third.left: ignored  seen }
}
component other {
  state on: bool = false
  operation turn() -> bool { branch turned { on' = not on  reply on } }
}
witness seeing of shelf: took see
"""


def list_shelf():
    model = api.load_text(SHELF)
    return interface(model, model.components[0])


def test_an_observation_has_the_fields_that_some_level_shows() -> None:
    first, second, seen = list_shelf().observation.fields
    assert [name for name, _ in (first, second, seen)] == ["first", "second", "seen"]
    assert first[1].value.inner.fields == (("epoch", t.Counter("Epoch")),)
    assert [name for name, _ in second[1].inner.fields] == ["epoch", "up"]


def test_records_that_show_different_fields_have_different_names() -> None:
    names = [kind.name for kind in list_shelf().types]
    assert names == ["Node", "Epoch", "Member", "ObservedMember", "ObservedMember2"]


def test_a_given_state_is_durable() -> None:
    assert [name for name, _ in list_shelf().given.fields] == ["first", "second", "third"]


def test_each_language_has_an_emitter() -> None:
    assert (*EMITTERS,) == api.LANGUAGES


def test_a_case_that_is_called_like_its_union_has_a_codec_of_its_own_in_java() -> None:
    path = resources.files("conform").joinpath("templates", "charters", "queue.charter")
    pages = api.adapter_files(api.load_text(path.read_text()), "java").types.values()
    names = re.findall(r"static final Codec<.*> ([A-Z0-9_]+) =", "".join(pages))
    assert "TAKEN" in names and len(names) == len(set(names))


def test_another_component_is_chosen_by_its_name() -> None:
    model = api.load_text(SHELF)
    assert api.adapter_files(model, "go", "other").component == "other"
    with pytest.raises(api.Missing, match="no component 'sehlf'; there are: shelf, other"):
        api.adapter_files(model, "go", "sehlf")


@pytest.mark.parametrize(
    ("name", "styles"),
    [
        ("topic_id", ("TopicId", "topicId", "topic_id", "TopicID")),
        ("TopicId", ("TopicId", "topicId", "topic_id", "TopicID")),
        ("UNKNOWN_TOPIC", ("UnknownTopic", "unknownTopic", "unknown_topic", "UnknownTopic")),
        ("b2", ("B2", "b2", "b2", "B2")),
        ("HTTPServer", ("HTTPServer", "httpServer", "http_server", "HttpServer")),
    ],
)
def test_a_name_in_each_style(name: str, styles: tuple[str, ...]) -> None:
    assert (pascal(name), camel(name), snake(name), export(name)) == styles


def test_a_name_that_is_taken_gets_another_one() -> None:
    scope = TakenNames({"Set"})
    assert [scope.take(name) for name in ("Set", "Set", "Seq")] == ["Set_", "Set__", "Seq"]


def test_a_skeleton_is_the_sdk_the_types_and_a_target(tmp_path: Path) -> None:
    made = api.adapter_files(api.load_text(SHELF), "go")
    files = {**made.types, **made.skeleton}
    wanted = Skeleton("go", "my-shelf", "shelf", made.component, files)
    written = write_skeleton(wanted, tmp_path / "shelf")
    assert {*written} >= {"README.md", "adapter.toml", "main.go", "charter/protocol.go"}
    assert (tmp_path / "shelf" / "charter" / "sdk.go").is_file()
    assert 'id = "my-shelf"' in (tmp_path / "shelf" / "adapter.toml").read_text()
    with pytest.raises(ConformError, match="has an adapter already"):
        write_skeleton(wanted, tmp_path / "shelf")


@pytest.mark.parametrize(
    ("old", "new", "owner"),
    [
        ("epoch: Epoch, up", "topic_id: Epoch, topicId: Epoch, up", "Member"),
        ("see(node: Node)", "see(node: Node, topic_id: Node, topicId: Node)", "see"),
    ],
)
def test_names_that_are_one_in_other_languages_are_refused(old, new, owner) -> None:
    model = api.load_text(SHELF.replace(old, new).replace(".epoch", ".up"))
    with pytest.raises(api.SameName, match=f"{owner} has topic_id and topicId, which are one name"):
        api.adapter_files(model, "go")


@pytest.mark.parametrize("language", api.LANGUAGES)
def test_a_skeleton_says_what_is_true_at_each_call_when_assumed(language: str) -> None:
    files = api.adapter_files(load_follower(), language)
    texts = " ".join([*files.types.values(), *files.skeleton.values()])
    assert "assume of > 0" in re.sub(r"[\s*#/]+", " ", texts)
