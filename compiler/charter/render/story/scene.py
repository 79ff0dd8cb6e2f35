"""Computes the picture of a trace: lanes for the actors, events on them, messages between them.

A charter does not say which actor takes a step. It is the part whose operation the step calls; else
the sender or receiver named by a channel with two ends; else the part that it reads; else the
element that its first parameter names. An element that the step only sends to is not the actor:
then the only part without index is, if there is one. The receiver of a message is the part that all
receiving steps belong to, else the element that the channel's last end names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from charter.analysis.retell import Change, RetoldStep, keys_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.walk import nodes, statement_expressions
from charter.render.story.handover import Handed, Handovers, Place
from charter.render.story.tell import Story
from charter.render.story.words import in_values, in_words, speak
from charter.semantics.evaluate import Mail
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value

Who = tuple[str, Value]
"""A part without index and None, or the name of a type and one of its values."""

_LABEL = 24
"""The most characters at the arrow of data that was handed over."""

_Acting: TypeAlias = "tuple[str, n.Expr | None]"
"""The actor of a step: a part without index and None, or a type and an expression for its value."""


@dataclass(frozen=True, slots=True)
class Event:
    """A step on a lane: `title` is the call, `rules` the branches, `notes` the changes outside of
    channels and the messages that changed nothing, `mail` the changes of channels by entry."""

    lane: int
    title: str
    rules: tuple[str, ...]
    notes: tuple[str, ...]
    mail: tuple[tuple[Place, str], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """A message, sent by one event and received (or lost) by a later one; None: not yet received.
    If nobody receives it and its end has no lane, it is shown at its sender. `values` is a shorter
    text, without the names of fields. `is_copy`: it was received before. `is_brief`: only `values`
    is drawn."""

    text: str
    values: str
    place: Place
    sender: int
    sent: int
    receiver: int
    received: int | None
    is_lost: bool = False
    is_copy: bool = False
    is_brief: bool = False


@dataclass(slots=True)
class _Sending:
    """A message in transit: its sender, the event that sent it, and how often it was received."""

    mail: Mail
    sender: int
    sent: int
    receipts: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """The content of a picture; events are numbered from 0. `end` names the finding, `why` explains
    it; the events behind the first `loop` ones repeat."""

    title: str
    lanes: tuple[str, ...]
    events: tuple[Event, ...]
    messages: tuple[Message, ...]
    end: str
    why: tuple[str, ...]
    loop: int | None


def lanes_of(machine: Machine) -> tuple[tuple[Who, str], ...]:
    """The lanes of pictures of a machine, with their titles."""
    stage = _Stage(machine)
    return tuple(zip(stage.lanes, stage.labels(), strict=True))


def scene(story: Story) -> Scene:
    """The scene of a story."""
    stage = _Stage(story.machine)
    handovers = Handovers(story.machine, stage.system(), story.initial)
    ways = zip(story.steps, story.found.acts, story.states, strict=False)
    for number, (step, act, before) in enumerate(ways):
        lane = stage.lane_of(step, act[1])
        handed = handovers.find_taken(number, lane, step, before)
        stage.event(number, lane, step, handed)
    waiting = (stage.message(sending, None) for sending in stage.waiting())
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
    """The comment of the property, and the part that is false."""
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
            if found.loop is None:
                return "no run is shown"
            if story.ends_where_cut:
                return "only what the instance leaves out can happen"
            stays = found.loop == len(found.acts)
            return "nothing happens any more" if stays else "and so on for ever"
        case "undefined":
            return f"{found.name} asks for a value that does not exist"
        case "witness" | "walk" | "scenario":
            return ""
        case _:
            return f"{found.kind} {found.name} fails here"


@dataclass(slots=True)
class _Stage:
    """A scene under construction."""

    machine: Machine
    lanes: list[Who] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    on_the_way: dict[tuple[Place, Value], list[_Sending]] = field(default_factory=dict)
    kinds: tuple[t.Type | str, ...] = ()

    def __post_init__(self) -> None:
        self.kinds = tuple(self._kinds())
        for kind in self.kinds:
            if isinstance(kind, str):
                self.lanes.append((kind, None))
            else:
                domain = self.machine.universe.domain(kind)
                self.lanes += [(name_type(kind), value) for value in domain]
        if not self.lanes:
            self.lanes.append((self.machine.instance.machine, None))

    def system(self) -> n.System | None:
        """The system, or None for a component."""
        systems = self.machine.model.systems
        return next((s for s in systems if s.name == self.machine.instance.machine), None)

    def _kinds(self) -> list[t.Type | str]:
        """The kinds of lanes: parts, else the key types of maps that first parameters name."""
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
        """The title of each lane."""
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
            (k for k in self.kinds if not isinstance(k, str) and name_type(k) == name), None
        )

    def _role(self, kind: t.Type | None) -> str:
        """The role of an element: the part that it indexes, or the parameter that names it."""
        system = self.system()
        for part in system.parts if system is not None else ():
            if part.index == kind:
                return part.name
        for operation in self.machine.operations.values():
            if operation.params and operation.params[0].type == kind:
                return operation.params[0].name
        return ""

    def event(self, number: int, lane: int, step: RetoldStep, handed: tuple[Handed, ...]) -> None:
        """Add a step with the messages that it sends and receives; `handed` is the data that it
        takes from other lanes."""
        system = self.system()
        channels = system.channels if system is not None else ()
        given = ", ".join(speak(name, value) for name, value in step.args)
        taken = {one.place for one in handed}
        budgets = {one.name for one in self.machine.variables if one.is_budget}
        left = (change for change in step.changes if change.variable not in budgets)
        changes = [(change, _describe_change(change, taken)) for change in left]
        mine = self._prefixes(lane)
        notes = [_without(note, mine) for c, note in changes if c.variable not in channels]
        notes += [self._note_unchanged(mail) for mail in step.mail if mail.stays]
        self.events.append(
            Event(
                lane,
                f"{step.operation}({given})",
                tuple(_without(rule, mine) for rule in step.rules),
                tuple(notes),
                tuple(
                    ((c.variable, c.keys), note) for c, note in changes if c.variable in channels
                ),
            )
        )
        lossy = self._loses(step.operation)
        for mail in step.mail:
            self._mail(mail, number, lane, mail.channel == lossy)
        self.messages += (self._make_message(one, number, lane) for one in handed)

    def _make_message(self, one: Handed, number: int, lane: int) -> Message:
        """Handed-over data as a message from the event that wrote it."""
        label = in_values(one.type, one.value, self.machine.universe)
        if len(label) > _LABEL:
            is_case = isinstance(one.type, t.Union)
            label = label.partition("(")[0] if is_case else one.place[0]
        return Message(label, label, one.place, one.sender, one.sent, lane, number)

    def _note_unchanged(self, mail: Mail) -> str:
        """The note for a message that does not change its channel."""
        text = in_words(mail.type, mail.message, self.machine.universe)
        if mail.is_sent:
            return f"sends {text} (it is there already)"
        return f"receives {text} (a copy stays)"

    def _prefixes(self, lane: int) -> tuple[str, ...]:
        """Prefixes of a lane's own state; they are omitted on the lane."""
        name, value = self.lanes[lane]
        system, kind = self.system(), self._kind(name)
        if system is None or kind is None:
            return (f"{name}.",)
        at = show_value(kind, value, self.machine.universe)
        return tuple(f"{part.name}[{at}]." for part in system.parts if part.index == kind)

    def _loses(self, name: str) -> str:
        """The lossy channel that an operation or step takes a message out of, or ""."""
        chosen = self.machine.operations[name]
        return chosen.loses if isinstance(chosen, n.Step) else ""

    def _mail(self, mail: Mail, number: int, lane: int, is_loss: bool) -> None:
        """Add a message that an event sends or receives. It receives the first sent one that was
        not received yet; if there is none, the last one again. `is_loss`: the event loses it."""
        ways = self.on_the_way.setdefault(((mail.channel, mail.ends), mail.message), [])
        if mail.is_sent:
            ways.append(_Sending(mail, lane, number))
        elif ways:
            chosen = next((way for way in ways if not way.receipts), ways[-1])
            lost = mail.is_lost or is_loss
            self.messages.append(self.message(chosen, (number, lane), is_lost=lost))
            chosen.receipts += 1
            if not mail.stays:  # a set holds equal messages only once
                is_set = isinstance(self._content(mail.channel), t.Set)
                ways[:] = [] if is_set else [way for way in ways if way is not chosen]

    def _content(self, channel: str) -> t.Type:
        """The type of the content of one entry of a channel."""
        kind = next(v.type for v in self.machine.variables if v.name == channel)
        for _ in keys_of(self.machine, channel):
            assert isinstance(kind, t.Map)
            kind = kind.value
        return kind

    def waiting(self) -> Iterator[_Sending]:
        """The messages that were never received."""
        for ways in self.on_the_way.values():
            rest = [way for way in ways if not way.receipts]
            if rest:
                is_set = isinstance(self._content(rest[0].mail.channel), t.Set)
                yield from rest[:1] if is_set else rest

    def message(
        self, way: _Sending, received: tuple[int, int] | None, *, is_lost: bool = False
    ) -> Message:
        """A message, with the event and the lane that it was received at."""
        mail, universe = way.mail, self.machine.universe
        number, lane = received or (None, 0)
        if received is None or is_lost:
            end = self._taker(mail)
            lane = way.sender if end is None else end
        return Message(
            in_words(mail.type, mail.message, universe),
            in_values(mail.type, mail.message, universe),
            (mail.channel, mail.ends),
            way.sender,
            way.sent,
            lane,
            number,
            is_lost,
            way.receipts > 0,
        )

    def _taker(self, mail: Mail) -> int | None:
        """The lane that a message is addressed to, or None."""
        system = self.system()
        assert system is not None
        kinds = {
            next((kind for kind, _ in self._acting(system, step)), "")
            for step in system.steps
            if not step.loses
            and any(
                isinstance(line, n.Receive) and line.channel == mail.channel for line in step.body
            )
        }
        ends = keys_of(self.machine, mail.channel)
        wanted: list[Who] = [(kind, None) for kind in kinds] if len(kinds) == 1 else []
        wanted += [(name_type(ends[-1]), mail.ends[-1])] if ends else []
        return next((self.lanes.index(who) for who in wanted if who in self.lanes), None)

    def lane_of(self, step: RetoldStep, args: tuple[Value, ...]) -> int:
        """The lane of the actor of a step."""
        chosen, system = self.machine.operations[step.operation], self.system()
        bound = dict(zip((p.name for p in chosen.params), args, strict=True))
        named: list[Who] = [(name_type(p.type), bound[p.name]) for p in chosen.params]
        lanes = [self.lanes.index(who) for who in named if who in self.lanes]
        lossy = self._loses(step.operation)
        for mail in step.mail:
            if mail.channel == lossy and (end := self._taker(mail)) is not None:
                return end
        if isinstance(chosen, n.Step) and system is not None:
            for name, index in self._acting(system, chosen):
                at = bound.get(index.name) if isinstance(index, n.Local) else None
                if (name, at) in self.lanes:
                    return self.lanes.index((name, at))
            alone = [lane for lane, (_, value) in enumerate(self.lanes) if value is None]
            if lanes and len(alone) == 1 and self._only_sends_to(lanes[0], step):
                return alone[0]
        return lanes[0] if lanes else 0

    def _only_sends_to(self, lane: int, step: RetoldStep) -> bool:
        """Whether a step sends to a lane and neither receives nor changes anything there."""
        name, value = self.lanes[lane]
        types = {v.name: v.type for v in self.machine.variables}
        changed = any(
            isinstance(kind := types[c.variable], t.Map)
            and (name_type(kind.key), c.keys[:1]) == (name, (value,))
            for c in step.changes
            if c.variable not in {mail.channel for mail in step.mail}
        )
        ways = [mail.is_sent for mail in step.mail if self._taker(mail) == lane]
        return bool(ways) and all(ways) and not changed

    def _acting(self, system: n.System, step: n.Step) -> Iterator[_Acting]:
        """Candidates for the actor: parts that a step calls, ends of its channels, parts that it
        reads."""
        parts = {part.name: part for part in system.parts}
        for line in step.body:
            if isinstance(line, n.CallOperation):
                yield _part(parts[line.part], line.index)
        for line in step.body:
            if isinstance(line, n.Send | n.Receive) and len(line.keys) == 2:
                own = 1 if isinstance(line, n.Receive) else 0
                yield name_type(keys_of(self.machine, line.channel)[own]), line.keys[own]
        for line in step.body:
            for expr in statement_expressions(line):
                for inner in nodes(expr):
                    match inner:
                        case n.MapGet(target=n.StateRef(name=name)):
                            if name.partition(".")[0] in parts:
                                yield _part(parts[name.partition(".")[0]], inner.key)
                        case n.StateRef(name=name) if name.partition(".")[0] in parts:
                            yield _part(parts[name.partition(".")[0]], None)
                        case _:
                            pass


def _part(part: n.Part, index: n.Expr | None) -> _Acting:
    return (part.name, None) if part.index is None else (name_type(part.index), index)


def _describe_change(change: Change, taken: set[Place]) -> str:
    """A change in words; data that was taken is shown at its arrow instead."""
    places = {(change.variable, change.keys[:depth]) for depth in range(len(change.keys) + 1)}
    before = "…" if places & taken else change.before
    return f"{change.path}: {before} → {change.after}"


def _without(text: str, prefixes: tuple[str, ...]) -> str:
    return next((text[len(p) :] for p in prefixes if text.startswith(p)), text)


def name_type(kind: t.Type) -> str:
    """The name of a type."""
    return kind.name if isinstance(kind, t.Sort | t.Enum | t.Record | t.Union) else str(kind)


def _has_key(kind: t.Type, wanted: t.Type) -> bool:
    return isinstance(kind, t.Map) and (kind.key == wanted or _has_key(kind.value, wanted))
