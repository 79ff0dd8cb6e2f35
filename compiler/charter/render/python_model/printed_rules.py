"""Reuses the printed text of rules that an edit did not change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core.affected import Declared, find_changed
from charter.render.python_model.names import Names
from charter.render.python_model.operations import place

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class PrintedRules:
    """The texts of the functions and operations of one component's page: of a function by "" and
    its name, of an operation by the component and its name."""

    model: n.Model
    component: n.Component
    names: Names
    texts: Mapping[Declared, str]

    def find_shared(
        self, model: n.Model, component: n.Component, names: Names
    ) -> dict[Declared, str]:
        """The texts that are the same on the page of another model of this component. Such a
        function or operation is equal, with all that it calls, stands at the same place, and
        mentions no name that only one of the pages defines: a local of that name is renamed."""
        edited = find_changed(self.model, model)
        if (component.name, "") in edited or not names.agrees(self.names):
            return {}
        lone = frozenset(name.rstrip("_") for name in names.hidden ^ self.names.hidden)
        known = dict(_headings(self.model, self.component))
        return {
            key: self.texts[key]
            for key, heading in _headings(model, component)
            if key in self.texts
            and key not in edited
            and known[key] == heading
            and lone.isdisjoint(word.rstrip("_") for word in _WORD.findall(self.texts[key]))
        }


def _headings(
    model: n.Model, component: n.Component
) -> Iterator[tuple[Declared, list[tuple[str, str]]]]:
    """What is printed of each function and operation and does not make two of them unequal: where
    it and its branches stand, and the comments on them."""
    for function in model.functions:
        yield ("", function.name), [_heading(function)]
    for operation in component.operations:
        parts = (operation, *operation.branches, *operation.assumes)
        yield (component.name, operation.name), [_heading(part) for part in parts]


def _heading(declared: n.Placed) -> tuple[str, str]:
    return place(declared.span), declared.doc
