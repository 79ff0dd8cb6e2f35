"""Opens the machine of an instance in a model that is narrowed to it."""

from charter.core import nodes as n
from charter.passes.narrow import narrow
from charter.semantics.machine import Machine


def open_machine(model: n.Model, instance: n.Instance) -> Machine:
    """The machine of an instance, without what does not concern it. Raises KeyError if the model
    lacks it."""
    return Machine.of(narrow(model, instance.machine), instance)
