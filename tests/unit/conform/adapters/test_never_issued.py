"""A value that was never issued is the adapter's own: after a deviation the run is followed with
it, and not with that of the model."""

from dataclasses import dataclass, replace

import orjson
import pytest
from tests.support.judging import QUICK

from charter.formats.opaque import OpaqueTypes
from conform import sdk
from conform.adapters.direct import DirectConnection
from conform.adapters.reference import Reference
from conform.adapters.session import Session
from conform.judging.siblings import Siblings
from conform.runs.shrink import answer_item

WISH = {"never_issued": True}


@dataclass(frozen=True, slots=True)
class Store:
    """The highest token of a write, and the token that was issued last."""

    highest: int = 0
    issued: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    branch: str
    reply: object
    state: Store


class Fence:
    """Writes are fenced: one with a token below the highest so far is refused. `foreign` tokens
    may be refused, too."""

    PROTOCOL, VARIANT, COMPONENT, SPEC_DIGEST = "fence", "", "store", "f"
    OPERATIONS, OBSERVES = ("issue", "write", "ping"), ("highest",)

    def __init__(self, foreign=True, pong=True):
        self.foreign = foreign
        self.pong = pong

    def initial(self, sorts, consts=None):
        return Store()

    given = None

    def outcomes(self, state, operation, args):
        if operation == "ping":
            return [Outcome("ping/pong", self.pong, state)]
        if operation == "issue":
            number = state.issued + 1
            return [Outcome("issue/done", f"@{number}", replace(state, issued=number))]
        token = int(args["token"][1:])
        if token < state.highest:
            return [Outcome("write/fenced", "FENCED", state)]
        if token == state.highest:
            return [Outcome("write/again", "AGAIN", state)]
        if token > state.issued and not self.foreign:
            return [Outcome("write/foreign", "FOREIGN", state)]
        return [Outcome("write/done", "DONE", replace(state, highest=token))]

    def observe(self, state):
        return {"highest": f"@{state.highest}"}

    def encode(self, state):
        return {**self.observe(state), "issued": f"@{state.issued}"}

    def decode(self, value, sorts, consts=None):
        return Store(int(value["highest"][1:]), int(value["issued"][1:]))

    def never_issued(self, operation, path):
        return "@999999999999"


def adapter(model, never):
    """A model as an adapter that has another value for what was never issued."""

    class Own(Reference):
        def never_issued(self, operation, path):
            return never

    made = Own(model)
    made.about = sdk.About("own", "1", "store", model.OPERATIONS, model.OBSERVES)
    return made


def judge(charter, target, calls, never="@5000"):
    """The deviating steps of a question, and how many steps were not judged."""
    question = {
        "format": 1, "protocol": "fence", "variant": "", "component": "store",
        "sorts": {}, "given": None, "delta": "each",
        "operations": [{"operation": name, "args": args} for name, args in calls],
    }  # fmt: skip
    item = answer_item(charter, orjson.loads(orjson.dumps(question)), OpaqueTypes())
    connection = DirectConnection(lambda: adapter(target, never))
    session = Session(connection, Siblings(charter), QUICK, "test", charter.OBSERVES)
    ((assessment,),) = [judgement.assessments for judgement in session.run([item])]
    verdict = assessment.verdict
    return [deviation.step for deviation in verdict.deviations], verdict.not_judged


WRITE = ("write", {"token": WISH})


@pytest.mark.parametrize("never", ["@5000", "@999999999999", "@1000000000000000000"])
def test_value_is_the_same_in_later_steps_when_a_deviation_came_first(never):
    calls = [("ping", {}), WRITE, WRITE, ("issue", {}), WRITE]
    assert judge(Fence(), Fence(pong=False), calls, never) == ([1], 0)
    assert judge(Fence(), Fence(), calls, never) == ([], 0)


def test_value_that_a_deviation_stores_is_the_one_of_later_steps():
    """The bug stores a foreign token; from that state on the same token comes again."""
    assert judge(Fence(foreign=False), Fence(), [WRITE, WRITE]) == ([1], 0)


def test_value_is_greater_than_those_of_an_implementation_that_counts_high():
    """The value of the model would be below the tokens of the implementation."""

    class High(Fence):
        def initial(self, sorts, consts=None):
            return Store(issued=10**15, highest=10**15)

    calls = [("ping", {}), WRITE, WRITE]
    assert judge(Fence(), High(pong=False), calls, "@9000000000000000") == ([1], 0)
