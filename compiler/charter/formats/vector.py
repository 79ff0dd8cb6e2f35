"""Reads and writes vectors: a question, the answers that the charter allows, and its purpose.

docs/formats/vector.md explains the format, schemas/vector.json is its schema. The readers are
strict: missing and unknown fields are refused with one sentence that has the location.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.changes import shorter, whole
from charter.formats.reading import BadVector, JsonReader

__all__ = [
    "MAX_NODES", "Answer", "AnswerNode", "BadVector", "OperationCall", "Question", "Vector", "Why",
    "read_answer", "read_line", "read_question", "read_vector", "read_why",
]  # fmt: skip

FORMAT = 1
MAX_NODES = 64
"""Nodes of one step of an answer; a generator refuses a vector that needs more."""

SOLVER = "solver"
SOURCES = ("scenario", "finding", "witness", "exploration", SOLVER, "mutant", "random", "walk")

Delta = Literal["each"] | tuple[int, ...]

_QUESTION = (
    "format", "protocol", "variant", "component", "sorts", "given", "operations", "delta",
)  # fmt: skip
_ANSWER = ("question", "digest", "observations", "replies", "steps")


@dataclass(frozen=True, slots=True)
class OperationCall:
    """One operation with its arguments, references still in place."""

    operation: str
    args: Mapping[str, Json]

    def json(self) -> Json:
        return {"operation": self.operation, "args": dict(self.args)}


@dataclass(frozen=True, slots=True)
class Question:
    """Operations and their arguments for an implementation. The id is the hash of the content.

    `sorts` maps each sort to its elements and their concrete ids. `given` is a durable state or
    None for the initial one. `delta` says after which steps the image catches up. `consts` are the
    values of the constants that the component's rules read.
    """

    protocol: str
    variant: str
    component: str
    sorts: Mapping[str, Mapping[str, int]]
    given: Json
    operations: tuple[OperationCall, ...]
    delta: Delta = "each"
    consts: Mapping[str, int] = field(default_factory=dict)

    def json(self) -> Json:
        delta: Json = "each" if self.delta == "each" else list(self.delta)
        sorts: dict[str, Json] = {name: dict(ids) for name, ids in self.sorts.items()}
        return {
            "format": FORMAT,
            "protocol": self.protocol,
            "variant": self.variant,
            "component": self.component,
            "sorts": sorts,
            "given": self.given,
            "operations": [call.json() for call in self.operations],
            "delta": delta,
            **({"consts": dict(self.consts)} if self.consts else {}),
        }

    @property
    def id(self) -> str:
        """20 hexadecimal digits."""
        return canonical.digest(self.json())


@dataclass(frozen=True, slots=True)
class AnswerNode:
    """One allowed outcome of a step: reachable from the nodes `origins` of the step before, by
    `branch`, with these indices into the replies (-1 for none) and the observations."""

    origins: tuple[int, ...]
    branch: str
    reply: int
    observation: int

    def json(self) -> Json:
        return {
            "from": list(self.origins),
            "branch": self.branch,
            "reply": self.reply,
            "observation": self.observation,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """The automaton of allowed outcomes. `steps[0]` is the state before the first operation.
    Observations and replies are relabelled (charter.formats.labels) and stored once each."""

    observations: tuple[Json, ...]
    replies: tuple[Json, ...]
    steps: tuple[tuple[AnswerNode, ...], ...]

    def content(self) -> dict[str, Json]:
        """What the digest covers: all but the question's id, and the digest itself."""
        return {
            "observations": list(self.observations),
            "replies": list(self.replies),
            "steps": [[node.json() for node in step] for step in self.steps],
        }

    @property
    def digest(self) -> str:
        """20 hexadecimal digits."""
        return canonical.digest(self.content())

    def json(self, question_id: str) -> Json:
        return {"question": question_id, "digest": self.digest, **self.content()}

    def store(self, question_id: str, given: Json) -> dict[str, Json]:
        """As lines of a suite have it: each observation as what changed since the one before, the
        first one since the given state."""
        content = {**self.content(), **shorter(given, self.observations)}
        return {"question": question_id, "digest": self.digest, **content}


