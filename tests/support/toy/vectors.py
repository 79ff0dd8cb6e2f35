"""Vectors of the toy protocol: random walks, with all outcomes that the model allows as answers."""

import random
from functools import cache

from tests.support.suites import write_suite
from tests.support.toy import charter

from charter.formats import canonical
from charter.formats.labels import Labels
from charter.formats.resolve import History, resolve
from charter.formats.suite import Manifest, Models
from charter.formats.vector import Answer, AnswerNode, OperationCall, Question, Vector, Why

NODES = {"n1": 0, "n2": 7}


def question(*calls, nodes=None, given=None):
    operations = tuple(OperationCall(operation, args) for operation, args in calls)
    return Question("toy.lease", "", "keeper", {"Node": nodes or NODES}, given, operations)


def vector(*calls, why=None, model=charter, given=None):
    asked = question(*calls, given=given)
    return Vector(asked, answer(asked, model), why or Why())


class Table(list):
    """Distinct values and their indexes."""

    def __init__(self):
        super().__init__()
        self.positions = {}

    def at(self, value):
        text = canonical.text(value)
        if text not in self.positions:
            self.positions[text] = len(self)
            self.append(value)
        return self.positions[text]


def never(model, operation):
    """A value that was never issued."""
    if hasattr(model, "never_issued"):
        return lambda path: model.never_issued(operation, path)
    return lambda path: "@999999999999"


def answer(asked, model=charter):
    observations, replies = Table(), Table()
    start = model.initial(asked.sorts)
    if asked.given is not None:
        start = model.given(asked.given, asked.sorts)
    raw = model.observe(start)
    _, seen, labels = Labels().step(None, raw)
    steps = [(AnswerNode((), "", -1, observations.at(seen)),)]
    front = [(start, labels, History((raw,)))]
    for call in asked.operations:
        found = {}
        for origin, (state, labels, history) in enumerate(front):
            args = resolve(dict(call.args), history, never(model, call.operation))
            for outcome in model.outcomes(state, call.operation, args):
                raw = model.observe(outcome.state)
                reply, seen, after = labels.step(outcome.reply, raw)
                key = (outcome.branch, replies.at(reply), observations.at(seen), outcome.state)
                found.setdefault(
                    key, ([], (outcome.state, after, history.then(outcome.reply, raw)))
                )[0].append(origin)
        steps.append(
            tuple(AnswerNode(tuple(o), key[0], key[1], key[2]) for key, (o, _) in found.items())
        )
        front = [item for _, item in found.values()]
    return Answer(tuple(observations), tuple(replies), tuple(steps))


def random_calls(rng, length):
    calls = []
    for step in range(length):
        node = rng.choice(list(NODES))
        epoch = {"ref": [rng.randrange(step + 1), "registration", node, "epoch"]}
        if rng.random() < 0.2:
            epoch = {"never_issued": True}
        calls.append(
            rng.choice(
                [
                    ("register", {"node": node}),
                    ("elect", {}),
                    (
                        "write",
                        {
                            "node": node,
                            "epoch": epoch,
                            "version": {"ref": [step, "version"], "plus": rng.choice([0, 0, 1])},
                        },
                    ),
                    ("expire", {"node": node}),
                    ("failover", {}),
                ]
            )
        )
    return calls


@cache
def draw(seed, length, model):
    """The vectors that were drawn already, and what draws the next ones."""
    return random.Random(seed), {}


def random_vectors(count, seed=0, length=6, model=charter):
    """Vectors with distinct questions whose references are defined on every allowed path. They are
    the first ones of what a seed gives, which a process draws once."""
    rng, found = draw(seed, length, model)
    while len(found) < count:
        calls = [("register", {"node": "n1"}), *random_calls(rng, length - 1)]
        try:
            made = vector(*calls, why=Why(source="random"), model=model)
        except Exception:  # a reference to nothing
            continue
        found[made.id] = made
    return list(found.values())[:count]


def killers(model=charter):
    stale = {"ref": [1, "registration", "n1", "epoch"]}
    write = {"node": "n1", "epoch": stale, "version": 1}
    register = ("register", {"node": "n1"})
    return [vector(register, ("elect", {}), register, ("write", write), model=model)]


TYPES = {
    "replies": {"register": "Reply", "elect": "Reply", "write": "Reply", "expire": "bool",
                "failover": "bool"},
    "observes": {"registration": "map Node -> option {epoch: Epoch}", "leader": "option Node",
                 "version": "int"},
    "names": {"Node": "sort", "Epoch": "ordered",
              "Error": "enum NOBODY, STALE_EPOCH, NOT_LEADER, STALE_VERSION",
              "Reply": "union registered{epoch: Epoch}, elected{leader: Node},"
                       " written{version: int}, rejected{error: Error}"},
}  # fmt: skip
"""The types of the toy protocol, as in a manifest."""


def write_toy_suite(
    folder, count=40, seed=0, model=charter, charter_model="charter_models.toy.charter"
):
    """Writes a suite of the toy protocol with its models and canaries. `model` computes its
    answers; `charter_model` names the model that the judge uses."""
    drawn = random_vectors(count, seed, model=model)
    return write_toy_vectors(folder, drawn, model, charter_model)


def write_toy_vectors(folder, vectors, model=charter, charter_model="charter_models.toy.charter"):
    """The same with vectors of one's own."""
    kills = killers(model)
    models = Models(
        charter_model,
        {
            "known": {
                "": "charter_models.toy.keeps_leader",
                "leader_stays": "charter_models.toy.keeps_leader",
            }
        },
        {"no_epoch_check": "charter_models.toy.no_epoch_check"},
    )
    about = Manifest("", "toy.lease", "", "keeper", charter.SPEC_DIGEST, 0, models,
                     {"no_epoch_check": tuple(v.id for v in kills)}, types=TYPES)  # fmt: skip
    return write_suite(folder, [*vectors, *kills], about)
