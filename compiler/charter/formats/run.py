"""Reads and writes the findings of a run, as its summary.json lists them, and what searches of
systems said of them, as in_system.json does (docs/formats/run.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from charter.formats.canonical import Json
from charter.formats.reading import JsonReader

SYSTEMS_FORMAT = 3
"""The version of in_system.json."""


@dataclass(frozen=True, slots=True)
class ShrunkQuestion:
    """A smaller question that shows a finding at its last operation, `step`. `vector` is its id,
    `before` the number of operations that it was made from; `shown` has what was expected and what
    was observed, side by side. `chosen`: the solver chose its given state."""

    vector: str
    step: int
    before: int
    question: Mapping[str, Json]
    shown: tuple[str, ...]
    chosen: bool = False

    def json(self) -> dict[str, Json]:
        return {
            "vector": self.vector,
            "step": self.step,
            "before": self.before,
            "question": dict(self.question),
            "shown": list(self.shown),
            "chosen": self.chosen,
        }


@dataclass(frozen=True, slots=True)
class RunFinding:
    """All deviations that have one cause, or that one overlay entry explains.

    `id` is the same in every run: `f-` and ten digits of the cause, or the name of the entry. The
    example is step `step` of `vector`, the earliest that shows it; `shown` has what was expected
    there and what was observed, side by side; `shrunk` is a smaller vector, if one was found.
    `hides`: how many steps were not judged because they follow it. `known` is the reason in the
    run's baseline ("": it has none there). `chosen`: the solver chose the given state of `vector`.
    `like` is the id of a finding listed before it that may have the same cause: the same operation
    differs in the same variables ("": there is none). `observed` is a digest of what all its
    deviations observed: equal in two runs of one suite if nothing about the finding changed.
    `limits` are sentences about what the target hides or cannot do that it may depend on.
    """

    id: str
    entry: str
    severity: str
    rule: str
    vectors: int
    deviations: int
    vector: str
    step: int
    sentence: str = ""
    known: str = ""
    shown: tuple[str, ...] = ()
    shrunk: ShrunkQuestion | None = None
    chosen: bool = False
    hides: int = 0
    like: str = ""
    observed: str = ""
    limits: tuple[str, ...] = ()

    @property
    def new(self) -> bool:
        """Whether neither the overlay nor the baseline lists it."""
        return not self.entry and not self.known

    def json(self) -> dict[str, Json]:
        return {
            **asdict(self),
            "shown": list(self.shown),
            "shrunk": self.shrunk.json() if self.shrunk else {},
            "limits": list(self.limits),
        }


def findings_of(listed: Json) -> tuple[RunFinding, ...]:
    """The findings of the field `findings`. Runs of earlier versions may lack some fields. Raises
    `BadVector`."""
    return tuple(_finding(item) for item in JsonReader(listed, "findings").items())


def _finding(item: JsonReader) -> RunFinding:
    held = item.object()
    return RunFinding(
        id=item.text("id"),
        entry=item.text("entry"),
        severity=item.text("severity"),
        rule=item.text("rule"),
        vectors=item.item("vectors").integer(),
        deviations=item.item("deviations").integer(),
        vector=item.text("vector"),
        step=item.item("step").integer(),
        sentence=item.text("sentence") if "sentence" in held else "",
        known=item.text("known") if "known" in held else "",
        shown=item.item("shown").texts() if "shown" in held else (),
        shrunk=_read_shrunk(item.item("shrunk")) if held.get("shrunk") else None,
        chosen=held.get("chosen") is True,
        hides=item.item("hides").integer() if "hides" in held else 0,
        like=item.text("like") if "like" in held else "",
        observed=item.text("observed") if "observed" in held else "",
        limits=item.item("limits").texts() if "limits" in held else (),
    )


def _read_shrunk(item: JsonReader) -> ShrunkQuestion:
    question = item.item("question")
    for call in question.item("operations").items():
        call.text("operation")
        call.item("args").object()
    question.item("given")
    return ShrunkQuestion(
        item.text("vector"),
        item.item("step").integer(),
        item.item("before").integer(),
        question.object(),
        item.item("shown").texts(),
        item.object().get("chosen") is True,
    )


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """Whether the first `step` operations of a vector can happen in a system of the charter.

    If a trace was found, `system` and `instance` name where, and `story` has its steps; `begins` is
    the number of operations after which the component is as the trace begins (0: the trace has all
    operations). Else `system` is "", and `why` says what was searched in vain, with the bounds, or
    why nothing was. `states`: how many states were searched; `impossible`: none, since no step of a
    system makes the calls."""

    vector: str
    step: int
    system: str
    instance: str
    begins: int
    story: tuple[str, ...]
    states: int
    why: str
    impossible: bool = False

    def json(self) -> dict[str, Json]:
        return {**asdict(self), "story": list(self.story)}

    @property
    def sentence(self) -> str:
        """Where it can happen, in few words."""
        if not self.system:
            alone = "in the component alone" if self.impossible else "not searched"
            return self.why if self.states else f"{alone}: {self.why}"
        steps = "1 step" if len(self.story) == 1 else f"{len(self.story)} steps"
        after = f" after the first {self.begins} operations," if self.begins else ""
        return f"in the system {self.system},{after} instance {self.instance}: {steps}"


def write_answers(spec: str, answers: Sequence[SystemAnswer]) -> dict[str, Json]:
    """The content of in_system.json; `spec` is the digest of the rules."""
    return {"format": SYSTEMS_FORMAT, "spec": spec, "answers": [one.json() for one in answers]}


def read_answers(content: Mapping[str, Json], spec: str) -> tuple[SystemAnswer, ...]:
    """The answers of in_system.json; none if they are about other rules, or if another version of
    conform gave them. Raises `BadVector`."""
    reader = JsonReader(dict(content), "in_system.json").fields("format", "spec", "answers")
    if reader.text("spec") != spec or reader.value("format") != SYSTEMS_FORMAT:
        return ()
    return tuple(_answer(item) for item in reader.item("answers").items())


def _answer(item: JsonReader) -> SystemAnswer:
    return SystemAnswer(
        vector=item.text("vector"),
        step=item.item("step").integer(),
        system=item.text("system"),
        instance=item.text("instance"),
        begins=item.item("begins").integer(),
        story=item.item("story").texts(),
        states=item.item("states").integer(),
        why=item.text("why"),
        impossible=item.object().get("impossible") is True,
    )
