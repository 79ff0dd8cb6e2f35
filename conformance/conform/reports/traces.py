"""Shows a vector step by step: the operation, the observation, and any deviation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import mapping, own_number, texts
from charter.formats.resolve import History, Unresolved, resolve
from charter.formats.vector import Question, Why
from charter.formats.verdict import Deviation, Severity
from conform.judging.places import NOT_KNOWN, ValuePlaces
from conform.judging.read_result import operation_at
from conform.judging.written_values import call_text, show
from conform.reports.reasons import brief
from conform.reports.runs import ReportedRun
from conform.reports.values import FieldRow, compare, flat, list_places, rows
from conform.storage.observations import read_label_types


@dataclass(frozen=True, slots=True)
class DeviationRow:
    """A row of the dataset of deviations: what was expected (the closest first) and what was
    observed; `values` say which earlier values opaque ones equal."""

    step: int
    operation: str
    args: Mapping[str, Json]
    branch: str
    severity: str
    before: Json
    expected: tuple[Mapping[str, Json], ...]
    observed: Mapping[str, Json]
    entry: str
    cause: str
    paths: tuple[str, ...]
    values: tuple[str, ...] = ()

    def as_judged(self) -> Deviation:
        """The deviation as it was judged."""
        return Deviation(
            self.step,
            self.operation,
            dict(self.args),
            self.branch,
            Severity(self.severity),
            self.before,
            [dict(one) for one in self.expected],
            dict(self.observed),
            tuple(self.entry.split()),
        )

    def outcomes(self, places: ValuePlaces) -> tuple[ExpectedOutcome, ...]:
        """Every expectation, with the fields in which the observation differs from it."""
        if "image" in self.observed:
            return ()
        found = []
        for item in self.expected:
            fields = self._against(item, places)
            found.append(ExpectedOutcome(str(item["branch"]), _only_differing(fields)))
        return tuple(sorted(found, key=lambda outcome: len(outcome.fields)))

    def differing(self, places: ValuePlaces) -> tuple[FieldRow, ...]:
        """The fields of the step, compared with the closest expectation."""
        if "image" in self.observed:
            return _image_rows(self.observed, places)
        return self._against(self.nearest, places)

    def _against(
        self, nearest: Mapping[str, Json] | None, places: ValuePlaces
    ) -> tuple[FieldRow, ...]:
        state = self.observed.get("observation")
        seen: dict[str, Json] = {"reply": self.observed.get("reply")}
        wanted: dict[str, Json] = {"reply": nearest["reply"]} if nearest else {}
        if state is not None:
            seen["observation"] = state
            wanted |= {"observation": nearest["observation"]} if nearest else {}
        before = self.before if state is not None else None
        return rows(before, wanted if nearest else None, seen, (places, self.operation))

    @property
    def nearest(self) -> Mapping[str, Json] | None:
        """The expectation that the rows are compared with."""
        same = [item for item in self.expected if item.get("branch") == self.branch]
        return min(same or self.expected, key=self._distance, default=None)

    def _distance(self, item: Mapping[str, Json]) -> int:
        wanted, seen = flat(dict(item)), flat(dict(self.observed))
        return sum(wanted.get(path) != seen.get(path) for path in wanted.keys() | seen.keys())


@dataclass(frozen=True, slots=True)
class ExpectedOutcome:
    """One expectation of a deviating step, and where the observation differs from it."""

    branch: str
    fields: tuple[FieldRow, ...]


def _only_differing(fields: Sequence[FieldRow]) -> tuple[FieldRow, ...]:
    return tuple(row for row in fields if row.kind == "differs")


def _image_rows(observed: Mapping[str, Json], places: ValuePlaces) -> tuple[FieldRow, ...]:
    """The fields of the image, compared with the observation of the same step."""
    image = flat(observed["image"])
    shows = {path: item for path, item in flat(observed["observation"]).items() if path in image}
    return compare(({}, shows, image), list_places(observed["observation"], places.observation))


@dataclass(frozen=True, slots=True)
class ReportedStep:
    """One step of a vector. Step 0 is the state before the first operation. `state` is None if
    nothing was observed. `status`: `start` (or `loaded`), `allowed`, `deviates`, `not judged`."""

    number: int
    operation: str
    args: Mapping[str, Json]
    branch: str
    status: str
    reply: Json = None
    state: Json = None
    deviation: DeviationRow | None = None
    fields: tuple[FieldRow, ...] = ()
    resolved: Mapping[str, Json] = field(default_factory=dict)
    outcomes: tuple[ExpectedOutcome, ...] = ()
    places: ValuePlaces = NOT_KNOWN

    @property
    def call(self) -> str:
        return call_text(self.operation, self.args, self.places) if self.operation else self._start

    @property
    def short_call(self) -> str:
        """The operation with its references replaced by values."""
        return self.call_as(self.operation)

    def call_as(self, name: str) -> str:
        """As `short_call`, with what its implementers call the operation."""
        return call_text(name, self.resolved, self.places) if self.operation else self._start

    @property
    def _start(self) -> str:
        return "a given state, loaded" if self.status == "loaded" else "the start"

    @property
    def answered(self) -> str:
        """The reply on one line."""
        return show(self.reply, self.places.reply(self.operation)) if self.number else ""


@dataclass(frozen=True, slots=True)
class VectorTrace:
    """A vector on one target. `question` is None if the suite is no longer cached; `raw` are the
    replies and observations as they were received."""

    id: str
    kind: str
    detail: str
    judged: int
    not_judged: int
    question: Question | None
    why: Why | None
    steps: tuple[ReportedStep, ...]
    raw: tuple[tuple[Json, Json], ...] = ()

    @property
    def deviations(self) -> tuple[ReportedStep, ...]:
        return tuple(step for step in self.steps if step.deviation is not None)

    @property
    def label(self) -> str:
        return self.why.label if self.why else ""


@dataclass(slots=True)
class _Known:
    """The rows of the datasets about one vector."""

    verdict: Mapping[str, Json] = field(default_factory=dict)
    deviations: dict[int, DeviationRow] = field(default_factory=dict)
    seen: tuple[tuple[Json, Json], ...] = ()
    raw: tuple[tuple[Json, Json], ...] = ()


def read_traces(run: ReportedRun, ids: Collection[str]) -> dict[str, VectorTrace]:
    """The vectors `ids` of a run, for those that its datasets contain."""
    known = {name: _Known() for name in ids}
    for row in run.rows("verdicts", ids):
        known[str(row["id"])].verdict = row
    for row in run.rows("deviations", ids):
        deviation = _deviation(row)
        known[str(row["id"])].deviations.setdefault(deviation.step, deviation)
    for held, line in run.lines(ids):
        for name, seen in _read_steps(line, known.keys() & set(held)).items():
            known[name].raw = seen
    questions = run.questions(ids)
    places, opaque = run.places, read_label_types(run.about)
    for name, found in known.items():
        asked = questions.get(name)
        called = [call.operation for call in asked[0].operations] if asked else []
        if asked or not opaque.differ:  # without the question the types of replies are not known
            found.seen = _relabel(found.raw, opaque, called)
    return {
        name: _trace(name, found, questions.get(name), places)
        for name, found in known.items()
        if found.verdict
    }


def _deviation(row: Mapping[str, Json]) -> DeviationRow:
    expected = orjson.loads(str(row["expected"]))
    return DeviationRow(
        step=own_number(row["step"]),
        operation=str(row["operation"]),
        args=mapping(orjson.loads(str(row["args"]))),
        branch=str(row["branch"]),
        severity=str(row["severity"]),
        before=orjson.loads(str(row["before"])),
        expected=tuple(mapping(item) for item in expected),
        observed=mapping(orjson.loads(str(row["observed"]))),
        entry=str(row["entry"]),
        cause=str(row["cause"]),
        paths=texts(row["paths"]),
        values=texts(row.get("values")),
    )


def _read_steps(line: str, wanted: Collection[str]) -> dict[str, tuple[tuple[Json, Json], ...]]:
    """Replies and observations of some vectors from one line of output, as they were received.
    Vectors that the judge could not read are left out."""
    try:
        message = mapping(orjson.loads(line))
    except orjson.JSONDecodeError:
        return {}
    values, results = message.get("values"), message.get("results")
    if not isinstance(values, list) or not isinstance(results, list):
        return {}
    found = {}
    for result in map(mapping, results):
        name = str(result.get("id"))
        if name not in wanted:
            continue
        try:
            found[name] = _raw_steps(result.get("steps"), values)
        except (ValueError, IndexError, TypeError):
            continue
    return found


def _raw_steps(steps: Json, values: Sequence[Json]) -> tuple[tuple[Json, Json], ...]:
    seen = list[tuple[Json, Json]]()
    for step in steps if isinstance(steps, list) else []:
        reply, observation = _indices(step)
        raw = values[reply] if reply >= 0 else None
        if observation < 0:
            seen.append((raw, None))
            break
        seen.append((raw, values[observation]))
    return tuple(seen)


def _relabel(
    steps: Sequence[tuple[Json, Json]], opaque: OpaqueTypes, operations: Sequence[str]
) -> tuple[tuple[Json, Json], ...]:
    """Steps with labels; nothing if a value is not one that can have a label."""
    labels, seen = Labels(opaque), list[tuple[Json, Json]]()
    for number, (reply, observation) in enumerate(steps):
        if observation is None:
            seen.append((reply, None))
            break
        try:
            renamed, state, labels = labels.step(
                reply, observation, operation_at(operations, number)
            )
        except ValueError:
            return ()
        seen.append((renamed, state))
    return tuple(seen)


def _indices(step: Json) -> tuple[int, int]:
    """The indexes of a step's reply and observation. Raises ValueError if it is malformed."""
    if not isinstance(step, list) or len(step) != 3:
        raise ValueError("not a step")
    reply, observation, _ = step
    if not isinstance(reply, int) or not isinstance(observation, int):
        raise ValueError("not a step")
    return reply, observation


