"""Groups the deviations of a run into findings by their cause, the gravest first, each in one
sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.reading import BadVector, mapping, own_calls, own_list, own_number, texts
from charter.formats.run import RunFinding, ShrunkQuestion, findings_of
from charter.formats.vector import SOLVER
from charter.formats.verdict import Kind, Severity
from conform.console.errors import BadRun
from conform.judging.differ import Allowed, RelabelledStep, nearest, paths, select_shown, value_at
from conform.judging.places import NOT_KNOWN, UNKNOWN, ValuePlace, ValuePlaces
from conform.judging.relabel import key
from conform.judging.written_values import call_text, place_at, show
from conform.runs.findings.limits import NO_LIMITS, RunLimits
from conform.runs.findings.observed_digest import ObservedDigest
from conform.runs.judged_rows import JudgedRows, of_kinds

_GRAVITY = tuple(map(str, Severity))
_PLACES = 2
_WIDTH, _BEFORE = 60, 30
"""Characters of a value in a sentence, and of them before the first difference."""


def read_findings(summary: Mapping[str, Json]) -> tuple[RunFinding, ...]:
    """The findings that a summary.json lists; none of a run before there were any. Raises
    `BadRun`."""
    try:
        return findings_of(summary.get("findings", []))
    except BadVector as error:
        raise BadRun(f"summary.json is not what `conform run` writes ({error})") from None


def finding_id(entry: str, cause: str) -> str:
    """The id of the finding that a deviation belongs to; `entry` as in the dataset: the first of
    several names counts."""
    return entry.partition(" ")[0] or f"f-{cause[:10]}"


def gravity(severity: str) -> int:
    """A number to sort by: 0 is the gravest."""
    return _GRAVITY.index(severity) if severity in _GRAVITY else len(_GRAVITY)


@dataclass(frozen=True, slots=True)
class GivenState:
    """What is known of the state that a vector begins in. `chosen`: the solver chose it; `size` is
    that of its text, 0 for the first state of the component."""

    chosen: bool = False
    size: int = 0


FIRST = GivenState()


@dataclass(frozen=True, slots=True, order=True)
class FindingExample:
    """A vector that shows a finding. Sorts by whether it begins in a given state, which nobody may
    reach; then by gravity, then whether the solver chose its given
    state (a reader may doubt that state), then by the step that shows it, then by number of
    operations (0: not known), then by the size of its given state: much of a large one has nothing
    to do with the finding."""

    given: bool
    gravity: int
    chosen: bool
    step: int
    operations: int
    size: int
    id: str
    cause: str
    branch: str = field(compare=False, default="")
    severity: str = field(compare=False, default="")


@dataclass(slots=True, eq=False)
class FindingGroup:
    """The deviations of one finding, as they are counted. `cases` has each vector that shows it,
    `also` the names of further entries that explain it."""

    id: str
    deviations: int = 0
    cases: dict[str, FindingExample] = field(default_factory=dict)
    severities: Counter[str] = field(default_factory=Counter)
    branches: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    also: Counter[str] = field(default_factory=Counter)

    @property
    def severity(self) -> str:
        """The highest severity."""
        return min(self.severities, key=gravity, default="")

    @property
    def first(self) -> FindingExample:
        """The vector that shows it best."""
        return min(self.cases.values())

    def add(self, row: Mapping[str, Json], operations: int, start: GivenState = FIRST) -> None:
        """Count a row of the dataset `deviations`, of a vector with so many operations that begins
        in a given state."""
        branch = str(row["branch"]) or str(row["operation"]) or "initial state"
        severity, cause = str(row["severity"]), str(row["cause"])
        paths, step = own_list(row["paths"]), own_number(row["step"])
        self.deviations += 1
        self.severities[severity] += 1
        self.branches[branch] += 1
        self.causes[cause] += 1
        self.paths.update(map(str, paths))
        self.also.update(str(row["entry"]).split()[1:])
        case = FindingExample(
            start.size > 0, gravity(severity), start.chosen, step, operations, start.size,
            str(row["id"]), cause, branch, severity,
        )  # fmt: skip
        held = self.cases.get(case.id)
        if held is None or case < held:
            self.cases[case.id] = case


Group = TypeVar("Group", bound=FindingGroup)

GROUPED = ["id", "step", "operation", "branch", "severity", "entry", "cause", "paths"]
"""The columns of `deviations` by which they are grouped."""


def group_deviations(
    batches: Iterable[pa.RecordBatch],
    made: Callable[[str, str], Group],
    lengths: Mapping[str, int] = MappingProxyType({}),
    starts: Mapping[str, GivenState] = MappingProxyType({}),
) -> dict[str, Group]:
    """The deviations by finding. `made` makes the group of an id and its overlay entry ("": none);
    `lengths` are the numbers of operations of vectors, `starts` the given states of some."""
    groups: dict[str, Group] = {}
    for batch in batches:
        for row in batch.to_pylist():
            name = finding_id(row["entry"], row["cause"])
            if name not in groups:
                groups[name] = made(name, row["entry"].partition(" ")[0])
            groups[name].add(row, lengths.get(row["id"], 0), starts.get(row["id"], FIRST))
    return groups


COUNTED = ["id", "judged", "not_judged"]
DIVERGING = pc.field("kind") == str(Kind.DIVERGES)
"""The columns of `verdicts` by which operations are counted, and the rows."""


def lengths(verdicts: pa.Table) -> dict[str, int]:
    """The number of operations of each vector, from these columns."""
    return {row["id"]: row["judged"] + row["not_judged"] for row in verdicts.to_pylist()}


def run_findings(
    judged: JudgedRows,
    starts: Mapping[str, GivenState] = MappingProxyType({}),
    limits: RunLimits = NO_LIMITS,
) -> tuple[RunFinding, ...]:
    """The findings of a run: those that no overlay entry explains first, then the gravest, then
    those with most vectors. `starts` are the given states of vectors, `limits` those of the
    target."""
    table = judged.deviations
    batches = table.select(GROUPED).to_batches()
    verdicts = of_kinds(judged.verdicts, [Kind.DIVERGES]).select(COUNTED)
    operations = lengths(verdicts)
    groups = group_deviations(batches, lambda name, _: FindingGroup(name), operations, starts)
    hidden = _count_hidden(table, verdicts)
    firsts = {group.id: group.first for group in groups.values()}
    examples = {(first.step, first.id, first.cause) for first in firsts.values()}
    rows = _rows(table, {first.id for first in firsts.values()})
    told = {(row["step"], row["id"], row["cause"]): row for row in rows
            if (row["step"], row["id"], row["cause"]) in examples}  # fmt: skip
    found = [
        replace(
            _finding(group, told[first.step, first.id, first.cause], ValuePlaces(limits.types)),
            chosen=first.chosen,
            limits=limits.touching(group.branches, group.paths),
        )
        for group, first in zip(groups.values(), firsts.values(), strict=True)
    ]
    digests = _digest_observed(table)
    listed = sorted(
        (replace(one, hides=hidden[one.id], observed=digests[one.id].text) for one in found),
        key=_rank,
    )
    first: dict[tuple[str, frozenset[str]], str] = {}
    return tuple(replace(one, like=_like(one, groups[one.id], first)) for one in listed)


def _like(
    finding: RunFinding, group: FindingGroup, first: dict[tuple[str, frozenset[str]], str]
) -> str:
    """The first finding of the same operation and variables, with what is noted in `first`; "" if
    this is it, if it is a known one, or if replies alone differ."""
    variables = frozenset(path.partition(".")[0] for path in group.paths) - {"reply", "image"}
    if finding.entry or not variables:
        return ""
    before = first.setdefault((finding.rule.partition("/")[0], variables), finding.id)
    return before if before != finding.id else ""


def _digest_observed(deviations: pa.Table) -> dict[str, ObservedDigest]:
    """Digests of what was observed, by finding."""
    found: dict[str, ObservedDigest] = {}
    columns = ["id", "step", "entry", "cause", "observed"]
    for batch in deviations.select(columns).to_batches():
        for row in batch.to_pylist():
            digest = found.setdefault(finding_id(row["entry"], row["cause"]), ObservedDigest())
            digest.add(row["id"], row["step"], row["observed"].encode())
    return found


def _count_hidden(deviations: pa.Table, verdicts: pa.Table) -> Counter[str]:
    """How many steps were not judged after the last deviation of a vector, by its finding."""
    rows = verdicts.filter(pc.greater(verdicts["not_judged"], 0)).to_pylist()
    left = {row["id"]: row["not_judged"] for row in rows}
    last: dict[str, tuple[int, str]] = {}
    for batch in deviations.select(["id", "step", "entry", "cause"]).to_batches() if left else ():
        for row in batch.to_pylist():
            if row["id"] in left and row["step"] >= last.get(row["id"], (-1, ""))[0]:
                last[row["id"]] = (row["step"], finding_id(row["entry"], row["cause"]))
    found = Counter[str]()
    for vector, (_, name) in last.items():
        found[name] += left[vector]
    return found


def _finding(group: FindingGroup, row: Mapping[str, Json], places: ValuePlaces) -> RunFinding:
    return RunFinding(
        id=group.id,
        entry=str(row["entry"]).partition(" ")[0],
        severity=group.severity,
        rule=group.branches.most_common(1)[0][0],
        vectors=len(group.cases),
        deviations=group.deviations,
        vector=str(row["id"]),
        step=int(str(row["step"])),
        sentence=sentence(row, places),
        shown=side_by_side(row, places),
    )


def _rank(finding: RunFinding) -> tuple[bool, int, int, str]:
    return bool(finding.entry), gravity(finding.severity), -finding.vectors, finding.id


def _rows(table: pa.Table, vectors: Iterable[str]) -> list[dict[str, Json]]:
    """The rows of some vectors."""
    ids = pa.array(sorted(vectors), pa.string())
    found: list[dict[str, Json]] = table.filter(pc.is_in(table["id"], value_set=ids)).to_pylist()
    return found


def sentence(row: Mapping[str, Json], places: ValuePlaces = NOT_KNOWN) -> str:
    """What was expected and what was seen, from a row of the dataset `deviations`; values as the
    charter writes them, by the `places` of the run."""
    rule = str(row["branch"]) or str(row["operation"]) or "initial state"
    expected, observed = orjson.loads(str(row["expected"])), orjson.loads(str(row["observed"]))
    kinds = places.reply(str(row["operation"])), places.observation
    return f"{rule}: {_difference(expected, observed, kinds)}"


def side_by_side(row: Mapping[str, Json], places: ValuePlaces = NOT_KNOWN) -> tuple[str, ...]:
    """Lines with the operation of a deviation, and what was expected and observed in each place
    that differs, in columns; then which earlier values opaque ones equal."""
    expected, observed = orjson.loads(str(row["expected"])), orjson.loads(str(row["observed"]))
    operation = str(row["operation"])
    call = "the first state"
    if operation:
        call = call_text(operation, mapping(orjson.loads(str(row["args"]))), places)
    reply = places.reply(operation)
    allowed = _nearest(expected, observed)
    if allowed is None:
        return (call, "the charter allows nothing here")
    wanted: dict[str, Json] = {"reply": allowed.reply, **mapping(allowed.observation)}
    seen: dict[str, Json] = {"reply": observed["reply"], **mapping(observed["observation"])}
    rows = [("", "expected", "observed")]
    if "image" in observed:
        image = observed["image"]
        wanted, seen = {"image": select_shown(observed["observation"], image)}, {"image": image}
        if is_fault(image):
            rows.append(("image", _text(wanted.pop("image")), show(seen.pop("image"))))
    elif is_fault(observed["reply"]):  # its message has the reason, and is never cut
        rows.append(("reply", _text(wanted.pop("reply"), reply), show(seen.pop("reply"))))
    elif _case(allowed.reply) != _case(observed["reply"]):
        pair = (wanted.pop("reply"), seen.pop("reply"))
        rows.append(("reply", _text(pair[0], reply), _text(pair[1], reply)))
    if not is_fault(observed["reply"]):
        for path in paths(wanted, seen, ""):
            place = _place_of(wanted, path, (reply, places.observation))
            rows.append((path, *_texts(value_at(wanted, path), value_at(seen, path), place)))
    widths = [max(len(cells[column]) for cells in rows) for column in (0, 1)]
    values = texts(row.get("values"))
    return (call, *(f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in rows), *values)


CHOSEN = (
    "(the solver chose this state, and no run was seen to reach it: if none can, an `always`"
    " property or a narrower type rules it out)"
)
"""What is said of a given state that may be impossible."""
CHOSEN_START = f"it starts in a given state {CHOSEN}"
"""The same of a vector whose given state is not shown with it."""
LIMIT_TOLD = "a limit of the target:"
"""What begins a line about a limit that a finding may depend on."""


def is_chosen(question: Mapping[str, Json], why: Mapping[str, Json]) -> bool:
    """Whether the solver chose the given state of a vector."""
    return question["given"] is not None and why["source"] == SOLVER


def print_shrunk(shrunk: ShrunkQuestion, places: ValuePlaces = NOT_KNOWN) -> tuple[str, ...]:
    """The operations of a shrunk vector, with what differs in the last one below it."""
    question = shrunk.question
    steps = [
        f"{number} {call_text(str(call['operation']), mapping(call['args']), places)}"
        for number, call in enumerate(own_calls(question), 1)
    ]
    return (*beginning(question, shrunk.chosen), *steps, *shrunk.shown[1:])


def beginning(question: Mapping[str, Json], chosen: bool) -> tuple[str, ...]:
    """The constants of a question and the state that it starts in, if it has any; `chosen`: the
    solver chose that state."""
    consts = question.get("consts")
    limits = [f"with {constants(consts)}"] if isinstance(consts, dict) and consts else []
    given = [f"given {show(question['given'])}"] if question["given"] is not None else []
    return (*limits, *given, *([CHOSEN] if chosen else []))


def constants(consts: Mapping[str, Json]) -> str:
    """The constants of a question in words: `capacity = 2, limit = 3`."""
    return ", ".join(f"{name} = {value}" for name, value in sorted(consts.items()))


def _nearest(
    expected: Sequence[Mapping[str, Json]], observed: Mapping[str, Json]
) -> Allowed | None:
    """The outcome that the charter allows and that is nearest to an observed one."""
    reply = observed["reply"]
    seen = RelabelledStep(reply, observed["observation"], is_fault(reply))
    outcomes = [Allowed(str(o["branch"]), o["reply"], o["observation"]) for o in expected]
    return nearest(outcomes, seen)


Kinds = tuple[ValuePlace, ValuePlace]
"""The places of the reply of an operation, and of the observation."""


def _place_of(whole: Mapping[str, Json], path: str, kinds: Kinds) -> ValuePlace:
    """The place that a path leads to, which begins with `reply`, `image` or a variable."""
    first, _, rest = path.partition(".")
    if first in ("reply", "image"):
        return place_at(whole.get(first), kinds[first == "image"], rest)
    return place_at(dict(whole), kinds[1], path)


def _difference(
    expected: Sequence[Mapping[str, Json]], observed: Mapping[str, Json], kinds: Kinds
) -> str:
    allowed = _nearest(expected, observed)
    if allowed is None:
        return "the charter allows nothing here"
    fault = observed["reply"]
    if "image" in observed:
        image = observed["image"]
        if is_fault(image):
            return f"expected an image, got the fault {image['fault']}"
        shown = select_shown(observed["observation"], image)
        return _describe_difference((shown, image), "image.", kinds[1])
    reply = kinds[0]
    if is_fault(fault):
        return f"expected {_text(allowed.reply, reply)}, got the fault {fault['fault']}"
    if _case(allowed.reply) != _case(fault):
        return f"expected the reply {_text(allowed.reply, reply)}, got {_text(fault, reply)}"
    if key(allowed.reply) != key(fault):
        return _describe_difference((allowed.reply, fault), "reply.", reply)
    return _describe_difference((allowed.observation, observed["observation"]), "", kinds[1])


def _describe_difference(sides: tuple[Json, Json], where: str, place: ValuePlace) -> str:
    """The first places where two values differ, what was expected and what was observed."""
    expected, observed = sides
    found = list(paths(expected, observed, ""))
    told = []
    for path in found[:_PLACES]:
        kind = place_at(expected, place, path)
        wanted, seen = _texts(value_at(expected, path), value_at(observed, path), kind)
        told.append(f"expected {(where + path).strip('.')} = {wanted}, got {seen}")
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and in {more} more" if more else "")


def _case(reply: Json) -> Json:
    return reply.get("case") if isinstance(reply, dict) else None


def _text(value: Json, place: ValuePlace = UNKNOWN) -> str:
    return _cut(show(value, place), 0)


def _texts(expected: Json, observed: Json, place: ValuePlace) -> tuple[str, str]:
    """Two values that differ, both cut where they are long, so that the first difference shows."""
    wanted, seen = show(expected, place), show(observed, place)
    pairs = zip(wanted, seen, strict=False)
    same = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(wanted), len(seen)))
    start = same - _BEFORE if same > _WIDTH - _BEFORE else 0
    return _cut(wanted, start), _cut(seen, start)


def _cut(text: str, start: int) -> str:
    text = "…" + text[start:] if start else text
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
