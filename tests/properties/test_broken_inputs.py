"""Whatever comes from outside broken: an error in one sentence, or the same result as unbroken.

Never a traceback, and never a run, a suite or an answer that looks fine and is another. Four kinds
of input, 2,500 of each in the slow tests.
"""

import json
import random

import orjson
import pytest
from tests.support.caches import own_cache
from tests.support.damage import change, damage, either
from tests.support.fakes.fake import Fake
from tests.support.judging import toy_siblings
from tests.support.suites import write_suite
from tests.support.toy import charter
from tests.support.toy.vectors import TYPES, random_vectors
from tests.unit.reports.sample import write_suite_and_run

from charter.diagnostics import Source
from charter.formats import adapter as messages
from charter.formats.adapter import BadMessage
from charter.formats.suite import Manifest
from charter.formats.types import read_types
from charter.formats.verdict import Kind
from charter.project.pipeline import check_texts
from conform import sdk
from conform.adapters.base import SentQuestion
from conform.console.errors import BadRun, BadSuite
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.verdict import assess
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import open_suite
from conform.suites.importing import item_of

SOME_OR_MANY = pytest.mark.parametrize("tries", [60, pytest.param(2500, marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))


@SOME_OR_MANY
def test_broken_run_is_refused(tries, tmp_path):
    """Each file of a run; what is refused once is refused by every reader (test_changed_runs)."""
    rng = random.Random(1)
    run = write_suite_and_run(tmp_path)
    files = [path for path in sorted(run.rglob("*")) if path.is_file()]
    for _ in range(tries):
        path = rng.choice(files)
        whole = path.read_bytes()
        content = either(whole, rng) if path.suffix == ".json" else damage(whole, rng)
        path.write_bytes(content)
        try:
            RunFolder(str(run)).check()
            assert content == whole or _same(content, whole), path
        except BadRun as error:
            assert "\n" not in str(error)
        path.write_bytes(whole)
    RunFolder(str(run)).check()


def _same(one, other):
    try:
        return orjson.loads(one) == orjson.loads(other)
    except orjson.JSONDecodeError:
        return False


@SOME_OR_MANY
def test_broken_suite_is_refused(tries, tmp_path):
    rng = random.Random(2)
    vectors = random_vectors(4)
    folder = tmp_path / "suite"
    write_suite(folder, vectors, Manifest("", "toy.lease", "", "keeper", "5eed", 0))
    files = [folder / "vectors.jsonl"] * 3 + [folder / "manifest.json"]
    expected = {item_of(vector).id: item_of(vector) for vector in vectors}
    for _ in range(tries):
        path = rng.choice(files)
        whole = path.read_bytes()
        lines = whole.splitlines() if path.suffix == ".jsonl" else [whole]
        place = rng.randrange(len(lines))
        lines[place] = either(lines[place], rng)
        path.write_bytes(b"\n".join(lines) + b"\n")
        try:
            suite = open_suite(str(folder), 1)
            items = [item for bucket in range(suite.buckets) for item in suite.items(bucket)]
            assert {item.id: item for item in items} == expected
        except BadSuite as error:
            assert "\n" not in str(error)
        path.write_bytes(whole)


KINDS = read_types(dict(TYPES), "types")
ITEMS = [item_of(vector) for vector in random_vectors(12, seed=5)]


def answer():
    """The questions of a batch, and the line with the right answer to them."""
    asked = [(item.id, f"n-{number}") for number, item in enumerate(ITEMS)]
    questions = b",".join(
        SentQuestion(name, nonce, item.question).message()
        for (name, nonce), item in zip(asked, ITEMS, strict=True)
    )
    request = orjson.loads(b'{"run":1,"questions":[%b]}' % questions)
    answer = sdk.answer_message(Fake(), request)
    return asked, orjson.dumps(answer)


def verdicts(line, asked, observes=None):
    """The verdicts on a line, as `stdio` reads it: None if it is no answer. `observes` are the
    variables that the target shows (None: all)."""
    try:
        results = messages.read_results(orjson.loads(line), 1, asked)
    except (orjson.JSONDecodeError, BadMessage) as error:
        assert len(str(error)) < 500
        return None
    batch, judge = BatchTexts.of(results, observes), Judge(observes, charter.OPERATIONS, KINDS)
    siblings = toy_siblings(overlay=False)
    return [
        assess(item, result, batch, judge, siblings).verdict
        for item, result in zip(ITEMS, results.results, strict=True)
    ]


@SOME_OR_MANY
def test_broken_answer_is_never_fine(tries):
    """Unless the part that was changed is none that an answer has to have."""
    rng = random.Random(3)
    asked, line = answer()
    assert {verdict.kind for verdict in verdicts(line, asked)} == {Kind.CONFORMS}
    whole = _read_seen(orjson.loads(line))
    for _ in range(tries):
        content = either(line, rng)
        found = verdicts(content, asked)
        if found is not None and all(verdict.kind is Kind.CONFORMS for verdict in found):
            assert _read_seen(orjson.loads(content)) == whole, content


@SOME_OR_MANY
def test_broken_answer_of_a_target_that_hides_variables_has_verdicts(tries):
    rng = random.Random(4)
    asked, line = answer()
    for _ in range(tries):
        verdicts(either(line, rng), asked, ("leader",))


def _read_seen(message):
    """What the adapter says that it saw: values in their places."""
    values = [*message["values"]]
    return [
        [[values[index] if index >= 0 else None for index in step[:2]] for step in item["steps"]]
        for item in message["results"]
    ]


CHARTER = """protocol broken.lock
sort Client
counter Epoch
record Held { by: Client, epoch: Epoch }
union Reply { taken(epoch: Epoch), refused }
component lock {
  state held: option Held = none
  state next: Epoch = 0
  operation take(client: Client) -> Reply cites silent {
    branch busy when held != none reply refused
    branch free {
      held' = present(Held { by: client, epoch: next })
      next' = bump(next)
      reply taken(next)
    }
  }
  operation drop() -> bool cites silent {
    branch dropped {
      held' = none
      reply true
    }
  }
}
always once of lock: held == none or value(held).epoch < next
witness held of lock: held != none
instance tiny of lock { Client = 2 }
"""


@SOME_OR_MANY
def test_broken_charter_has_diagnostics_and_no_traceback(tries):
    rng = random.Random(4)
    words = CHARTER.split(" ")
    lines = CHARTER.splitlines()
    for _ in range(tries):
        match rng.randrange(3):
            case 0:
                text = damage(CHARTER.encode(), rng).decode("utf-8", "replace")
            case 1:
                one, other = rng.randrange(len(words)), rng.randrange(len(words))
                text = " ".join([*words[:one], words[other], *words[one + 1 :]])
            case _:
                one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
                text = "\n".join([*lines[:one], lines[other], *lines[one + rng.randrange(2) :]])
        for item in check_texts((Source("broken", text),)):
            assert item.code and item.show()


def test_damage_is_damage():
    """The tools of this file change what they are given, most of the time."""
    rng = random.Random(0)
    content = json.dumps({"a": [1, {"b": "c"}], "d": None}).encode()
    assert sum(damage(content, rng) != content for _ in range(200)) > 150
    assert sum(change(json.loads(content), rng) != json.loads(content) for _ in range(200)) > 180
