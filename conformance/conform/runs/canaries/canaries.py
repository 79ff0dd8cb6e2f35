"""Checks things in every run that have a known outcome, most of them failures: canaries. If one has
another outcome, the run is not trusted."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import orjson

from charter.formats.adapter import read_results
from charter.formats.canonical import Json
from charter.formats.target import DEADLINES
from charter.formats.verdict import JUDGED, Kind, Verdict
from conform.adapters.base import AdapterStart, Connection
from conform.adapters.direct import DirectConnection
from conform.adapters.reference import Reference
from conform.adapters.session import Judgement, Session
from conform.adapters.stdio import StdioConnection
from conform.adapters.targets import python_path
from conform.console.errors import CannotStart, Incomplete
from conform.judging import model
from conform.judging.automaton import ways
from conform.judging.derive import difference
from conform.judging.read_result import BatchTexts
from conform.judging.verdict import VectorItem, assess
from conform.judging.visible_references import visible
from conform.runs.run_context import RunContext

SAMPLE = 16

DRAWN = 32
"""How many vectors of a bucket are derived again."""

_WELL = frozenset({Kind.CONFORMS, Kind.INCONCLUSIVE})
_SAME = "the model's answers"

ANOTHER = (
    "the suite, and so the verdict, is of another version of the charter than the models in"
    " generated/"
)
"""Why some canaries are not possible in a run by a suite that is older than the models."""

FORGETS = " without the effect of "
"""What stands between the model and an operation in the name of a canary of the kind `mutant`."""

TRIES = 3
"""The most vectors of a bucket that a canary is tried with if the adapter breaks."""


@dataclass(frozen=True, slots=True)
class ModelAdapter:
    """A model that answers in this process; `nothing` and `forgets` as for `Reference`."""

    module: str
    nothing: bool = False
    forgets: str = ""

    def connect(self, context: RunContext) -> Connection:
        """Raises `CannotStart` if there is no such model, or it cannot be loaded."""
        start = AdapterStart((), consts=context.start.consts)
        return DirectConnection(self._adapter, start, quiet=True)

    def _adapter(self) -> Reference:
        try:
            return Reference(model.load(self.module), self.nothing, self.forgets)
        except Exception as error:  # whatever a module does when it is imported
            raise CannotStart(f"the model {self.module}: {error}") from None


@dataclass(frozen=True, slots=True)
class Canary:
    """One canary and its outcome. `ok`: the outcome is as expected."""

    kind: str
    where: str
    vector: str
    expected: str
    got: str
    ok: bool
    detail: str = ""

    def json(self) -> dict[str, Json]:
        return asdict(self)


def canary_told(expected: Json, got: Json, detail: Json) -> str:
    """What a canary was to show, and what it showed."""
    return f"expected {expected}, got {got}" + (f": {detail}" if detail else "")


def skip(where: str, why: str) -> Canary:
    """A canary that is not possible here."""
    return Canary("skipped", where, "", "", "", True, why)


def flip(item: VectorItem, observes: Collection[str] | None) -> VectorItem:
    """The same question with a changed expectation: values that no target has in the last step, in
    the observation or, if the target shows no variable, in the reply."""
    answer = orjson.loads(item.answer)
    hidden = observes is not None and not observes
    place, table = ("reply", "replies") if hidden else ("observation", "observations")
    values: list[Json] = answer[table]
    for node in answer["steps"][-1]:
        changed = impossible(values[node[place]])
        node[place] = len(values)
        values.append(changed)
    content = orjson.dumps(answer, option=orjson.OPT_SORT_KEYS)
    return replace(item, answer=content, ways=orjson.dumps(ways(answer)))


def impossible(observation: Json) -> Json:
    """An observation in which each variable has a value that no model has (a target may not show
    all variables)."""
    if isinstance(observation, dict) and observation:
        return {name: {"changed by the canary": value} for name, value in observation.items()}
    return {"changed by the canary": observation}


def on_target(session: Session, usable: Iterable[VectorItem], where: str) -> list[Canary]:
    """The canaries of one bucket on the target: a vector out of `usable` is put again with a fresh
    nonce and a changed expectation. If no vector can be used, the canary has misbehaved."""
    tried = 0
    for chosen in usable:
        tried += 1
        nonce = secrets.token_hex(8)
        judgement = _ask_changed(session, chosen, nonce)
        verdict = judgement.assessments[0].verdict
        if verdict.kind not in (Kind.CRASHED, Kind.TIMED_OUT):
            came = nonce.encode() in judgement.line
            got = "the nonce" if came else "none"
            seen = Canary("nonce", where, chosen.id, "the nonce", got, came)
            flipped = _judge_flipped(chosen, verdict, where)
            if flipped.ok and (told := _differs_again(session, chosen, judgement)):
                flipped = replace(flipped, got="another answer than before", ok=False, detail=told)
            return [flipped, seen]
    if not tried:
        return [skip(where, "no vector of this bucket conforms, so there is none to change")]
    detail = f"so with {tried} vectors: {verdict.detail}"
    return [Canary("flipped", where, chosen.id, "diverges", str(verdict.kind), False, detail)]


def _judge_flipped(chosen: VectorItem, verdict: Verdict, where: str) -> Canary:
    """The changed vector must diverge at the changed step, and not before."""
    first, last = verdict.first, len(orjson.loads(chosen.answer)["steps"]) - 1
    ok = verdict.kind is Kind.DIVERGES and first is not None and first.step == last
    got = str(verdict.kind)
    if verdict.kind is Kind.DIVERGES and not ok and first is not None:
        got = f"diverges at step {first.step}, not {last}"
    return Canary("flipped", where, chosen.id, "diverges", got, ok, verdict.detail)


def _differs_again(session: Session, chosen: VectorItem, judgement: Judgement) -> str:
    """How the second answer to a question does not conform, as the first did, by the expectation
    that was not changed; "" if it does. The charter may allow several answers."""
    message = orjson.loads(judgement.line)
    asked = [(result["id"], result["nonce"]) for result in message["results"]]
    results = read_results(message, message["run"], asked)
    item = visible(chosen, session.judge, session.siblings)
    batch = BatchTexts.of(results, session.judge.observes)
    verdict = assess(item, results.results[0], batch, session.judge, session.siblings).verdict
    if verdict.kind is not Kind.DIVERGES or verdict.first is None:
        return ""
    return f"asked again, {chosen.id[:12]} diverges at step {verdict.first.step}"


def _ask_changed(session: Session, chosen: VectorItem, nonce: str) -> Judgement:
    before = session.rename(nonce)
    try:
        return next(iter(list(session.run([flip(chosen, session.judge.observes)]))))
    finally:
        session.rename(before)


def draw(drawn: list[VectorItem], item: VectorItem, number: int) -> None:
    """Keep `item`, the vector with this number (from 1), so that `drawn` is a random sample of all
    up to it. Nobody can know it before: it is drawn anew in each run."""
    if number <= DRAWN:
        drawn.append(item)
    elif (place := secrets.randbelow(number)) < DRAWN:
        drawn[place] = item


def derive_again(context: RunContext, drawn: Sequence[VectorItem], where: str) -> list[Canary]:
    """The answers of a random sample of a bucket are derived again from the model; none if the
    suite was made from another charter. Raises `ModelBug`."""
    if not (context.reference and context.model and drawn):
        return []
    charter, opaque = model.load(context.model), context.opaque
    wrong = [(item, told) for item in drawn if (told := difference(item, charter, opaque))]
    item, told = wrong[0] if wrong else (drawn[0], "")
    got = f"{len(wrong)} of {len(drawn)} other answers" if wrong else _SAME
    return [Canary("derived", where, item.id, _SAME, got, not wrong, told)]


def of_worker(context: RunContext, sample: Sequence[VectorItem], where: str) -> list[Canary]:
    """Once for each worker: the reference must conform, and an adapter that does nothing must
    not."""
    if not context.model or not sample:
        why = (
            "no vector of this bucket could be sent"
            if context.model
            else "the suite names no model"
        )
        return [skip(where, why)]
    found = []
    if context.reference:
        found.append(_reference(context, sample, where))
    else:
        found.append(skip(where, ANOTHER))
    nothing = ModelAdapter(context.model, nothing=True)
    kinds, _ = _kinds(nothing.connect, sample, context)
    diverges = kinds.count(Kind.DIVERGES)
    some = "diverges" if diverges else _show(kinds)
    found.append(Canary("nothing", where, sample[0].id, "diverges", some, diverges > 0))
    return found


def _reference(context: RunContext, sample: Sequence[VectorItem], where: str) -> Canary:
    kinds, why = _kinds(_behind_pipes, sample, context)
    wrong = [(item, kind) for item, kind in zip(sample, kinds, strict=True) if kind not in _WELL]
    item, got = wrong[0] if wrong else (sample[0], Kind.CONFORMS)
    detail = f"{len(wrong)} of {len(kinds)} do not conform{why and f': {why}'}" if wrong else ""
    return Canary("reference", where, item.id, "conforms", str(got), not wrong, detail)


def of_run(context: RunContext) -> list[Canary]:
    """Once for each run: every mutant that the suite names must be caught, or for a charter without
    mutants its model if it forgets an operation. If the suite was made from another version of the
    charter, a mutant may be missing or equivalent: it is skipped, and another must be caught."""
    mutants = [(module, ModelAdapter(module), items) for module, items in context.canaries.items()]
    mutants += [
        (
            f"{context.model}{FORGETS}{operation}",
            ModelAdapter(context.model, forgets=operation),
            items,
        )
        for operation, items in context.forgetful.items()
    ]
    found = [_mutant(where, made, items, context) for where, made, items in mutants]
    return found or [skip("run", "no vector surely tells a mutant from the charter")]


def _mutant(
    where: str, made: ModelAdapter, items: Sequence[VectorItem], context: RunContext
) -> Canary:
    kinds, _ = _kinds(made.connect, items, context)
    caught = Kind.DIVERGES in kinds
    if not caught and not context.reference:
        why = f"not caught ({_show(kinds)}), and {ANOTHER}"
        return skip(f"run, mutant {where}", why)
    got = "diverges" if caught else _show(kinds)
    return Canary("mutant", where, items[0].id if items else "", "diverges", got, caught)


def _behind_pipes(context: RunContext) -> Connection:
    """The charter's model, behind the transport of the target. Raises `CannotStart`."""
    # -P: a file of the working folder may have the name of a module.
    program = (sys.executable, "-P", "-m", "conform.adapters.reference")
    command = (*program, "--models", os.pathsep.join(context.folders), "--model", context.model)
    consts = context.start.consts
    return StdioConnection(AdapterStart(command, consts=consts, environment=python_path()))


