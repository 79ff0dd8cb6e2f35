"""Tests an adapter against the adapter protocol: `conform doctor --adapter ID`.

It sends empty questions, and some for each operation: as vectors of the target's suite have it, if
there is one, and else without arguments. The replies must conform to the protocol, and be of the
types of the charter; what they say is not judged.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import IO

import jsonschema
import orjson

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.suite import Manifest
from charter.formats.target import Target
from conform.adapters.base import AdapterStart, BatchAnswered, Connection, SentQuestion
from conform.adapters.duplicate_keys import RepeatsNoted
from conform.adapters.given_state_check import check_loading
from conform.adapters.hello import check_hello, disagreement
from conform.adapters.leftover_state import OrderComparison
from conform.adapters.operation_trials import Trial, Trials
from conform.adapters.session_check import SessionComparison
from conform.adapters.stdio import StdioConnection
from conform.console.errors import ConformError
from conform.console.terminal import plural, shorten
from conform.judging.refutations import LOAD
from conform.judging.verdict import VectorItem


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of the protocol, and whether the adapter obeys it."""

    rule: str
    ok: bool
    detail: str = ""

    def json(self) -> dict[str, Json]:
        return {"rule": self.rule, "ok": self.ok, "detail": self.detail}


PERFORMS = "performs "
"""How the rule begins that names one operation."""
NOT_CHECKED = "not checked: "
NOT_YET = "not performed yet: "
"""How the detail of a check begins that is neither passed nor failed."""


class _Failed(Exception):
    """The adapter broke a rule; the text says how."""


class _Broke(_Failed):
    """It ended or hung while it performed an operation."""


class _KeepsState(_Failed):
    """It answers by what it was asked before: other rules would fail because of it."""


def schema() -> Mapping[str, object]:
    """The JSON Schema of the messages."""
    path = resources.files("charter.formats").joinpath("schemas/adapter.json")
    content: dict[str, object] = orjson.loads(path.read_bytes())
    return content


@dataclass(frozen=True, slots=True)
class Probes:
    """What to ask. `world` is what every question has: `sorts`, and `consts` if the charter has
    constants. `calls` are arguments of their types for operations, as far as they are known.
    `trials` are questions of the suite with this `manifest`, if there is a suite; else `unknown`
    says why not. `sample` are questions of the suite that are asked in several orders, `given` are
    vectors without operations from given states."""

    world: Mapping[str, Json]
    calls: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    trials: Mapping[str, Sequence[Trial]] = field(default_factory=dict)
    manifest: Manifest | None = None
    unknown: str = ""
    sample: Sequence[Trial] = ()
    given: Sequence[VectorItem] = ()
    variables: Sequence[str] = ()


def check_adapter(
    start: AdapterStart, probes: Probes, chosen: Target | None = None
) -> Iterator[Check]:
    """Try the adapter of a target on every rule. What fails for a reason that was told, the same
    exception at the same place, counts as not checked. Raises `CannotStart` if it does not
    start."""
    told: dict[str, str] = {}
    for one in _checks(start, probes, chosen):
        cause = _CAUSE.search(one.detail) if not one.ok else None
        if cause and cause[1] in told:
            why = f"{NOT_CHECKED}it fails as `{told[cause[1]]}` does, see above"
            yield Check(one.rule, True, why)
            continue
        if cause:
            told[cause[1]] = one.rule
        yield one


_CAUSE = re.compile(r"(?:status error, \d+ steps|status error, no steps|the adapter fails): (.+?)"
                    r"(?:; if the implementation |$)")  # fmt: skip
"""The exception of an adapter in the detail of a check."""