@dataclass(frozen=True, slots=True)
class Why:
    """Why the vector exists: what it must cover, and `purpose`, the branches (all of them) that
    a run must have taken for its conformance to count. `unreached` says of a vector that begins in
    a state to which no path was found where a search looked for one ("": it does not). `asks` are
    the steps that ask a transition of a full suite; the others lead there. `asks_behind` are those
    behind a choice of the target, each with the node of the answer in which it was meant to be
    before it."""

    obligations: tuple[str, ...] = ()
    source: str = "exploration"
    title: str = ""
    label: str = "open environment"
    purpose: tuple[str, ...] = ()
    unreached: str = ""
    asks: tuple[int, ...] = ()
    asks_behind: tuple[tuple[int, int], ...] = ()

    @property
    def asked(self) -> int:
        """How many transitions the vector asks."""
        return len(self.asks) + len(self.asks_behind)

    def json(self) -> Json:
        return {
            "obligations": list(self.obligations),
            "source": self.source,
            "title": self.title,
            "label": self.label,
            "purpose": list(self.purpose),
            **({"unreached": self.unreached} if self.unreached else {}),
            **({"asks": [*self.asks]} if self.asks else {}),
            **({"asks_behind": [[*pair] for pair in self.asks_behind]} if self.asks_behind else {}),
        }


@dataclass(frozen=True, slots=True)
class Vector:
    """A question, its answer, and why it is asked: self-contained."""

    question: Question
    answer: Answer
    why: Why

    @property
    def id(self) -> str:
        """The id of the question."""
        return self.question.id

    def json(self) -> Json:
        question = self.question.json()
        answer = self.answer.json(canonical.digest(question))
        return {"question": question, "answer": answer, "why": self.why.json()}

    def line(self) -> str:
        """One line of a JSON lines file, without its newline."""
        question = self.question.json()
        answer = self.answer.store(canonical.digest(question), self.question.given)
        return canonical.text({"question": question, "answer": answer, "why": self.why.json()})