def _kinds(
    connect: Callable[[RunContext], Connection], items: Sequence[VectorItem], context: RunContext
) -> tuple[list[Kind], str]:
    """The verdicts on a model as adapter, and what the first says that is no success."""
    try:
        connection = connect(context)
    except CannotStart as error:
        return [Kind.CRASHED] * len(items), " ".join(str(error).split())
    try:
        variables = context.variables or None
        session = Session(connection, None, DEADLINES, secrets.token_hex(4), variables)
        session.judge.set_opaque_types(context.opaque)
        verdicts = {
            assessment.verdict.id: assessment.verdict
            for judgement in session.run(items)
            for assessment in judgement.assessments
        }
        kinds = [verdicts[item.id].kind for item in items]
        told = (one.detail for one in verdicts.values() if one.kind not in _WELL)
        return kinds, next(filter(None, told), "")
    except Incomplete as error:
        return [Kind.CRASHED] * len(items), " ".join(str(error).split())
    finally:
        connection.close()


def _show(kinds: Sequence[Kind]) -> str:
    return ", ".join(sorted({str(kind) for kind in kinds})) or "nothing"


def can_be_canary(kind: Kind) -> bool:
    """Whether a vector with this verdict can be a canary on the target."""
    return kind in JUDGED and kind is not Kind.DIVERGES
