"""Exports a model to TLA+: all modules and cfg files, by file name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files as resources

from charter.analysis.compared_numbers import find_compared
from charter.analysis.counters import CounterUses, find_bumped_apart
from charter.core import nodes as n
from charter.core import small as s
from charter.diagnostics import Diagnostic, Diagnostics
from charter.passes import lower
from charter.passes.narrow import narrow
from charter.render.tla.counters import Orders, Unordered
from charter.render.tla.instance import InstanceModule, NotOffered
from charter.render.tla.machine import Module, Rules


@dataclass(frozen=True, slots=True)
class Exported:
    """Files by name, and warnings about what could not be exported."""

    files: Mapping[str, str]
    warnings: tuple[Diagnostic, ...]


def export(model: n.Model, instances: Sequence[n.Instance]) -> Exported:
    """Exports `instances` and the modules that they extend. Raises `Refused` with diagnostics about
    what TLA+ cannot express."""
    diagnostics = Diagnostics()
    _leave_out(model, instances, diagnostics)
    core = lower(replace(model, instances=tuple(instances)))
    rules = Rules(core)
    modules: dict[str, Module] = {}
    files: dict[str, str] = {}
    for instance in core.instances:
        module = modules.get(instance.machine)
        if module is None:
            module = modules[instance.machine] = _module(rules, model, instance.machine)
            _add_machine(module, files, diagnostics)
        printed = InstanceModule(module, instance, find_compared(model, instance.machine))
        _add_instance(printed, files, diagnostics)
    diagnostics.refuse_if_any()
    files[f"{rules.name}.tla"] = rules.text()
    files["Charter.tla"] = _library()
    return Exported(dict(sorted(files.items())), tuple(diagnostics))


def cfg_of(model: n.Model, instance: n.Instance, names: Sequence[str]) -> str:
    """The cfg of an instance that checks only the properties and witnesses called `names`."""
    core = lower(replace(model, instances=(instance,)))
    module = _module(Rules(core), model, instance.machine)
    wanted = [p for p in module.properties if p.name in names]
    return InstanceModule(module, core.instances[0]).cfg(wanted)


def _library() -> str:
    """The text of the TLA+ module of Charter's built-in functions."""
    return resources(__package__).joinpath("Charter.tla").read_text(encoding="utf-8")


def _module(rules: Rules, model: n.Model, name: str) -> Module:
    """The module of a machine."""
    alone = narrow(model, name)
    machines: tuple[s.Component | s.System, ...] = (*rules.model.components, *rules.model.systems)
    machine = next(m for m in machines if m.name == name)
    apart = frozenset(find_bumped_apart(alone))
    uses = CounterUses.of(alone)
    return Module(rules, machine, Orders(uses.ranked - apart, uses.numbers, apart))


def _leave_out(model: n.Model, instances: Sequence[n.Instance], diagnostics: Diagnostics) -> None:
    """Warns about properties of infinite runs, which the modules leave out."""
    machines = {i.machine for i in instances}
    for live in model.liveness:
        if live.machine in machines:
            message = f"the TLA+ export leaves out `eventually {live.name}`"
            hint = "TLC is not asked for it; `conform explore` answers"
            diagnostics.warn("tla/property", message, live.span, hint=hint)


def _add_machine(module: Module, files: dict[str, str], diagnostics: Diagnostics) -> None:
    try:
        files[f"{module.name}.tla"] = module.text()
    except Unordered as problem:
        message = (
            f"values of `{problem}` stand in a set, and only their equality means anything: the"
            " TLA+ export cannot name states up to renaming of them"
        )
        diagnostics.error("tla/unordered", message, module.machine.span)


def _add_instance(one: InstanceModule, files: dict[str, str], diagnostics: Diagnostics) -> None:
    try:
        files[f"{one.name}.tla"] = one.text()
    except NotOffered as problem:
        message = f"the TLA+ export cannot say what an environment offers for {problem}"
        diagnostics.error("tla/argument", message, one.instance.span)
        return
    claims = [p for p in one.module.properties if p.kind != "witness"]
    files[f"{one.name}.cfg"] = one.cfg(claims, ["All properties of the instance."])
    for prop in one.module.properties:
        if prop.kind == "witness":
            about = [f"TLC violates this: the counterexample is the witness {prop.name}."]
            files[f"{one.name}_finds_{prop.name}.cfg"] = one.cfg([prop], about)
