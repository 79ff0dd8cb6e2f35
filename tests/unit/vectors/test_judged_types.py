"""The types in a manifest: of what is shown of a component, and the model shows nothing else."""

from pathlib import Path

import orjson
import pytest

from charter import api
from charter.formats.adapter import Result, Results, read_results
from charter.formats.canonical import Json, as_set
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.suite import LINES, read_lines, read_manifest
from charter.formats.types import read_types
from charter.semantics.judged_types import collect_judged_types
from conform import sdk
from conform.adapters.reference import Reference
from conform.judging import model
from conform.judging.read_result import BatchTexts
from conform.judging.refutations import find_mistyped

SUITE = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication" / "controller"
LEASE = """protocol lease

sort Node
counter Term
opaque counter Token
enum Error { HELD, LATE }
record Held { by: Node, token: Token, term: Term, asked: seq Node max 2 }
union Reply { granted(token: Token), refused(error: Error) }

component server {
  state lease: map Node -> option Held = [n in Node: none]
  state left: int 0..3 = 3
  state secret: bool = false
  operation take(node: Node) -> Reply cites silent {
    branch refused cites silent reply refused(HELD)
  }
  operation tick() -> bool cites silent {
    branch ticked cites silent { reply true }
  }
  observe some { lease.by, lease.asked, left }
}

always fine of server cites silent: true
witness held of server: left == 3
instance tiny of server { Node = 1 }
"""


def test_types_are_of_replies_and_of_what_observations_show(tmp_path: Path) -> None:
    path = tmp_path / "lease.charter"
    path.write_text(LEASE, encoding="utf-8")
    (component,) = api.load(path).components
    assert collect_judged_types(component) == {
        "replies": {"take": "Reply", "tick": "bool"},
        "observes": {"lease": "map Node -> option {by: Node, asked: list Node}", "left": "int"},
        "names": {
            "Node": "sort", "Token": "ordered", "Error": "enum HELD, LATE",
            "Reply": "union granted{token: Token}, refused{error: Error}",
        },
    }  # fmt: skip


SHELF = """protocol shelf
opaque Id
component shelf {
  state held: set Id = {}
  state last: Id = 0
  operation put() -> Id {
    branch put {
      held' = held | {bump(last)}
      last' = bump(last)
      reply bump(last)
    }
  }
  observe all { held }
}
witness one of shelf: size(held) == 1
instance tiny of shelf {}
"""


@pytest.mark.parametrize("texts", [("~a", "~b", "~c"), ("~c", "~a", "~b"), ("~b", "~c", "~a")])
def test_set_of_values_without_order_is_sorted_by_labels(tmp_path: Path, texts) -> None:
    """An implementation chooses the texts, which say nothing about what came first."""
    path = tmp_path / "shelf.charter"
    path.write_text(SHELF, encoding="utf-8")
    (component,) = api.load(path).components
    labels = Labels(OpaqueTypes.of(read_types(collect_judged_types(component), "types")))
    shown = []
    for count in range(1, 4):
        observed: Json = {"held": as_set(texts[:count])}
        reply, seen, labels = labels.step(texts[count - 1], observed, "put")
        shown.append((reply, seen))
    assert shown == [
        ("~1", {"held": ["~1"]}),
        ("~2", {"held": ["~1", "~2"]}),
        ("~3", {"held": ["~1", "~2", "~3"]}),
    ]


def test_nothing_that_the_model_shows_is_of_another_type() -> None:
    """The reference answers all questions of Kafka's suite, and every value has its type."""
    types = read_manifest(SUITE).read_types()
    assert types is not None
    reference = Reference(model.load("charter_models.kafka_replication.controller"))
    questions: list[dict[str, Json]] = [
        {**vector.question.json(), "id": vector.id, "nonce": ""}
        for vector in read_lines(SUITE / LINES)
    ]
    answer = sdk.answer_message(reference, {"run": 1, "questions": [*questions]})
    asked = [(str(question["id"]), "") for question in questions]
    results = read_results(orjson.loads(orjson.dumps(answer)), 1, asked)
    batch = BatchTexts.of(results, None)
    for question, result in zip(questions, results.results, strict=True):
        assert find_mistyped(types, question, result, batch) == ""


def test_a_value_that_equals_an_earlier_one_of_another_type_is_found() -> None:
    """A variable is looked at once for each of its texts; Python takes 1 and `true` for equal."""
    types = read_manifest(SUITE).read_types()
    assert types is not None
    charter = model.load("charter_models.kafka_replication.controller")
    sorts: dict[str, Json] = {"Broker": {"b1": 1}, "Topic": {"t1": 1}}
    names = {"Broker": ["b1"], "Topic": ["t1"]}
    shown = charter.observe(charter.initial(names))
    assert isinstance(shown, dict) and isinstance(shown["config"], dict)
    flags = (shown["config"]["elr"], int(bool(shown["config"]["elr"])))
    wrong = [{**shown, "config": {**shown["config"], "elr": elr}} for elr in flags]
    call: Json = {"operation": "failover", "args": {}}
    result = Result("q", "", Status.OK, "", [[-1, 1, -1], [0, 1, -1], [0, 2, -1]])
    batch = BatchTexts.of(Results([{"case": "done"}, *wrong], [result]), None)
    question: dict[str, Json] = {"sorts": sorts, "operations": [call, call]}
    assert find_mistyped(types, question, result, batch).startswith("step 2: config.elr")