def _checks(start: AdapterStart, probes: Probes, chosen: Target | None) -> Iterator[Check]:
    """All checks. Raises `CannotStart` if the adapter does not start."""
    connection = RepeatsNoted(StdioConnection(start))
    try:
        yield Check(
            "answers hello", True, f"{connection.welcome.name} {connection.welcome.version}"
        )
        rules, broke = _Rules(connection, start, probes), list[Check]()
        for rule, attempt in rules.rules():
            try:
                yield Check(rule, True, attempt() or "")
            except (_Failed, ConformError) as error:
                failed = Check(rule, False, str(error))
                if isinstance(error, _KeepsState) or not connection.alive:
                    connection.restart()
                if probes.manifest is not None and isinstance(error, _Broke):
                    broke.append(failed)  # which operation it was, is found below
                else:
                    yield failed
        if chosen is not None:
            told = disagreement(connection.welcome, chosen)
            yield Check("hello and adapter.toml agree", not told, told)
        yield from _after_breaks(
            broke, [*_check_against_charter(connection, start.deadlines.one, probes)]
        )
        told = connection.repeated
        yield Check("writes each key of an object once", not told, told)
    finally:
        connection.close()
    yield ends(start, "ends within 5 s after bye", b'{"bye":true}\n')
    yield ends(start, "ends within 5 s when stdin ends", b"")


def _after_breaks(broke: Sequence[Check], held: Sequence[Check]) -> Iterator[Check]:
    """The checks `held`, after those that an adapter which breaks did not get through: they are not
    failed if one of `held` names the operation, so that one cause is told once."""
    named = any(not one.ok and one.rule.startswith(PERFORMS) for one in held)
    for one in broke:
        why = f"{NOT_CHECKED}an operation breaks the adapter, see below"
        yield Check(one.rule, True, why) if named else one
    yield from held


def _check_against_charter(
    connection: Connection, deadline: float, probes: Probes
) -> Iterator[Check]:
    """The rules that need the charter: names in hello, operations, types."""
    manifest = probes.manifest
    if manifest is None:
        why = f"{NOT_CHECKED}{probes.unknown}"
        yield Check("performs the operations of the charter", True, why)
        return
    told = ""
    try:
        check_hello(connection.welcome, manifest)
    except ConformError as error:
        told = f"{error}; correct it in what the adapter says about itself"
    yield Check("hello has only names that the charter has", not told, told)
    types = manifest.read_types()
    found = Trials(connection, deadline, types).results(probes.trials)
    known = connection.welcome.operations & types.replies.keys() if types else frozenset[str]()
    untried = known - found.performed - found.failing.keys() - set(found.unwritten)
    few = f"{NOT_CHECKED}no question performed {_list_untried(untried, known)}" if untried else ""
    for name, why in found.failing.items():
        yield Check(f"{PERFORMS}{name}", False, why)
    unwritten = ", ".join(found.unwritten)
    later = f"{NOT_YET}{unwritten}: `conform test` says what to write next" if unwritten else few
    if later or not found.failing:
        yield Check("performs the operations of the charter", True, later)
    told = "; ".join(f"{name}: {wrong}" for name, wrong in found.mistyped.items())
    if told:
        told += "; `conform help adapter` says how each type is written"
    elif not found.answered:
        few = few or f"{NOT_CHECKED}no question with an operation was answered with values"
    yield Check("values are of the types of the charter", not told, told or few)
    if LOAD in connection.welcome.capabilities and probes.given:
        yield _loads(connection, deadline, probes)


def _list_untried(untried: Collection[str], known: Collection[str]) -> str:
    """The operations that no question performed, and how there are more questions."""
    names = ", ".join(sorted(untried)) if len(untried) < len(known) else "an operation"
    return f"{shorten(names, 60)}; `conform test` looks for questions"


