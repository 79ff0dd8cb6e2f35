"""Outcomes of the definition that are computed once, where scenarios of one protocol or of several
versions of it ask for the same operation in the same state again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core.affected import Declared
from charter.core.nodes import Value
from charter.core.versions import Versions
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import MachineOf

MOST_KEPT = 20_000
"""Calls whose outcomes are kept; some 3 kB each."""
_Asked = tuple[object, ...]
"""All that outcomes depend on."""
_Kept = dict[_Asked, tuple[Outcome, ...]]


@dataclass(frozen=True, slots=True)
class SharedOutcomes:
    """The outcomes that were computed so far, in versions of one protocol."""

    versions: Versions = field(default_factory=Versions)
    kept: _Kept = field(default_factory=dict)

    def among(self, model: n.Model) -> MachineOf:
        """`Machine.of` for `model`, and for the same with other scenarios, with machines that share
        their outcomes."""
        numbers = self.versions.of(model)

        def machine_of(model: n.Model, instance: n.Instance) -> Machine:
            of = Machine.of(model, instance)
            return _SharingMachine(
                of.model, of.instance, of.evaluator, of.variables, of.operations, of.component,
                of.opaque, numbers=numbers, kept=self.kept,
            )  # fmt: skip

        return machine_of


@dataclass(frozen=True, slots=True)
class _SharingMachine(Machine):
    """A machine that asks the definition only for outcomes that are not `kept`."""

    numbers: Mapping[Declared, int] = field(kw_only=True, compare=False)
    kept: _Kept = field(kw_only=True, compare=False)

    def outcomes(
        self, state: State, operation: str, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        here = self.instance
        number = self.numbers[here.machine, operation]
        asked = (number, args, *state.values(), here.sorts, here.consts, here.offers)
        known = self.kept.get(asked)
        if known is None:
            known = Machine.outcomes(self, state, operation, args)
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            self.kept[asked] = known
        return known
