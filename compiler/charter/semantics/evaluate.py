"""Interprets core directly: the definition. Everything else is tested against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.by_identity import ByIdentity
from charter.core.channels import Content, content_of
from charter.core.nodes import Value
from charter.semantics.builtins import EvaluationError, Items, Members, items, order
from charter.semantics.expressions import Expressions, Locals, Scope, State
from charter.semantics.values import Universe


class NotAssumed(EvaluationError):
    """An operation happens where its assumption is false."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One allowed result of an operation (of a step: the reply is None)."""

    branch: str
    reply: Value
    state: State


@dataclass(frozen=True, slots=True)
class Mail:
    """A message and its type, sent to or received from the place of a `channel` at `ends`. `stays`:
    it was received, and can be received again; or it was sent, where the very same lay already.
    `is_lost`: its place was cleared."""

    channel: str
    ends: Items
    type: t.Type
    message: Value
    is_sent: bool
    stays: bool
    is_lost: bool = False


@lru_cache(maxsize=4)
def _expressions(of: ByIdentity[n.Model]) -> Expressions:
    """The functions of a model's expressions. Kept, since each scenario and instance asks for those
    of one model."""
    return Expressions({function.name: function for function in of.held.functions})


@dataclass(frozen=True, slots=True)
class Evaluator(Expressions):
    """Evaluates the expressions, operations and steps of one machine in one universe. `parts` are
    those of a system, each with its component."""

    universe: Universe = field(kw_only=True)
    parts: Mapping[str, tuple[n.Part, n.Component]] = field(kw_only=True)

    @staticmethod
    def of(model: n.Model, machine: str, universe: Universe) -> Evaluator:
        """An evaluator of a component or system of `model`."""
        components = {c.name: c for c in model.components}
        parts = [part for s in model.systems if s.name == machine for part in s.parts]
        shared = _expressions(ByIdentity(model))
        return Evaluator(
            shared.functions,
            shared._made,
            shared._pools,
            universe=universe,
            parts={part.name: (part, components[part.component]) for part in parts},
        )

    def operate(
        self, operation: n.Operation, state: State, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """All allowed outcomes: of the first branch with a true guard or, where that stands in an
        `in any order` group, of every branch of the group with a true guard. Raises EvaluationError
        (NotAssumed where an assumption is false)."""
        scope, names = Scope(self.universe, state), _bind(operation.params, args)
        found: list[tuple[Outcome, ...]] = []
        group = 0
        for assumed in operation.assumes:
            if not self.value(assumed.condition, scope, names):
                raise NotAssumed(describe_broken(operation, assumed), assumed.span)
        for branch in operation.branches:
            if found and (group == 0 or branch.group != group):
                break
            for bind in branch.lets:
                if bind.name not in names:
                    names[bind.name] = self.bound(bind, scope, names)
            if self.is_enabled(branch, scope, names):
                ends = self.ends(operation, branch, scope, names)
                if ends:
                    group = branch.group
                    found.append(ends)
        if not found:
            raise EvaluationError(f"no branch of {operation.name} applies", operation.span)
        return self.together(found)

    def bound(self, bind: n.Bind, scope: Scope, names: Locals) -> Value:
        """The value that a `let` before a branch gives a name."""
        return self.value(bind.value, scope, names)

    def is_enabled(self, branch: n.Branch, scope: Scope, names: Locals) -> bool:
        """Whether the guard of a branch is true."""
        return all(self.code(c.condition)(scope, names) for c in branch.guard)

    def ends(
        self, operation: n.Operation, branch: n.Branch, scope: Scope, names: Locals
    ) -> tuple[Outcome, ...]:
        """The outcomes of a branch whose guard is true."""
        label = f"{operation.name}/{branch.name}"
        return tuple(
            [
                Outcome(label, self.value(branch.reply, scope, local), after)
                for local, after in self.run(branch.body, scope.before, names)
            ]
        )

    def together(self, found: Sequence[tuple[Outcome, ...]]) -> tuple[Outcome, ...]:
        """The outcomes of several branches, without repeats."""
        return distinct([outcome for ends in found for outcome in ends])

    def step(self, step: n.Step, state: State, args: tuple[Value, ...]) -> tuple[Outcome, ...]:
        """All outcomes of a step of a system; none where it is not enabled."""
        runs = self.run(step.body, state, _bind(step.params, args))
        return distinct([Outcome(step.name, None, after) for _, after in runs])

    def run(
        self, body: Sequence[n.Statement], before: State, names: Locals
    ) -> list[tuple[Locals, State]]:
        """The locals and the state at the end of every way through `body`."""
        runs: list[tuple[Locals, State]] = [(names, before)]
        for line in body:
            if not runs:  # most steps are not enabled in most states, as a line says
                break
            if isinstance(line, n.Assign):  # most lines: nothing else happens
                code, universe = self.code(line.value), self.universe
                runs = [
                    (local, {**work, line.variable: code(Scope(universe, before, work), local)})
                    for local, work in runs
                ]
            else:
                runs = [end for local, work in runs for end in self.do(line, before, local, work)]
        return runs

    def do(
        self, line: n.Statement, before: State, names: Locals, work: State
    ) -> Iterator[tuple[Locals, State]]:
        """Every way through a statement. Expressions read the state `before` the body; calls and
        updates pile up in `work`, which is what a step reads of the state after (`part'.x`)."""
        scope = Scope(self.universe, before, work)
        match line:
            case n.Bind():
                yield {**names, line.name: self.value(line.value, scope, names)}, work
            case n.Pick():
                for choice in self._choices(line, scope, names):
                    yield {**names, line.name: choice}, work
            case n.Assign():
                yield names, {**work, line.variable: self.value(line.value, scope, names)}
            case n.Require():
                if self.value(line.condition, scope, names):
                    yield names, work
            case n.CallOperation():
                for _, local, after in self.call(line, before, names, work):
                    yield local, after
            case n.OnChannel():
                for _, local, after in self.mail(line, before, names, work):
                    yield local, after
            case _:
                assert_never(line)

    def _choices(self, pick: n.Pick, scope: Scope, names: Locals) -> Sequence[Value]:
        if pick.index is None:
            return self._options(pick, scope, names)
        variable, kind = pick.index
        keys = self.universe.domain(kind)
        return list(product(*(self._options(pick, scope, {**names, variable: k}) for k in keys)))

    def _options(self, pick: n.Pick, scope: Scope, names: Locals) -> Sequence[Value]:
        members = self.members(pick.domain, scope, names)
        if members:
            return members
        if pick.or_none:
            return (None,)
        raise EvaluationError(f"nothing to pick for {pick.name}", pick.span)

    def mail(
        self, line: n.ChannelUse, before: State, names: Locals, work: State
    ) -> Iterator[tuple[tuple[Mail, ...], Locals, State]]:
        """Each way through a statement that changes a channel: what becomes of messages, the locals
        and the state after. All expressions read the state `before`; whether there is room, and
        which messages there are, depends on what the statements above have made of the channel in
        `work`."""
        scope = Scope(self.universe, before, work)
        match line:
            case n.Receive():
                yield from self._receive(line, scope, names, work)
            case n.Send():
                found = self._send(line, scope, names, work)
                if found is not None:
                    yield found[0], names, found[1]
            case n.Clear():
                all_mail: tuple[Mail, ...] = ()
                for local in self._times(line, scope, names):
                    ends = tuple([self.value(key, scope, local) for key in line.keys])
                    kind, lies = self._place(line, ends, work)
                    there = _all_lying(kind, lies)
                    all_mail += tuple(
                        Mail(line.channel, ends, kind.inner, x, False, False, True) for x in there
                    )
                    work = self._change(line, ends, work, _make_emptier(kind))
                yield all_mail, names, work
            case _:
                assert_never(line)

    def _send(
        self, line: n.Send, scope: Scope, names: Locals, work: State
    ) -> tuple[tuple[Mail, ...], State] | None:
        """What is sent, and the state after; none if there is no room somewhere."""
        sent: tuple[Mail, ...] = ()
        for local in self._times(line, scope, names):
            ends = tuple([self.value(key, scope, local) for key in line.keys])
            kind, lies = self._place(line, ends, work)
            if not _has_room(kind, lies, self.universe):
                return None
            message = self.value(line.message, scope, local)
            there = isinstance(kind, t.Set) and message in cast(Members, lies)
            sent += (Mail(line.channel, ends, kind.inner, message, True, there),)
            work = self._change(line, ends, work, _with(kind, message))
        return sent, work

    def _receive(
        self, line: n.Receive, scope: Scope, names: Locals, work: State
    ) -> Iterator[tuple[tuple[Mail, ...], Locals, State]]:
        ends = tuple([self.value(key, scope, names) for key in line.keys])
        kind, lies = self._place(line, ends, work)
        many = None if line.many is None else self.value(line.many, scope, names)
        for taken in _takes(kind, lies, many):
            local = {**names, line.name: taken[0] if line.many is None else taken}
            for stays in (False, True) if line.may_stay else (False,):
                mail = tuple(Mail(line.channel, ends, kind.inner, x, False, stays) for x in taken)
                less = work if stays else self._change(line, ends, work, _less(kind, taken))
                yield mail, local, less

    def _times(self, line: n.Repeated, scope: Scope, names: Locals) -> Iterator[Locals]:
        """The locals of each time that a statement is done."""
        every: Sequence[Locals] = [names]
        if line.each is not None:
            name, source = line.each
            every = [{**names, name: member} for member in self.members(source, scope, names)]
        for local in every:
            if line.condition is None or self.value(line.condition, scope, local):
                yield local

    def _place(self, line: n.ChannelUse, ends: Items, work: State) -> tuple[Content, Value]:
        """The type and the content of a place of a channel."""
        return content_of(line.type, len(ends)), self._at(line.type, work[line.channel], ends)

    def _at(self, kind: t.Type, whole: Value, ends: Items) -> Value:
        """What lies in a place of a channel."""
        for end in ends:
            table = t.map_of(kind)
            whole, kind = items(whole)[self.universe.position(table.key, end)], table.value
        return whole

    def _change(
        self, line: n.ChannelUse, ends: Items, work: State, change: Callable[[Value], Value]
    ) -> State:
        """The state after a place of a channel has changed."""

        def put(kind: t.Type, whole: Value, rest: Items) -> Value:
            if not rest:
                return change(whole)
            table = t.map_of(kind)
            at = self.universe.position(table.key, rest[0])
            return _put(whole, at, put(table.value, items(whole)[at], rest[1:]))

        return {**work, line.channel: put(line.type, work[line.channel], ends)}

    def call(
        self, line: n.CallOperation, before: State, names: Locals, work: State
    ) -> Iterator[tuple[str, Locals, State]]:
        """Each outcome of a call: the branch that is taken, the locals and the state after it."""
        scope = Scope(self.universe, before, work)
        part, component = self.parts[line.part]
        operation = next(o for o in component.operations if o.name == line.operation)
        args = tuple([self.value(arg, scope, names) for arg in line.args])
        position: int | None = None
        if part.index is not None and line.index is not None:
            key = self.value(line.index, scope, names)
            position = self.universe.position(part.index, key)
        inner: dict[str, Value] = {}
        for variable in component.state:
            held = work[f"{part.name}.{variable.name}"]
            inner[variable.name] = held if position is None else items(held)[position]
        for outcome in self.operate(operation, inner, args):
            after = dict(work)
            for name, value in outcome.state.items():
                whole = f"{part.name}.{name}"
                after[whole] = value if position is None else _put(work[whole], position, value)
            local = {**names, line.result: outcome.reply} if line.result else names
            yield outcome.branch, local, after


def describe_broken(operation: n.Operation, assumed: n.Assumption) -> str:
    """Why an operation has no value where an assumption is false."""
    return f"{operation.name} happens where its assumption is false: `{assumed.span.quote()}`"


def _has_room(kind: Content, lies: Value, universe: Universe) -> bool:
    match kind:
        case t.Option():
            return lies is None
        case t.Seq(limit=limit):
            return len(items(lies)) < universe.limit(limit)
        case t.Set():
            return True


def _with(kind: Content, message: Value) -> Callable[[Value], Value]:
    match kind:
        case t.Option():
            return lambda _: message
        case t.Seq():
            return lambda lies: (*items(lies), message)
        case t.Set():
            return lambda lies: cast(Members, lies) | {message}


def _takes(kind: Content, lies: Value, many: Value) -> Sequence[Items]:
    """What can be received at once: any message of a set, the first of a fifo or the first
    `many`."""
    match kind:
        case t.Option():
            return () if lies is None else ((lies,),)
        case t.Seq():
            count = 1 if many is None else cast(int, many)
            return (items(lies)[:count],) if 1 <= count <= len(items(lies)) else ()
        case t.Set():
            return [(message,) for message in order(cast(Members, lies), kind.inner)]


def _all_lying(kind: Content, lies: Value) -> Sequence[Value]:
    """All messages, in order."""
    if isinstance(kind, t.Seq):
        return items(lies)
    return [message for taken in _takes(kind, lies, None) for message in taken]


def _less(kind: Content, taken: Items) -> Callable[[Value], Value]:
    match kind:
        case t.Option():
            return lambda _: None
        case t.Seq():
            return lambda lies: items(lies)[len(taken) :]
        case t.Set():
            return lambda lies: cast(Members, lies) - set(taken)


def _make_emptier(kind: Content) -> Callable[[Value], Value]:
    match kind:
        case t.Option():
            return lambda _: None
        case t.Seq():
            return lambda _: ()
        case t.Set():
            return lambda _: frozenset()


def distinct(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes without repeats, in order. Their states have the same variables in one order."""
    if len(outcomes) < 2:
        return tuple(outcomes)
    kept: dict[tuple[Value, ...], Outcome] = {}
    for outcome in outcomes:
        kept.setdefault((outcome.branch, outcome.reply, *outcome.state.values()), outcome)
    return tuple(kept.values())


def _bind(params: Sequence[n.Param], args: Sequence[Value]) -> Locals:
    return dict(zip([p.name for p in params], args, strict=True))


def _put(whole: Value, position: int, value: Value) -> tuple[Value, ...]:
    return (*items(whole)[:position], value, *items(whole)[position + 1 :])
