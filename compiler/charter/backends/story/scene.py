"""What a picture of a trace shows: lanes for those who act, events on them, messages between.

Nobody says in a charter who takes a step. The part whose operation a step calls does; else the part
that it reads; else the element that its first parameter names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from charter.backends.story.tell import Story
from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.nodes import Value
from charter.ir.walk import nodes, statement_expressions
from charter.semantics.evaluate import State
from charter.semantics.machine import Machine
from charter.semantics.retell import Told, show_value
from charter.semantics.values import Universe

Who = tuple[str, Value]
"""A part without index and None, or the name of a type and one of its values."""

Place = tuple[str, tuple[Value, ...]]
"""A channel and its ends: where a message lies."""

_Said = tuple[str, str]
"""A message in words, and without the names of its fields."""

_Posted = tuple[Place, int | None, _Said]
"""A message: where it lies, the lane that stands for that end (None: none does), its words."""


@dataclass(frozen=True, slots=True)
class Event:
    """A step on a lane: `title` is the call, `rules` the branches, `notes` what changed outside of
    channels, `mail` what changed in each place of a channel."""

    lane: int
    title: str
    rules: tuple[str, ...]
    notes: tuple[str, ...]
    mail: tuple[tuple[Place, str], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """Sent by an event from its lane; received (or lost) by a later one; None: still on the way.
    One that nobody receives, and no lane stands for its end, is shown at its sender. `values` is
    what it says without the names of its fields, where there is little room."""

    text: str
    values: str
    place: Place
    sender: int
    sent: int
    receiver: int
    received: int | None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture before it is drawn; events are numbered from 0. `end` says what is wrong there, and
    `why` in what way; `loop` is the number of events after which the rest repeats."""

    title: str
    lanes: tuple[str, ...]
    events: tuple[Event, ...]
    messages: tuple[Message, ...]
    end: str
    why: tuple[str, ...]
    loop: int | None


def scene(story: Story) -> Scene:
    """The scene of a story."""
    stage = _Stage(story.machine)
    for number, (step, act) in enumerate(zip(story.steps, story.found.acts, strict=False)):
        stage.event(number, step, act[1], story.states[number])
    waiting = [
        Message(*said, place, sender, sent, sender if end is None else end, None)
        for (place, end, said), sendings in stage.on_the_way.items()
        for sender, sent in sendings
    ]
    messages = sorted([*stage.messages, *waiting], key=lambda m: (m.sent, m.receiver, m.text))
    return Scene(
        story.title,
        tuple(stage.labels()),
        tuple(stage.events),
        tuple(messages),
        _end(story),
        _why(story),
        story.found.loop,
    )


def _why(story: Story) -> tuple[str, ...]:
    """What the property says, and what of it is false."""
    why = story.why
    if why is None:
        return ()
    return (*((why.says,) if why.says else ()), *why.lines, why.source)


def _end(story: Story) -> str:
    found = story.found
    match found.kind:
        case "deadlock":
            return "no step can happen any more"
        case "eventually":
            stays = found.loop == len(found.acts)
            return "nothing happens any more" if stays else "and so on for ever"
        case "undefined":
            return f"{found.name} asks for a value that does not exist"
        case "witness" | "walk":
            return ""
        case _:
            return f"{found.kind} {found.name} fails here"