def read_line(line: str | bytes, where: str) -> Vector:
    """The vector on one line of a file. `where` opens the sentence of `BadVector`."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadVector(f"{where}: this line is no JSON ({error}); is the file cut off?") from None
    return read_vector(value, where)


def read_vector(value: Json, where: str = "vector") -> Vector:
    """A vector from parsed JSON. Raises `BadVector` for whatever is not exactly one, also for an
    id or a digest that does not fit the content."""
    reader = JsonReader(value, where).fields("question", "answer", "why")
    try:
        question = read_question(reader.value("question"), f"{where}: question")
        answer = read_answer(reader.value("answer"), question, f"{where}: answer")
        return Vector(question, answer, read_why(reader.value("why"), f"{where}: why"))
    except (ValueError, RecursionError) as error:  # infinities, half characters, endless nesting
        raise BadVector(f"{where}: a value has no canonical text ({error})") from None


def read_question(value: Json, where: str = "question") -> Question:
    """A question from parsed JSON. Raises `BadVector`."""
    reader = JsonReader(value, where)
    consts = ("consts",) if "consts" in reader.object() else ()
    reader.fields(*_QUESTION, *consts)
    if reader.value("format") != FORMAT:
        raise BadVector(
            f"{where}: the format is {reader.value('format')!r}, this program reads {FORMAT}"
        )
    given = reader.value("given")
    if given is not None and not isinstance(given, dict):
        raise BadVector(f"{where}.given: neither null nor an object")
    return Question(
        protocol=reader.text("protocol"),
        variant=reader.text("variant"),
        component=reader.text("component"),
        sorts={name: _ids(item) for name, item in reader.item("sorts").entries()},
        given=given,
        operations=tuple(_call(item) for item in reader.item("operations").items()),
        delta=_delta(reader),
        consts={name: _constant(item) for name, item in reader.item("consts").entries()}
        if consts
        else {},
    )


def _constant(reader: JsonReader) -> int:
    """The value of a constant: a whole number, or true or false."""
    return reader.raw if isinstance(reader.raw, bool) else reader.integer()


def read_answer(value: Json, question: Question, where: str = "answer") -> Answer:
    """An answer to `question` from parsed JSON. Raises `BadVector`."""
    reader = JsonReader(value, where)
    changes = ("changes",) if "changes" in reader.object() else ()
    reader.fields(*_ANSWER, *changes)
    if reader.text("question") != question.id:
        raise BadVector(f"{where}.question: this answer belongs to another question")
    stored = [item.raw for item in reader.item("observations").items()]
    changed = [item.object() for item in reader.item("changes").items()] if changes else None
    observations = whole(question.given, stored, changed, where)
    replies = tuple(item.raw for item in reader.item("replies").items())
    steps = tuple(
        tuple(_node(node) for node in step.items()) for step in reader.item("steps").items()
    )
    answer = Answer(observations, replies, steps)
    if len(steps) != len(question.operations) + 1:
        raise BadVector(
            f"{where}.steps: {len(steps)} steps for {len(question.operations)} operations"
            " (one more than operations is right)"
        )
    _check_automaton(answer, where)
    if reader.text("digest") != answer.digest:
        raise BadVector(f"{where}.digest: the content was changed; its digest is {answer.digest}")
    return answer


def read_why(value: Json, where: str = "why") -> Why:
    """The reasons from parsed JSON. Raises `BadVector`."""
    optional: dict[str, Json] = {"unreached": "", "asks": [], "asks_behind": []}
    reader = JsonReader({**optional, **JsonReader(value, where).object()}, where)
    reader.fields("obligations", "source", "title", "label", "purpose", *optional)
    if reader.text("source") not in SOURCES:
        raise BadVector(f"{where}.source: not one of {', '.join(SOURCES)}")
    return Why(
        obligations=reader.item("obligations").texts(),
        source=reader.text("source"),
        title=reader.text("title"),
        label=reader.text("label"),
        purpose=reader.item("purpose").texts(),
        unreached=reader.text("unreached"),
        asks=tuple(item.integer() for item in reader.item("asks").items()),
        asks_behind=tuple(map(_read_pair, reader.item("asks_behind").items())),
    )


def _read_pair(reader: JsonReader) -> tuple[int, int]:
    """A step and a node before it."""
    found = [item.integer() for item in reader.items()]
    if len(found) != 2:
        raise BadVector(f"{reader.where}: not a step and a node")
    return found[0], found[1]


def _ids(reader: JsonReader) -> dict[str, int]:
    ids = {name: item.integer() for name, item in reader.entries()}
    if len(set(ids.values())) != len(ids):
        raise BadVector(f"{reader.where}: two elements have the same concrete id")
    return ids


def _call(reader: JsonReader) -> OperationCall:
    reader.fields("operation", "args")
    return OperationCall(reader.text("operation"), dict(reader.item("args").object()))


def _delta(reader: JsonReader) -> Delta:
    if reader.value("delta") == "each":
        return "each"
    return tuple(item.integer() for item in reader.item("delta").items())


def _node(reader: JsonReader) -> AnswerNode:
    reader.fields("from", "branch", "reply", "observation")
    return AnswerNode(
        origins=tuple(item.integer() for item in reader.item("from").items()),
        branch=reader.text("branch"),
        reply=reader.item("reply").integer(),
        observation=reader.item("observation").integer(),
    )


def _check_automaton(answer: Answer, where: str) -> None:
    """Check that indices are valid and every node is reachable."""
    previous = 0
    for number, step in enumerate(answer.steps):
        at = f"{where}.steps[{number}]"
        if not 1 <= len(step) <= MAX_NODES:
            raise BadVector(f"{at}: {len(step)} nodes; 1 to {MAX_NODES} are allowed")
        for node in step:
            if not -1 <= node.reply < len(answer.replies):
                raise BadVector(f"{at}: there is no reply {node.reply}")
            if not 0 <= node.observation < len(answer.observations):
                raise BadVector(f"{at}: there is no observation {node.observation}")
            if any(not 0 <= origin < previous for origin in node.origins):
                raise BadVector(f"{at}: a node comes from a node that the step before lacks")
            if bool(node.origins) != bool(number):
                raise BadVector(f"{at}: only the nodes of step 0 come from nowhere")
        previous = len(step)


# --- concrete ids ---------------------------------------------------------------------------------

ELEMENT_IDS = (0, 1, 2, 3, 5, 7, 42, 1000, 65_536, 1_000_003, 2_147_483_646)
"""Concrete ids for elements of sorts, 0 and large ones included."""


def concrete_ids(sorts: Mapping[str, tuple[str, ...]], seed: str) -> dict[str, dict[str, int]]:
    """Ids for the elements of every sort: a permutation of ELEMENT_IDS that `seed` decides."""

    def rank(sort: str, number: int) -> bytes:
        return hashlib.sha256(f"{seed}/{sort}/{number}".encode()).digest()

    return {
        sort: dict(
            zip(
                names,
                islice(sorted(ELEMENT_IDS, key=lambda n: rank(sort, n)), len(names)),
                strict=True,
            )
        )
        for sort, names in sorts.items()
    }
