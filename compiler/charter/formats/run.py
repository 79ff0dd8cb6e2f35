"""Reads and writes the findings of a run, as its summary.json lists them (docs/formats/run.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from charter.formats.canonical import Json
from charter.formats.reading import JsonReader


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
