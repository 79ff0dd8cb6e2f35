"""Offers adapters in Python a message loop, references, and interning of values.

Write a class with the attributes and methods of `Implementation` and call `serve(...)`:

    class Register:
        about = About("my-register", "1.0", "register", operations=("write",), observes=("value",))
        def start(self, question): self.value = 0
        def perform(self, operation, args): self.value = args["value"]; return {"case": "done"}
        def observe(self): return {"value": self.value}

    serve(Register())

`conform generate --adapter python` writes the types of a charter; the codecs that are named here
read and write them. docs/formats/adapter.md says what the values mean. An adapter may import
nothing else of this package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import BinaryIO, NamedTuple, Protocol

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.codecs import (
    BOOL,
    INT,
    NEVER_ISSUED,
    NEVER_ISSUED_TEXT,
    WISH,
    Codec,
    counter,
    enum,
    mapping,
    name,
    only,
    opaque,
    opaque_counter,
    option,
    pairs,
    record,
    sequence,
    set_of,
    union,
)
from charter.formats.resolve import History, Path, Unresolved, resolve
from charter.formats.status import PROTOCOL, Status

__all__ = [
    "BOOL", "INT", "NEVER_ISSUED", "NEVER_ISSUED_TEXT", "WISH", "About", "Adapter", "Codec",
    "Fault", "Implementation", "Json", "NotLoadable", "Path", "Question", "Unsupported", "counter",
    "enum", "mapping", "name", "only", "opaque", "opaque_counter", "option", "pairs", "record",
    "sequence", "serve", "serve_sessions", "set_of", "union",
]  # fmt: skip


_NO_CONSTS: Mapping[str, int] = {}


class About(NamedTuple):
    """What the adapter says in hello. `version` is that of the implementation that was found;
    `consts` are the constants of the charter that `start` configures it with (None: every one)."""

    name: str
    version: str
    component: str
    operations: tuple[str, ...]
    observes: tuple[str, ...]
    capabilities: tuple[str, ...] = ()
    consts: tuple[str, ...] | None = ()


class Question(NamedTuple):
    """What `start` gets: `sorts[sort][element]` is the concrete id; `given` a durable state;
    `consts` are values of constants of the charter, such as a time to live."""

    id: str
    sorts: Mapping[str, Mapping[str, int]]
    given: Json
    consts: Mapping[str, int] = _NO_CONSTS


MISPLACED_FAULT = "a Fault is the answer to an operation, and start, observe or image raised one"


class Fault(Exception):
    """Raise it in `perform` for an exception of the implementation that the charter does not name:
    `Fault("java.lang.IllegalStateException", "message")`. It ends the question. In `start` and
    `observe` it is an error of the adapter."""

    def __init__(self, name: str, message: str = "") -> None:
        super().__init__(name, message)
        self.name = name
        self.message = message


class NotLoadable(Exception):
    """Raise it in `start` if after loading, the state differed from the given one."""


class Unsupported(Exception):
    """Raise it, with the capability, for what this adapter cannot do."""


class Implementation(Protocol):
    """What an adapter provides."""

    about: About

    def hello(self, release: str, variant: str, errors: Mapping[str, str]) -> About:
        """Called once, before all else. May look for the release, and say what it found."""

    def start(self, question: Question) -> None:
        """Reset to the initial state, or to the given one."""

    def perform(self, operation: str, args: Mapping[str, Json]) -> Json:
        """Perform one operation; `args` have no references any more. Returns the reply."""

    def observe(self) -> Json:
        """The observation of the state as it is."""

    def image(self) -> Json:
        """Let the second reader of the log catch up, and return its state (capability `image`)."""

    def never_issued(self, operation: str, path: Path) -> Json:
        """A value that was never issued, for the argument at `path` of an operation."""


class Adapter:
    """Default implementations of the optional methods of `Implementation`. Subclasses set
    `about`."""

    about: About

    def hello(self, release: str, variant: str, errors: Mapping[str, str]) -> About:
        return self.about

    def image(self) -> Json:
        raise Unsupported("image")

    def never_issued(self, operation: str, path: Path) -> Json:
        return "@999999999999"


class _Interned:
    """The values of one batch, each once, as the texts that they had: an implementation may change
    them later."""

    __slots__ = ("positions",)

    def __init__(self) -> None:
        self.positions: dict[str, int] = {}

    def add(self, value: Json) -> int:
        return self.positions.setdefault(canonical.text(value), len(self.positions))

    def text(self) -> str:
        """All values as JSON."""
        return f"[{','.join(self.positions)}]"


def serve(
    implementation: Implementation,
    requests: BinaryIO | None = None,
    replies: BinaryIO | None = None,
) -> None:
    """Answer the judge until it says goodbye or stdin ends. Exceptions of the implementation's
    own code become the status `error`; they never end the adapter."""
    serve_sessions(lambda: implementation, 1, requests, replies)


def serve_sessions(
    make: Callable[[], Implementation],
    sessions: int,
    requests: BinaryIO | None = None,
    replies: BinaryIO | None = None,
) -> None:
    """Like `serve`, with that many sessions at once, each on an object of its own. Only for
    objects that share nothing: two of them on one server would see each other's state."""
    server = Server(make, sessions)
    source = requests or sys.stdin.buffer
    sink = replies or sys.stdout.buffer
    for line in source:
        message = json.loads(line)
        if "bye" in message:
            return
        sink.write(server.answer_line(message).encode() + b"\n")
        sink.flush()