def _trace(
    name: str, known: _Known, asked: tuple[Question, Why] | None, places: ValuePlaces
) -> VectorTrace:
    question, why = asked if asked else (None, None)
    verdict = known.verdict
    judged, not_judged = own_number(verdict["judged"]), own_number(verdict["not_judged"])
    return VectorTrace(
        id=name,
        kind=str(verdict["kind"]),
        detail=brief(str(verdict["detail"])),
        judged=judged,
        not_judged=not_judged,
        question=question,
        why=why,
        steps=tuple(_steps(known, question, texts(verdict["branches"]), places)),
        raw=known.raw,
    )


def _steps(
    known: _Known, question: Question | None, branches: Sequence[str], places: ValuePlaces
) -> list[ReportedStep]:
    last = len(question.operations) if question else max(0, len(known.seen) - 1)
    last = max([last, *known.deviations])
    found: list[ReportedStep] = []
    for number in range(last + 1):
        history = History(tuple(step.state for step in found), tuple(step.reply for step in found))
        found.append(_step(number, known, question, branches, (history, places)))
    return found


def _step(
    number: int,
    known: _Known,
    question: Question | None,
    branches: Sequence[str],
    around: tuple[History, ValuePlaces],
) -> ReportedStep:
    history, places = around
    before = history.observations[-1] if number else None
    deviation = known.deviations.get(number)
    call = question.operations[number - 1] if question and number else None
    operation, args = (call.operation, call.args) if call else ("", {})
    if deviation:
        operation, args = deviation.operation, deviation.args
    reply, state = known.seen[number] if number < len(known.seen) else (None, None)
    if deviation:
        reply, state = deviation.observed.get("reply"), deviation.observed.get("observation")
    judged = number < len(branches)
    status = "allowed" if judged else "not judged"
    if number == 0:
        status = "loaded" if question and question.given is not None else "start"
    fields: tuple[FieldRow, ...] = ()
    if deviation:
        fields = deviation.differing(places)
    elif state is not None:
        fields = rows(before, None, {"reply": reply, "observation": state}, (places, operation))
    return ReportedStep(
        number=number,
        operation=operation,
        args=args,
        branch=deviation.branch if deviation else branches[number] if judged else "",
        status="deviates" if deviation else status,
        reply=reply,
        state=state,
        deviation=deviation,
        fields=fields,
        outcomes=deviation.outcomes(places) if deviation else (),
        places=places,
        resolved={name: _resolve(arg, history) for name, arg in args.items()},
    )


def _resolve(arg: Json, history: History) -> Json:
    """An argument with references replaced by the values that were shown."""
    try:
        return resolve(arg, history, lambda _: {"never_issued": True})
    except Unresolved:
        return arg
