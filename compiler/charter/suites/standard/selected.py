"""Selects what a suite of one instance is made from."""

from __future__ import annotations

from dataclasses import replace

from charter.core import nodes as n
from charter.project.sources import Missing
from charter.suites.subject import Subject


def list_offered(about: Subject, instance: str = "") -> list[n.Instance]:
    """The instances of the component, or one of them."""
    mine = (i for i in about.model.instances if i.machine == about.component.name)
    return [i for i in mine if instance in ("", i.name)]


def select_instance(about: Subject, instance: str) -> Subject:
    """The subject with the questions and scenarios of one instance. Raises Missing."""
    chosen = list_offered(about, instance)
    if not chosen:
        names = ", ".join(i.name for i in list_offered(about)) or "none"
        raise Missing(f"{about.component.name} has no instance `{instance}`; there are: {names}")
    asked = tuple(one for one in about.found.asked if one.instance == instance)
    bounds = (chosen[0].sorts, chosen[0].consts)
    scenarios = tuple(
        s
        for s in about.model.scenarios
        if s.instance.name == instance or (s.instance.sorts, s.instance.consts) == bounds
    )
    model = replace(about.model, scenarios=scenarios)
    return replace(about, model=model, found=replace(about.found, asked=asked))
