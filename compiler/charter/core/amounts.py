"""Finds the variables of which one step may change several members: maps and sets that a branch
assigns as a whole. Replies that are sets are found, too. An implementation that treats only the
first of several members, or expects at least one, is right until there are two, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import nodes

REPLY = "reply"


def list_counted_parts(functions: Mapping[str, n.Function], branch: n.Branch) -> tuple[str, ...]:
    """The variables of which `branch` may change none, one, or several members, in the order of
    its text; then `REPLY`, if its reply is a set that may have so many.

    An update of single entries, and a set with members added one by one, change as many as the
    text says.
    """
    text = _BranchNames.of(functions, branch)
    found = list[str]()
    for line in branch.body:
        if isinstance(line, n.Assign) and line.variable not in found:
            match line.value.type:
                case t.Map() if not text.by_key(line.value, line.variable):
                    found.append(line.variable)
                case t.Set() if text.gathers(line.value):
                    found.append(line.variable)
                case _:
                    pass
    if isinstance(branch.reply.type, t.Set) and text.gathers(branch.reply):
        found.append(REPLY)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _BranchNames:
    """What the names in a branch stand for: functions, and locals with one value."""

    functions: Mapping[str, n.Function]
    locals: Mapping[str, n.Expr]

    @staticmethod
    def of(functions: Mapping[str, n.Function], branch: n.Branch) -> _BranchNames:
        binds = (*branch.lets, *(line for line in branch.body if isinstance(line, n.Bind)))
        return _BranchNames(functions, {bind.name: bind.value for bind in binds})

    def by_key(self, value: n.Expr, variable: str) -> bool:
        """Whether a value is the map `variable` with entries replaced whose keys are named."""
        match value:
            case n.StateRef(name=name):
                return name == variable
            case n.MapWith(target=inner) | n.Let(body=inner):
                return self.by_key(inner, variable)
            case n.If():
                return self.by_key(value.then, variable) and self.by_key(value.otherwise, variable)
            case n.Call(function=name):
                return self.by_key(self.functions[name].body, variable)
            case n.Local(name=name) if name in self.locals:
                return self.by_key(self.locals[name], variable)
            case _:
                return False

    def gathers(self, value: n.Expr) -> bool:
        """Whether a value has the members of a comprehension, itself or in what it names."""
        queue, seen = [value], set[str]()
        while queue:
            for node in nodes(queue.pop()):
                match node:
                    case n.Comprehend():
                        return True
                    case n.Local(name=name) if name in self.locals and name not in seen:
                        seen.add(name)
                        queue.append(self.locals[name])
                    case n.Call(function=name) if f"{name}()" not in seen:
                        seen.add(f"{name}()")
                        queue.append(self.functions[name].body)
                    case _:
                        pass
        return False