def answer_message(
    implementation: Implementation, message: Mapping[str, Json], *, quiet: bool = False
) -> Json:
    """The answer to one message of the judge. Unless `quiet`, an exception is printed to stderr."""
    return Server(lambda: implementation, quiet=quiet).answer(message)


class Server:
    """Answers the messages of a judge, with at most `sessions` sessions at once. `make` is called
    for each that is held at the same time. Unless `quiet`, exceptions are printed to stderr."""

    def __init__(
        self, make: Callable[[], Implementation], sessions: int = 1, *, quiet: bool = False
    ) -> None:
        self._make = make
        self._idle = [make()]
        self._made = 1
        self._sessions = sessions
        self._quiet = quiet
        self._hello: Mapping[str, Json] | None = None
        self._open: dict[str, _Execution] = {}

    def answer(self, message: Mapping[str, Json]) -> Json:
        """The answer to one message."""
        read: Json = json.loads(self.answer_line(message))
        return read

    def answer_line(self, message: Mapping[str, Json]) -> str:
        """The answer to one message as canonical JSON."""
        if "hello" in message:
            return canonical.text(self._welcome(message))
        interned = _Interned()
        questions = message.get("questions")
        if questions is None:
            results = self._answer_steps(message, interned)
        else:
            assert isinstance(questions, list)
            self._end([*self._open])
            results = [self._answer_question(question, interned) for question in questions]
        run = canonical.text(message["run"])
        return f'{{"results":{canonical.text(results)},"run":{run},"values":{interned.text()}}}'

    def _welcome(self, message: Mapping[str, Json]) -> Json:
        if message["hello"] != PROTOCOL:
            return {"hello": PROTOCOL}
        self._hello = message
        about = _greet(self._idle[0], message)
        consts = _consts(message) if about.consts is None else about.consts
        return {
            "hello": PROTOCOL,
            "name": about.name,
            "version": about.version,
            "component": about.component,
            "capabilities": [*sorted({*about.capabilities})],
            "operations": [*sorted({*about.operations})],
            "observes": [*about.observes],
            "sessions": self._sessions,
            **({"consts": [*sorted({*consts})]} if consts else {}),
        }

    def _answer_question(self, question: Json, interned: _Interned) -> Json:
        assert isinstance(question, dict)
        operations = question["operations"]
        assert isinstance(operations, list)
        execution = _Execution(self._idle[0], question, interned)
        return execution.answer([execution.start, *execution.calls(operations)], self._quiet)

    def _answer_steps(self, message: Mapping[str, Json], interned: _Interned) -> list[Json]:
        """The results of a message with sessions that end, begin, and take a step."""
        ended, begun, steps = message["end"], message["begin"], message["steps"]
        assert isinstance(ended, list) and isinstance(begun, list) and isinstance(steps, list)
        self._end(ended)
        return [
            *(self._begin(question, interned) for question in begun),
            *(self._step(call, interned) for call in steps),
        ]

    def _begin(self, question: Json, interned: _Interned) -> Json:
        assert isinstance(question, dict)
        self._end([question["id"]])
        if len(self._open) >= self._sessions:
            return _result(question, Status.ERROR, f"{self._sessions} sessions are open", [])
        if not self._idle:
            self._idle.append(self._make())
            if self._hello is not None:
                _greet(self._idle[-1], self._hello)
        execution = _Execution(self._idle.pop(), question, interned)
        self._open[execution.id] = execution
        return self._end_if_over(execution, execution.answer([execution.start], self._quiet))

    def _step(self, call: Json, interned: _Interned) -> Json:
        assert isinstance(call, dict)
        execution = self._open.get(str(call["id"]))
        if execution is None:
            return _result(call, Status.ERROR, f"no session {call['id']} is open", [])
        execution.interned = interned
        return self._end_if_over(execution, execution.answer(execution.calls([call]), self._quiet))

    def _end_if_over(self, execution: _Execution, result: Json) -> Json:
        if execution.over:
            self._end([execution.id])
        return result

    def _end(self, ids: Iterable[Json]) -> None:
        """End the sessions with these ids, if they are open."""
        for identity in ids:
            execution = self._open.pop(str(identity), None)
            if execution is not None:
                self._idle.append(execution.implementation)


def _greet(implementation: Implementation, message: Mapping[str, Json]) -> About:
    errors = message.get("errors") or {}
    assert isinstance(errors, dict)
    return implementation.hello(
        str(message.get("release", "")),
        str(message.get("variant", "")),
        {code: str(word) for code, word in errors.items()},
    )


