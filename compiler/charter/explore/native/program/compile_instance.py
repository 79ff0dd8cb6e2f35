"""Compiles an instance to a program: its LLVM IR, its object code, and where its data lie in
memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache as remembered
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from charter.analysis.compared_numbers import find_compared
from charter.analysis.environment import unrestrict
from charter.analysis.narrowed_machine import open_machine
from charter.analysis.symmetry import Quotient
from charter.cache.files import read_or_make
from charter.core import nodes as n
from charter.core import small as s
from charter.core.transition import is_of_transition
from charter.explore.native.emit.body import VariableSlots, arguments_of, operate, print_step
from charter.explore.native.emit.guards import trail_words
from charter.explore.native.emit.outcomes import print_noted, print_outcomes, target_of
from charter.explore.native.emit.outline import outline
from charter.explore.native.emit.ranges import RangePrinter
from charter.explore.native.emit.unit import Unit
from charter.explore.native.memory.arrays import Array
from charter.explore.native.memory.layout import MOST_COUNTER, CannotCompile, Layout, Packing
from charter.explore.native.memory.machine_context import NARROW, MachineContext, Memory
from charter.explore.native.program.cut import can_offer, print_cut
from charter.explore.native.program.environment import OfferPrinter
from charter.explore.native.program.issued_masks import IssuedMasks
from charter.explore.native.program.kernel import Kernel
from charter.explore.native.program.keys import KeyPrinter
from charter.explore.native.program.llvm import (
    DETAILED,
    FOLLOWING,
    SIGNATURES,
    Library,
    ObjectCode,
    compile_ir,
    link,
    machine_digest,
)
from charter.explore.native.program.printed import MOST_FILES, Printed, place_of
from charter.explore.native.program.transition_graph import FairnessLabels, LinkPrinter
from charter.explore.native.program.visited_set import TablePrinter
from charter.passes import lower_expr, lower_instance
from charter.semantics.expressions import State
from charter.semantics.machine import E, Machine, S

OPTIMIZED_EACH_SECOND = 250_000
"""Bytes of IR that LLVM optimizes in a second of processor time."""

Starts = Sequence[tuple[str, n.Expr]]
"""The variables of a first state that are not as the machine has them, with their values."""
Noted = list[tuple[str, str]]
Numbered = list[tuple[int, n.Property[E]]]


@dataclass(frozen=True, slots=True)
class ProgramInterface:
    """The parts of a program other than its code. `noted` has a (kind, name) for each note, in this
    order: two per property (violated, undefined), one per operation (undefined), the deadlock of a
    system and, if the instance leaves out steps, the states that are cut, two per predicate (true,
    undefined)."""

    machine: Machine
    layout: Layout
    variable_slots: VariableSlots
    packing: Packing
    context: MachineContext
    quotient: Quotient
    noted: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]

    @property
    def first_predicate(self) -> int:
        """The index in `noted` of the first predicate."""
        return next(i for i, (kind, _) in enumerate(self.noted) if kind == "predicate")


@dataclass(frozen=True, slots=True)
class CodeSource:
    """What object code is compiled from: IR, what is known of it without the text, and the choices
    that it was printed for. `cache` is the folder of object code (None: this process keeps it)."""

    text: Callable[[], str]
    printed: Printed
    choices: Choices
    cache: Path | None

    @property
    def optimize_after_seconds(self) -> float:
        """The seconds of processor time after which a search goes on in optimized code: about as
        long as compiling it takes. So no search takes longer than this above the faster choice,
        however much its transitions cost."""
        return self.printed.length / OPTIMIZED_EACH_SECOND

    def code(self, *, optimized: bool) -> ObjectCode:
        """The object code, from the cache if it is there."""
        if self.cache is None:
            return _compile_once(self.text(), optimized)
        place = _place(self.printed.digest, self.cache, optimized)
        return read_or_make(place, lambda: compile_ir(self.text(), optimized=optimized), MOST_FILES)

    def is_optimized_already(self) -> bool:
        """Whether the cache has optimized code."""
        return self.cache is not None and _place(self.printed.digest, self.cache, True).exists()

    def library(self, code: ObjectCode) -> Library:
        """The functions of object code."""
        return link(code, signatures(self.choices))


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program. `digest` is a hash of its IR and its initial state; files of a search are
    named by it. `optimizing_source`: what optimized code is compiled from (None: the code is
    optimized)."""

    plan: ProgramInterface
    code: ObjectCode
    library: Library
    digest: str
    optimizing_source: CodeSource | None

    def optimize(self) -> Program:
        """The same program with optimized code."""
        if self.optimizing_source is None:
            return self
        code = self.optimizing_source.code(optimized=True)
        return replace(
            self, code=code, library=self.optimizing_source.library(code), optimizing_source=None
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """What to compile. `symmetry`: merge states that are equal up to permutations of the sorts;
    `renaming`: and up to renaming of counters that keeps their order. `fingerprints`: the visited
    set holds only hashes, chosen by `seed`. `predicates`: the predicates to evaluate in every state
    for the transition graph (None: no graph). `detailed`: outcomes include replies and what guards
    read, outcomes of a single operation can be requested, and states are kept as first reached."""

    symmetry: bool = True
    renaming: bool = True
    fingerprints: bool = False
    seed: int = 0
    predicates: tuple[n.Property, ...] | None = None
    detailed: bool = False

    def memory(self, words: int) -> Memory:
        """What the visited set stores for a key of `words` words."""
        if self.fingerprints:
            return "fingerprints"
        return "keys" if words <= NARROW and self.predicates is None else "numbers"


def print_program(machine: Machine, choices: Choices) -> tuple[ProgramInterface, str, Printed]:
    """The interface of a machine, its IR, and what is kept of that. Raises CannotCompile."""
    unit = _unit_of(machine)
    trail = trail_words(unit.declared, unit.machine.operations.values()) if choices.detailed else 0
    plan = _interface(machine, choices, trail)
    text = _text(unit, plan, choices)
    return plan, text, Printed.of(text, trail)


def _unit_of(machine: Machine) -> Unit:
    """A unit for the functions of a machine, which it has in small core."""
    layout = Layout(machine.universe)
    for operation in machine.operations.values():
        layout.refuse_many(operation.params)
    small, own = lower_instance(machine.model, machine.instance)
    return Unit(Machine.of(outline(small), own), layout)


def _interface(machine: Machine, choices: Choices, trail: int) -> ProgramInterface:
    """The interface of a machine; `trail`: the words for the conditions in guards. Raises
    CannotCompile."""
    layout = Layout(machine.universe)
    variable_slots = VariableSlots.of(layout, machine.variables)
    quotient = Quotient.of(machine, symmetry=choices.symmetry, renaming=choices.renaming)
    params = params_of(machine, layout)
    issued = IssuedMasks.of(layout, (param for each in params for param in each))
    first = issued.size > 0 or quotient.allotting
    packing = packing_of(machine, layout, quotient, raw=first)
    args = max((arguments_of(layout, each)[1] for each in params), default=0)
    replies = [
        layout.slots(o.result) for o in machine.operations.values() if isinstance(o, n.Operation)
    ]
    noted, _, _ = notes_of(machine)
    noted += [("undefined", name) for name in machine.operations]
    noted += [("deadlock", "deadlock")] if machine.component is None else []
    noted += [("cut", "cut")] if unrestrict(machine) is not None else []
    noted += [("predicate", part.name) for part in choices.predicates or () for _ in range(2)]
    context = MachineContext(
        slots=variable_slots.slots,
        args=args,
        row=1 + max(replies, default=0) + variable_slots.slots,
        words=packing.words,
        raw=first or choices.detailed,
        labels=len(machine.labels),
        notes=len(noted),
        issued=issued.size,
        memory=choices.memory(packing.words),
        detailed=choices.detailed,
        reply=max(replies, default=0) if choices.detailed else 0,
        trail=trail,
    )
    return ProgramInterface(
        machine, layout, variable_slots, packing, context, quotient, tuple(noted), machine.labels
    )


def _text(unit: Unit, plan: ProgramInterface, choices: Choices) -> str:
    """The IR of a machine. Raises CannotCompile."""
    machine, context = plan.machine, plan.context
    for label in plan.labels:
        unit.label(label)
    noted, states, moves = notes_of(unit.machine)
    assert list(plan.noted[: len(noted)]) == noted, "lowering changed which properties there are"
    undefined = len(noted)
    deadlock = undefined + len(machine.operations) if machine.component is None else -1
    unit.trail = context.guards if context.trail else -1
    keys = KeyPrinter(unit, plan.quotient, machine.variables, plan.packing)
    keys.print_pack()
    RangePrinter(unit, machine.variables).print()
    keys.print_key()
    params = params_of(machine, plan.layout)
    issued = IssuedMasks.of(plan.layout, (param for each in params for param in each))
    besides = find_compared(machine.model, machine.instance.machine)
    offers = OfferPrinter(unit, context, plan.variable_slots, issued, besides)
    print_operations(unit, offers)
    whole = unrestrict(unit.machine)
    if whole is not None:
        print_cut(offers, whole)
    asked = None
    if choices.predicates is not None:
        first = plan.first_predicate if choices.predicates else len(plan.noted)
        asked = [(first + 2 * i, _lower(part)) for i, part in enumerate(choices.predicates)]
    print_search(
        Kernel(
            unit, context, plan.variable_slots, states, moves, undefined, deadlock,
            whole is not None, choices.seed, asked,
        ),
        choices,
    )  # fmt: skip
    return unit.text()


def params_of(machine: Machine, layout: Layout) -> list[tuple[n.Param, ...]]:
    """The parameters of each operation, and of each step that the instance leaves out if the engine
    can offer it."""
    whole = unrestrict(machine)
    others = () if whole is None else whole.operations.values()
    offered = [operation.params for operation in machine.operations.values()]
    return [*offered, *(o.params for o in others if can_offer(layout, o))]


def packing_of(machine: Machine, layout: Layout, quotient: Quotient, *, raw: bool) -> Packing:
    """The bit ranges of a state's slots. Unless states are kept as first reached (`raw`), a renamed
    counter needs only as many bits as there are places that hold its values."""
    most: dict[str, int] = {}
    for name in () if raw else quotient.counters:
        held = sum(layout.count_held(variable.type, name) for variable in machine.variables)
        low = quotient.fixed.get(name, -1) if name in quotient.ranked else -1
        most[name] = min(MOST_COUNTER, low + held)
    narrow = Layout(layout.universe, most)
    return Packing.of([bits for v in machine.variables for bits in narrow.bits(v.type)])


def print_search(kernel: Kernel, choices: Choices) -> None:
    """Prints the functions of the search; with predicates also those that build the transition
    graph. Raises CannotCompile."""
    unit = kernel.unit
    operations = len(unit.machine.operations)
    kernel.print(operations)
    if choices.detailed:
        print_outcomes(unit, kernel.context)
        print_noted(unit, kernel.context, [i for i, _ in (*kernel.states, *kernel.moves)])
    if choices.predicates is not None:
        labels = FairnessLabels.of(unit.machine, unit.layout)
        LinkPrinter(kernel, labels, choices.seed).print(operations)
    TablePrinter(unit, kernel.context, choices.seed).print()


def print_operations(unit: Unit, offers: OfferPrinter) -> None:
    """Prints the operations or steps, and the functions that offer them."""
    machine = unit.machine
    if offers.issued.size:
        offers.print_issued()
    for number, (name, operation) in enumerate(machine.operations.items()):
        if isinstance(operation, n.Operation):
            assert machine.component is not None
            operate(unit, machine.component, operation)
            target = target_of(machine, name)
        else:
            system = next(s for s in unit.model.systems if s.name == machine.instance.machine)
            print_step(unit, system, operation)
            target = target_of(machine, name)
        offers.print_offer(number, name, target)


def notes_of(machine: Machine[E, S]) -> tuple[Noted, Numbered[E], Numbered[E]]:
    """The notes of the properties; then the state properties and the transition properties, each
    with the index of its note."""
    noted: Noted = []
    states: Numbered[E] = []
    moves: Numbered[E] = []
    for prop in machine.model.properties:
        if prop.machine == machine.instance.machine:
            moving = is_of_transition(prop)
            (moves if moving else states).append((len(noted), prop))
            noted += [(prop.kind, prop.name), ("undefined", prop.name)]
    return noted, states, moves


def _lower(prop: n.Property) -> s.Property:
    body = lower_expr(prop.body)
    return n.Property(prop.kind, prop.name, prop.machine, body, prop.citations, span=prop.span)


def slots_of(plan: ProgramInterface, state: State) -> list[int]:
    """The slots of a state, one number each."""
    encode = plan.layout.encode
    return [slot for v in plan.machine.variables for slot in encode(v.type, state[v.name])]


def fits(plan: ProgramInterface, slots: Sequence[int]) -> bool:
    """Whether each number of a state is one that the engine can hold."""
    bits = [bits for v in plan.machine.variables for bits in plan.layout.bits(v.type)]
    return not any(slot >> width for slot, width in zip(slots, bits, strict=True))


def first_row(program: Program) -> Array:
    """The row of the initial state; its tag is zero."""
    plan, context, library = program.plan, program.plan.context, program.library
    slots, row = Array.of(context.slots), Array.of(context.width)
    slots.write(0, slots_of(plan, plan.machine.initial()))
    library["pack" if context.raw else "key"](slots.address, row.address)
    return row


# --- code ----------------------------------------------------------------------------------------


def program(
    model: n.Model,
    instance: n.Instance,
    choices: Choices,
    cache: Path | None,
    *,
    optimized: bool = True,
) -> Program:
    """The compiled program of an instance, loaded from `cache` if it is there (None: no cache). If
    it need not be `optimized`, it is only if the cache has optimized code. Raises CannotCompile, or
    KeyError if the model lacks the instance's machine."""
    # No search reads scenarios, of which a charter has more than of rules.
    machine = open_machine(replace(model, scenarios=()), instance)
    plan, source = _plan_and_source(machine, choices, cache)
    initial = slots_of(plan, machine.initial())
    if not fits(plan, initial):
        raise CannotCompile(f"a counter past {MOST_COUNTER} in the initial state")
    digest = sha256(f"{source.printed.digest}\n{initial}".encode()).hexdigest()
    optimized = optimized or source.is_optimized_already()
    code = source.code(optimized=optimized)
    return Program(plan, code, source.library(code), digest, None if optimized else source)


def begin_at(program: Program, starts: Starts) -> Program:
    """The same program in an instance that begins in another state. Raises CannotCompile."""
    plan = program.plan
    instance = replace(plan.machine.instance, starts=tuple(starts))
    plan = replace(plan, machine=replace(plan.machine, instance=instance))
    initial = slots_of(plan, plan.machine.initial())
    if not fits(plan, initial):
        raise CannotCompile(f"a counter past {MOST_COUNTER} in the initial state")
    digest = sha256(f"{program.digest}\n{initial}".encode()).hexdigest()
    return replace(program, plan=plan, digest=digest)


def _plan_and_source(
    machine: Machine, choices: Choices, cache: Path | None
) -> tuple[ProgramInterface, CodeSource]:
    """The interface of a machine, and what its code is compiled from: printed at once, unless the
    cache knows enough of it."""
    place = known = None
    if cache is not None:
        place = place_of(cache, machine, choices.predicates, replace(choices, predicates=None))
        known = Printed.read(place)
    if known is not None:
        later = remembered(lambda: print_program(machine, choices)[1])
        return _interface(machine, choices, known.trail), CodeSource(later, known, choices, cache)
    plan, text, printed = print_program(machine, choices)
    if place is not None:
        printed.keep(place)
    return plan, CodeSource(lambda: text, printed, choices, cache)


@lru_cache(maxsize=64)
def _compile_once(text: str, optimized: bool) -> ObjectCode:
    """Compiles in this process, once per text: compiling takes seconds, most searches of small
    instances a tenth of one."""
    return compile_ir(text, optimized=optimized)


def signatures(choices: Choices) -> dict[str, tuple[bool, int]]:
    """The functions that a program exports, by name."""
    following = {} if choices.predicates is None else FOLLOWING
    return SIGNATURES | following | (DETAILED if choices.detailed else {})


def object_code(text: str, cache: Path | None) -> ObjectCode:
    """The optimized object code of an IR text, from `cache` (None: from this process) if it is
    there."""
    printed = Printed.of(text, 0)
    return CodeSource(lambda: text, printed, Choices(), cache).code(optimized=True)


def _place(printed: str, cache: Path, optimized: bool) -> Path:
    """The file of the object code of an IR text with this digest."""
    kind = "" if optimized else "\nnot optimized"
    name = sha256(f"{machine_digest()}\n{printed}{kind}".encode()).hexdigest()
    return cache / f"{name}.o"


__all__ = ["CannotCompile", "Choices", "Program", "ProgramInterface", "program"]
