"""What the check of ranges accepts never leaves its range, by the definition: drawn functions,
operations and steps that compare and compute with the same few numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

from tests.support.comparing.sampled import few_or_all

from charter import api
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.diagnostics import Source
from charter.project.pipeline import check_texts
from charter.semantics.evaluate import Evaluator
from charter.semantics.expressions import Scope
from charter.semantics.values import Universe, fits

UNIVERSES = [
    Universe({}, {"few": few, "many": many}) for few in (1, 2, 3) for many in range(few, 4)
]
TYPES = ("int 0..few", "int 0..few", "int 0..many", "int -1..few", "int 0..3")
WORDS = """protocol drawn.ranges
const few: int 1..3
const many: int few..3
enum Side { LEFT, RIGHT }
type Some = int few..3"""
STATE = """ {
  state a: int 0..few = 0
  state b: int 0..few = 0
  state each: map Side -> int 0..many = [s in Side: 0]"""


class Drawer:
    """Draws text. Comparisons and results use the same few numbers, so that some of them prove
    others."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.lets = 0

    def number(self, names: tuple[str, ...], depth: int) -> str:
        """An expression of numbers."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return rng.choice((*names, *names, "few", "1", "(sum i in Side: each[i])"))
        left, right = self.number(names, depth - 1), self.number(names, depth - 1)
        if rng.random() < 0.1:
            return self.in_a_value(names, left)
        match rng.randrange(12):
            case 10:
                return f"(sum i in Side: {rng.choice(('each[i]', 'each[i] + 1', '1 - each[i]'))})"
            case 11:
                return f"(sum i in {{{left}, {right}}}: i)"
            case 0:
                return f"{rng.choice(('min', 'max'))}({left}, {right})"
            case 1:
                return f"(if {self.condition(names, 1)} then {left} else {right})"
            case 2:
                return self.let(left, lambda name: self.number((*names, name), depth - 1))
            case 3:
                return f"({rng.choice('23')} * {left})"
            case 4 | 5 | 6:
                return f"({left} + {right})"
            case _:
                return f"({left} - {right})"

    def in_a_value(self, names: tuple[str, ...], number: str) -> str:
        """A number that is inside of a map or a sequence, or as many as a type has values."""
        either = f"if {self.condition(names, 0)} then"
        match self.rng.randrange(3):
            case 0:
                key, other = self.rng.choice(("LEFT", "RIGHT")), f"[_ in Side: {number}]"
                return self.let(f"{either} each else {other}", lambda name: f"{name}[{key}]")
            case 1:
                most = f"{either} <1> else <{number}>"
                return self.let(most, lambda name: f"max(set(concat({name}, <{number}, 1>)))")
            case _:
                return f"(sum i in Some: {self.rng.choice(('i', '1', 'many - i'))})"

    def let(self, value: str, body: Callable[[str], str]) -> str:
        """A body that names a value."""
        self.lets += 1
        name = f"k{self.lets}"
        return f"(let {name} = {value} in {body(name)})"

    def condition(self, names: tuple[str, ...], depth: int) -> str:
        """A comparison, or some of them."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            op = rng.choice(("<", "<=", "<=", ">", ">=", "==", "!="))
            return f"{self.number(names, 1)} {op} {self.number(names, 1)}"
        left, right = self.condition(names, depth - 1), self.condition(names, depth - 1)
        match rng.randrange(6):
            case 0:
                return f"not ({left})"
            case 1:
                return f"(({left}) or ({right}))"
            case 2:
                return f"(({left}) implies ({right}))"
            case _:
                return f"(({left}) and ({right}))"

    def function(self, at: int) -> str:
        """A function, in one line."""
        names = ("p", "q", "each[LEFT]", "each[e]")
        body = f"if {self.condition(names, 2)} then {self.number(names, 2)} else 0"
        params = "p: int 0..few, q: int 0..few, e: Side, each: map Side -> int 0..many"
        return f"fun f{at}({params}) -> {self.rng.choice(TYPES)} = {body}"

    def updates(self, names: tuple[str, ...]) -> str:
        """Updates of the state of both machines."""
        key = self.rng.choice(("s", "LEFT"))
        return (
            f"a' = {self.number(names, 1)}  each[{key}]' = {self.number(names, 1)}"
            if self.rng.random() < 0.3
            else f"b' = {self.number(names, self.rng.choice((1, 1, 2)))}"
        )

    def operation(self, at: int) -> str:
        """An operation, in one line: its last branch knows that earlier guards are false."""
        names, value = ("x", "a", "b", "each[s]", "k"), self.number(("x", "a", "each[LEFT]"), 1)
        when = f"when {self.condition(names, 1)} and {self.condition(names, 1)}"
        least = self.rng.choice(("b' = max(0, min(b, k))", self.updates(names)))
        return (
            f"operation o{at}(x: int 0..few, s: Side) -> bool {{ let k = {value}  branch one {when}"
            f" {{ {self.updates(names)} reply true }} branch two when {self.condition(names, 1)}"
            f" reply false branch three {{ {least} reply true }} }}"
        )

    def step(self, at: int) -> str:
        """A step of a system, in one line."""
        names = ("x", "a", "b", "each[s]", "k")
        return (
            f"step t{at}(x: int 0..few, s: Side) {{ require {self.condition(names[:-1], 1)}"
            f"  let k = {self.number(names[:-1], 1)}  require {self.condition(names, 1)}"
            f"  {self.updates(names)} }}"
        )


def accept(before: str, lines: list[str], after: str = "") -> n.Model:
    """The model of those lines whose numbers the check can bound."""
    found = check_texts((Source("drawn", "\n".join((before, *lines, after))),)).errors
    assert {item.code for item in found} <= {"int/out-of-range", "branch/shadowed"}
    refused = {item.span.source.position(item.span.start)[0] for item in found}
    first = before.count("\n") + 2
    kept = [line for number, line in enumerate(lines, first) if number not in refused]
    return api.load_text("\n".join((before, *kept, after)))


def draw(
    rng: Random, kinds: list[t.Type], universe: Universe, most: int
) -> list[tuple[Value, ...]]:
    """Some values of these types."""
    every = list(product(*(universe.domain(kind) for kind in kinds)))
    return rng.sample(every, min(most, len(every)))


def outside(machine: n.Component | n.System, model: n.Model, rng: Random) -> Iterator[str]:
    """Where an operation or a step of a machine leaves a range."""
    actions = machine.steps if isinstance(machine, n.System) else machine.operations
    for universe, action in product(UNIVERSES, actions):
        evaluator = Evaluator.of(model, machine.name, universe)
        kinds = [place.type for place in (*machine.state, *action.params)]
        for given in draw(rng, kinds, universe, 60):
            before = {v.name: value for v, value in zip(machine.state, given, strict=False)}
            args = given[len(before) :]
            match action:
                case n.Operation():
                    outcomes = evaluator.operate(action, before, args)
                case n.Step():
                    outcomes = evaluator.step(action, before, args)
            for outcome in outcomes:
                for variable in machine.state:
                    if not fits(variable.type, outcome.state[variable.name], universe):
                        yield f"{outcome.branch}{args} in {before}, {universe.consts}"


@few_or_all(120, 240)
def test_accepted_functions_stay_in_range(examples: int) -> None:
    drawer = Drawer(1)
    model = accept(WORDS, [drawer.function(at) for at in range(examples)])
    assert examples < 6 * len(model.functions) < 3 * examples
    for universe, function in product(UNIVERSES, model.functions):
        evaluator = Evaluator.of(model, "", universe)
        names = [param.name for param in function.params]
        for given in draw(drawer.rng, [p.type for p in function.params], universe, 64):
            result = evaluator.value(
                function.body, Scope(universe, {}), dict(zip(names, given, strict=True))
            )
            assert fits(function.result, result, universe), (function.name, given, universe)


def test_accepted_operations_stay_in_range() -> None:
    drawer = Drawer(3)
    before = f"{WORDS}\ncomponent part{STATE}"
    lines = [drawer.operation(at) for at in range(100)]
    model = accept(before, lines, "}\nwitness moves of part: a > 0")
    assert 10 < len(model.components[0].operations) < 150
    assert list(outside(model.components[0], model, drawer.rng)) == []


@few_or_all(40, 80)
def test_accepted_steps_stay_in_range(examples: int) -> None:
    drawer = Drawer(4)
    before = f"{WORDS}\nsystem whole{STATE}"
    lines = [drawer.step(at) for at in range(examples)]
    model = accept(before, lines, "}\nwitness moves of whole: a > 0")
    assert examples < 8 * len(model.systems[0].steps) < 1_200
    assert list(outside(model.systems[0], model, drawer.rng)) == []