def _loads(connection: Connection, deadline: float, probes: Probes) -> Check:
    """Whether an adapter that claims `load` shows the states that it is given."""
    types = probes.manifest.read_types() if probes.manifest else None
    wrong, told = check_loading(connection, deadline, probes.given, probes.variables, types)
    if told.startswith("0 "):
        count = len(probes.given)
        told = f"{NOT_CHECKED}each of {plural(count, 'given state')} is answered with not_loadable"
    return Check("loads given states", not wrong, wrong or told)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The attempts on one running adapter, for the rules that need no charter."""

    connection: Connection
    start: AdapterStart
    probes: Probes

    def rules(self) -> Iterator[tuple[str, Callable[[], str | None]]]:
        """Each rule with its attempt, which returns what else there is to tell."""
        yield "hello names operations and what it observes", self.hello
        if "consts" in self.probes.world:
            yield "hello names the constants that questions have values for", self.constants
        yield "answers an empty batch", self.empty_batch
        yield "answers a question without operations", self.no_operations
        yield "its lines follow the schema", self.in_schema
        yield "answers several batches that were sent ahead", self.send_ahead
        yield "keeps no state of the question before", self.forgets
        if self.connection.welcome.sessions:
            yield "answers in sessions as it answers questions", self.sessions
        yield "answers `unresolved` for a reference that leads nowhere", self.ask_unresolved
        yield "survives an operation that does not exist", self.unknown_operation
        yield "ignores fields that it does not know", self.unknown_field
        if "image" in self.connection.welcome.capabilities:
            yield "gives the image only after the steps in delta", self.image_where_asked

    def hello(self) -> None:
        welcome = self.connection.welcome
        if not welcome.operations:
            raise _Failed("hello lists no operations")
        if not welcome.observes:
            raise _Failed("hello does not say what it observes")

    def constants(self) -> None:
        named, asked = self.connection.welcome.consts, set(self.start.consts)
        if asked - named:
            raise _Failed(
                f"hello does not name {', '.join(sorted(asked - named))}: vectors with it are"
                " unsupported, and not sent"
            )
        if named - asked:
            raise _Failed(f"hello names {', '.join(sorted(named - asked))}, which was not asked")

    def empty_batch(self) -> None:
        self._ask()

    def no_operations(self) -> None:
        answer = self._ask(self._question())
        result = answer.results.results[0]
        if result.status is not Status.OK or len(result.steps) != 1:
            raise _Failed(f"status {result.status}, {len(result.steps)} steps: {result.detail}")
        observation = _state(answer, 0)
        missing = set(self.connection.welcome.observes) ^ set(_names(observation))
        if missing:
            raise _Failed(f"hello and the observation do not agree about {sorted(missing)}")

    def in_schema(self) -> None:
        answer = self._ask(self._question(), self._question())
        validator = jsonschema.Draft202012Validator(schema())
        error = next(iter(validator.iter_errors(orjson.loads(answer.line))), None)
        if error is not None:
            raise _Failed(error.message[:200])

    def send_ahead(self) -> None:
        for number in range(3):
            self.connection.send(
                [SentQuestion(f"{number}", f"ahead-{number}", self._question())], 10
            )
        for _ in range(3):
            self._receive()

    def forgets(self) -> str:
        first = self._ask(self._question())
        operations = sorted(self.connection.welcome.operations)
        try:
            self._ask(*(self._question(name, self._args(name)) for name in operations))
        except _Failed as error:
            raise _Broke(str(error)) from None
        again = self._ask(self._question())
        if _states(first) != _states(again):
            raise _KeepsState("the state before the first operation differs now")
        if not self.probes.sample:
            return ""
        comparison = OrderComparison(self.connection, self.start.deadlines.one, self._opaque())
        found = comparison.compare(self.probes.sample)
        if found.told:
            raise _KeepsState(found.told)
        if not found.compared:
            return f"{NOT_CHECKED}fewer than two questions performed an operation"
        return f"{plural(found.compared, 'question')} compared in several orders"

    def sessions(self) -> str:
        sample = self.probes.sample or [
            Trial((name,), orjson.loads(self._question(name, self._args(name))), frozenset((name,)))
            for name in sorted(self.connection.welcome.operations)
        ]
        comparison = SessionComparison(self.connection, self.start.deadlines, self._opaque())
        found = comparison.compare(sample)
        if found:
            raise _Failed(found)
        return f"{plural(self.connection.welcome.sessions, 'session')} at once"

    def _opaque(self) -> OpaqueTypes:
        manifest = self.probes.manifest
        return OpaqueTypes.of(manifest.read_types() if manifest else None)

    def ask_unresolved(self) -> None:
        operation, name = self._with_argument()
        nowhere: Json = {"ref": [0, "there is no such variable"]}
        args = {**self._args(operation), name: nowhere}
        result = self._ask(self._question(operation, args)).results.results[0]
        if result.status is not Status.UNRESOLVED or len(result.steps) != 1:
            raise _Failed(f"status {result.status}, {len(result.steps)} steps: {result.detail}")

    def unknown_operation(self) -> None:
        result = self._ask(self._question("no such operation")).results.results[0]
        if result.status not in (Status.ERROR, Status.UNSUPPORTED):
            raise _Failed(f"status {result.status}")

    def unknown_field(self) -> None:
        question = orjson.loads(self._question())
        self._ask(orjson.dumps({**question, "a field of tomorrow": 1}))

    def image_where_asked(self) -> None:
        result = self._ask(self._question(delta=[])).results.results[0]
        if any(step[2:] != [-1] for step in result.steps):
            raise _Failed("an image where the list `delta` is empty")
        answer = self._ask(self._question(delta=[0]))
        _state(answer, 0)
        if answer.results.results[0].steps[0][2] == -1:
            raise _Failed("no image where `delta` lists the step")

    def _question(
        self, operation: str = "", args: dict[str, Json] | None = None, delta: Json = "each"
    ) -> bytes:
        calls: list[Json] = [{"operation": operation, "args": args or {}}] if operation else []
        return orjson.dumps(
            {**self.probes.world, "given": None, "operations": calls, "delta": delta}
        )

    def _args(self, operation: str) -> dict[str, Json]:
        return dict(self.probes.calls.get(operation, {}))

    def _with_argument(self) -> tuple[str, str]:
        """An operation and one of its arguments, if possible one that can be a reference."""
        if not self.connection.welcome.operations:
            raise _Failed("hello lists no operations")
        offered = sorted(self.connection.welcome.operations)
        found = [(op, arg, value) for op in offered for arg, value in self._args(op).items()]
        for operation, name, value in found:
            if isinstance(value, dict) or str(value)[:1] in ("@", "~"):
                return operation, name
        return found[0][:2] if found else (offered[0], "x")

    def _ask(self, *questions: bytes) -> BatchAnswered:
        asked = [
            SentQuestion(f"{n}", f"nonce-{n}", question) for n, question in enumerate(questions)
        ]
        self.connection.send(asked, self.start.deadlines.one)
        return self._receive()

    def _receive(self) -> BatchAnswered:
        answer = self.connection.receive()
        if not isinstance(answer, BatchAnswered):
            raise _Failed(f"{answer.kind}: {answer.detail}")
        return answer


def _names(observation: Json) -> list[str]:
    return list(observation) if isinstance(observation, dict) else []


def _states(answer: BatchAnswered) -> list[Json]:
    return [_state(answer, number) for number in range(len(answer.results.results))]


def _state(answer: BatchAnswered, number: int) -> Json:
    """The state before the first operation in a result; raises `_Failed` if it has none."""
    result, values = answer.results.results[number], answer.results.values
    if not result.steps:
        raise _Failed(f"status {result.status}, no steps: {result.detail}")
    first = result.steps[0]
    if len(first) != 3 or not 0 <= first[1] < len(values):
        raise _Failed(f"step 0 is {first}, not [-1, the index of a value, an index or -1]")
    return values[first[1]]


def ends(start: AdapterStart, rule: str, last: bytes) -> Check:
    """Whether a fresh adapter ends by itself, with 0, after `last` or the end of stdin; the time
    until it answers hello does not count."""
    process = subprocess.Popen(
        list(start.command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **start.environment},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(b'{"hello":1}\n' + last)
        process.stdin.flush()
        silent = _silent(process.stdout, start.deadlines.hello)
        if silent:
            return Check(rule, False, silent)
        if not last:
            process.stdin.close()
        began = time.monotonic()
        code = process.wait(5.0)
    except subprocess.TimeoutExpired:
        return Check(rule, False, "it still runs")
    except OSError as error:
        return Check(rule, False, str(error))
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        if not process.stdin.closed:
            process.stdin.close()
    return Check(rule, code == 0, f"code {code} after {time.monotonic() - began:.1f} s")


def _silent(pipe: IO[bytes], seconds: float) -> str:
    """Reads from `pipe` until a line has come. Returns why none came, or ""."""
    until = time.monotonic() + seconds
    while select.select([pipe], [], [], max(0.0, until - time.monotonic()))[0]:
        read = os.read(pipe.fileno(), 1 << 16)
        if not read:
            return "it ends before it answers hello"
        if b"\n" in read:
            return ""
    return f"it does not answer hello within {seconds:g} s"