def _consts(message: Mapping[str, Json]) -> list[str]:
    """The constants that the judge's questions have values for."""
    consts = message.get("consts") or {}
    assert isinstance(consts, dict)
    return [*consts]


class _Execution:
    """A question or a session, and what was observed so far. It is `over` after a fault, and after
    any status but `ok`."""

    __slots__ = ("history", "id", "implementation", "interned", "over", "question", "shows")

    def __init__(
        self, implementation: Implementation, question: dict[str, Json], interned: _Interned
    ) -> None:
        self.implementation = implementation
        self.question = question
        self.id = str(question["id"])
        self.interned = interned
        self.shows = _shows_image(implementation, question["delta"])
        self.history = History(())
        self.over = False

    def answer(self, attempts: Iterable[Callable[[], Json]], quiet: bool) -> Json:
        """The result of performing steps. Whatever goes wrong affects no other question."""
        steps: list[Json] = []
        status, detail = Status.OK, ""
        try:
            for attempt in attempts:
                if self.over:
                    break
                steps.append(attempt())
        except Unresolved as error:
            status, detail = Status.UNRESOLVED, str(error)
        except Unsupported as error:
            status, detail, steps = Status.UNSUPPORTED, str(error), []
        except NotLoadable as error:
            status, detail, steps = Status.NOT_LOADABLE, str(error), []
        except Fault as fault:
            detail = f"{MISPLACED_FAULT}: {fault.name}: {fault.message}{_place_of(fault)}"
            status, steps = Status.ERROR, []
        except Exception as error:  # any exception affects only this question
            if not quiet:
                import traceback  # adapters start often: what few need is imported where it is

                traceback.print_exc(file=sys.stderr)
            detail = f"{type(error).__name__}: {error}{_place_of(error)}"
            status, steps = Status.ERROR, []
        self.over = self.over or status is not Status.OK
        return _result(self.question, status, detail, steps)

    def start(self) -> Json:
        """The step before the first operation."""
        self.implementation.start(_question(self.question))
        self.history = History((self.implementation.observe(),))
        image = self._image(0)
        return [-1, self.interned.add(self.history.observations[0]), image]

    def calls(self, operations: Iterable[Json]) -> Iterator[Callable[[], Json]]:
        """The attempts to perform operations."""
        return (partial(self._perform, call) for call in operations)

    def _perform(self, call: Json) -> Json:
        assert isinstance(call, dict)
        operation, implementation = str(call["operation"]), self.implementation
        never_issued = partial(implementation.never_issued, operation)
        args = resolve(call["args"], self.history, never_issued)
        assert isinstance(args, dict)
        try:
            reply = implementation.perform(operation, args)
        except Fault as fault:
            self.over = True
            reply = {"fault": fault.name, "message": fault.message}
            return [self.interned.add(reply), -1, -1]
        self.history = self.history.then(reply, implementation.observe())
        image = self._image(len(self.history.observations) - 1)
        return [self.interned.add(reply), self.interned.add(self.history.observations[-1]), image]

    def _image(self, step: int) -> int:
        """The index of the image after a step, -1 for none."""
        return self.interned.add(self.implementation.image()) if self.shows(step) else -1


def _result(question: Mapping[str, Json], status: Status, detail: str, steps: list[Json]) -> Json:
    return {
        "id": question["id"],
        "nonce": question["nonce"],
        "status": str(status),
        "detail": detail,
        "steps": steps,
    }


def _place_of(error: Exception) -> str:
    """Where the adapter or its implementation raised: " (adapter.py:12)", or ""."""
    import pathlib  # as above: only an exception needs these
    import traceback

    ours = [pathlib.Path(module).parent for module in (__file__, canonical.__file__)]
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = pathlib.Path(frame.filename)
        if not any(path.is_relative_to(folder) for folder in ours) and path.name != "protocol.py":
            return f" ({path.name}:{frame.lineno})"
    return ""


def _shows_image(implementation: Implementation, delta: Json) -> Callable[[int], bool]:
    """Whether the image is observed after a step, by its number."""
    if "image" not in implementation.about.capabilities:
        return lambda _: False
    if isinstance(delta, list):
        return frozenset(step for step in delta if isinstance(step, int)).__contains__
    return lambda _: True


def _question(question: dict[str, Json]) -> Question:
    sorts = question["sorts"]
    assert isinstance(sorts, dict)
    named: dict[str, dict[str, int]] = {}
    for sort, ids in sorts.items():
        assert isinstance(ids, dict)
        named[sort] = {name: int(str(number)) for name, number in ids.items()}
    consts = question.get("consts", {})
    assert isinstance(consts, dict)
    values = {
        name: value if isinstance(value, bool) else int(str(value))
        for name, value in consts.items()
    }
    return Question(str(question["id"]), named, question["given"], values)