@dataclass(slots=True)
class _Stage:
    """The scene while it is set."""

    machine: Machine
    lanes: list[Who] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    on_the_way: dict[_Posted, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in self._kinds():
            if isinstance(kind, str):
                self.lanes.append((kind, None))
            else:
                domain = self.machine.universe.domain(kind)
                self.lanes += [(_called(kind), value) for value in domain]
        if not self.lanes:
            self.lanes.append((self.machine.instance.machine, None))

    def system(self) -> n.System | None:
        """The system that is told of; None for a component."""
        systems = self.machine.model.systems
        return next((s for s in systems if s.name == self.machine.instance.machine), None)

    def _kinds(self) -> list[t.Type | str]:
        """What has lanes: parts, else the keys of maps that first parameters name."""
        system = self.system()
        kinds: list[t.Type | str] = []
        for part in system.parts if system is not None else ():
            kinds.append(part.name if part.index is None else part.index)
        for operation in self.machine.operations.values():
            for param in operation.params[:1]:
                is_key = any(_has_key(v.type, param.type) for v in self.machine.variables)
                if isinstance(param.type, t.Sort) or (is_key and not (system and system.parts)):
                    kinds.append(param.type)
        return list(dict.fromkeys(kinds))

    def labels(self) -> Iterator[str]:
        """What stands above each lane."""
        names: list[str] = []
        for name, value in self.lanes:
            kind = self._kind(name)
            names.append(name if kind is None else show_value(kind, value, self.machine.universe))
        several = Counter(names)
        for (name, _), label in zip(self.lanes, names, strict=True):
            kind = self._kind(name)
            bare = isinstance(kind, t.Int | t.Bool) or several[label] > 1
            yield f"{self._role(kind)} {label}" if bare and kind is not None else label

    def _kind(self, name: str) -> t.Type | None:
        return next(
            (k for k in self._kinds() if not isinstance(k, str) and _called(k) == name), None
        )

    def _role(self, kind: t.Type | None) -> str:
        """What an element is: the part that it indexes, or the parameter that names it."""
        system = self.system()
        for part in system.parts if system is not None else ():
            if part.index == kind:
                return part.name
        for operation in self.machine.operations.values():
            if operation.params and operation.params[0].type == kind:
                return operation.params[0].name
        return ""

    def event(self, number: int, step: Told, args: tuple[Value, ...], before: State) -> None:
        """Put a step on its lane, and its messages on their way or to their end."""
        lane = self._lane_of(step, args)
        system = self.system()
        channels = system.channels if system is not None else ()
        called = ", ".join(_spoken(name, value) for name, value in step.args)
        changes = [(c, f"{c.path}: {c.before} → {c.after}") for c in step.changes]
        mine = self._prefixes(lane)
        self.events.append(
            Event(
                lane,
                f"{step.operation}({called})",
                tuple(_without(rule, mine) for rule in step.rules),
                tuple(_without(note, mine) for c, note in changes if c.variable not in channels),
                tuple(
                    ((c.variable, c.keys), note) for c, note in changes if c.variable in channels
                ),
            )
        )
        for channel in channels:
            kind = next(v.type for v in self.machine.variables if v.name == channel)
            moved = _moved(kind, before[channel], step.state[channel], self.machine)
            for ends, said, is_new in moved:
                place = (channel, tuple(value for _, value in ends))
                self._message((place, self._at(ends), said), number, lane, is_new)

    def _prefixes(self, lane: int) -> tuple[str, ...]:
        """What the state of a lane's own part begins with: it goes without saying there."""
        name, value = self.lanes[lane]
        system, kind = self.system(), self._kind(name)
        if system is None or kind is None:
            return (f"{name}.",)
        at = show_value(kind, value, self.machine.universe)
        return tuple(f"{part.name}[{at}]." for part in system.parts if part.index == kind)

    def _at(self, ends: tuple[Who, ...]) -> int | None:
        """The lane that stands for the last end of a channel."""
        return self.lanes.index(ends[-1]) if ends and ends[-1] in self.lanes else None

    def _message(self, about: _Posted, number: int, lane: int, is_new: bool) -> None:
        place, receiver, said = about
        if is_new:
            self.on_the_way.setdefault(about, []).append((lane, number))
        elif self.on_the_way.get(about):
            sender, sent = self.on_the_way[about].pop(0)
            lost = self.events[-1].title.startswith(f"lose_{place[0]}(")
            known = sender if receiver is None else receiver
            end = known if lost else lane
            self.messages.append(Message(*said, place, sender, sent, end, number, lost))

    def _lane_of(self, step: Told, args: tuple[Value, ...]) -> int:
        chosen = self.machine.operations[step.operation]
        bound = dict(zip((p.name for p in chosen.params), args, strict=True))
        if isinstance(chosen, n.Step):
            for who in self._acting(chosen, bound):
                if who in self.lanes:
                    return self.lanes.index(who)
        for param in chosen.params:
            if (_called(param.type), bound[param.name]) in self.lanes:
                return self.lanes.index((_called(param.type), bound[param.name]))
        return 0

    def _acting(self, step: n.Step, bound: dict[str, Value]) -> Iterator[Who]:
        """Parts that a step calls, then parts that it reads."""
        system = self.system()
        assert system is not None
        parts = {part.name: part for part in system.parts}
        for line in step.body:
            if isinstance(line, n.CallOperation):
                yield from _part(parts[line.part], line.index, bound)
        for line in step.body:
            for expr in statement_expressions(line):
                for inner in nodes(expr):
                    match inner:
                        case n.MapGet(target=n.StateRef(name=name), key=key):
                            if name.partition(".")[0] in parts:
                                yield from _part(parts[name.partition(".")[0]], key, bound)
                        case n.StateRef(name=name) if name.partition(".")[0] in parts:
                            yield from _part(parts[name.partition(".")[0]], None, bound)
                        case _:
                            pass


def _part(part: n.Part, index: n.Expr | None, bound: dict[str, Value]) -> Iterator[Who]:
    if part.index is None:
        yield part.name, None
    elif isinstance(index, n.Local) and index.name in bound:
        yield _called(part.index), bound[index.name]


def _spoken(name: str, value: str) -> str:
    """An argument where there is little room: of a truth value its name says more."""
    return {"true": name, "false": f"not {name}"}.get(value, value)


def _without(text: str, prefixes: tuple[str, ...]) -> str:
    return next((text[len(p) :] for p in prefixes if text.startswith(p)), text)


def _called(kind: t.Type) -> str:
    return kind.name if isinstance(kind, t.Sort | t.Enum | t.Record | t.Union) else str(kind)


def _has_key(kind: t.Type, wanted: t.Type) -> bool:
    return isinstance(kind, t.Map) and (kind.key == wanted or _has_key(kind.value, wanted))


def _content(kind: t.Type, value: Value, machine: Machine) -> _Said:
    """A message in words, without the name of a record: the channel says what it does."""
    shown = show_value(kind, value, machine.universe)
    if isinstance(kind, t.Record) and kind.fields:
        shown = shown.removeprefix(f"{kind.name} {{ ").removesuffix(" }")
    return shown, _bare(kind, value, machine.universe)


def _bare(kind: t.Type, value: Value, universe: Universe) -> str:
    """A value without the names of fields: those of a record stand in their order, those of a
    record inside of it in parentheses."""
    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            return _bare(inner, value, universe)
        case t.Record(fields=fields), tuple():
            parts = []
            for (name, inner), part in zip(fields, value, strict=True):
                bare = _spoken(name, _bare(inner, part, universe))
                known = inner.inner if isinstance(inner, t.Option) else inner
                nested = part is not None and isinstance(known, t.Record) and len(known.fields) > 1
                parts.append(f"({bare})" if nested else bare)
            return " ".join(parts)
        case t.Union() as union, (str() as tag, *rest):
            named = zip(union.params(tag), rest, strict=True)
            args = ", ".join(_bare(part, v, universe) for (_, part), v in named)
            return f"{tag}({args})" if args else tag
        case _:
            return show_value(kind, value, universe)


def _moved(
    kind: t.Type, before: Value, after: Value, machine: Machine, ends: tuple[Who, ...] = ()
) -> Iterator[tuple[tuple[Who, ...], _Said, bool]]:
    """Messages that one place of a channel lost (False) or got (True), the lost ones first."""
    if before == after:
        return
    match kind:
        case t.Map(key=end, value=inner):
            assert isinstance(before, tuple) and isinstance(after, tuple)
            places = zip(machine.universe.domain(end), before, after, strict=True)
            for at, old, new in places:
                yield from _moved(inner, old, new, machine, (*ends, (_called(end), at)))
        case t.Option(inner=inner):
            for value, is_new in ((before, False), (after, True)):
                if value is not None:
                    yield ends, _content(inner, value, machine), is_new
        case t.Set(inner=inner) | t.Seq(inner=inner):
            assert isinstance(before, tuple | frozenset) and isinstance(after, tuple | frozenset)
            old_ones, new_ones = Counter[Value](before), Counter[Value](after)
            for values, is_new in ((old_ones - new_ones, False), (new_ones - old_ones, True)):
                for value in values.elements():
                    yield ends, _content(inner, value, machine), is_new
        case _:
            return
