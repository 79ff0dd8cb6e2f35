"""Serves a generated model as an adapter: the target `reference`.

`python -m conform.adapters.reference --models generated --model charter_models.lease.lease` If the
model allows several outcomes, the choice is deterministic for each question.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Mapping, Sequence

from conform import sdk
from conform.console.errors import BadSuite
from conform.judging.model import JudgeModel, element_names, load, use_folders
from conform.sdk import About, Json

SESSIONS = 64
"""How many sessions the target `reference` holds at once."""


class Reference(sdk.Adapter):
    """Drives a model. Two kinds must fail, as canaries: with `nothing` it shows the initial state
    and replies null; with `forgets` that operation replies as always and leaves the state as it
    was."""

    def __init__(self, model: JudgeModel, nothing: bool = False, forgets: str = "") -> None:
        self.model = model
        self.nothing = nothing
        self.forgets = forgets
        self.state: object = None
        self.random = random.Random(0)
        operations: Sequence[str] = getattr(model, "OPERATIONS", ())
        observes: Sequence[str] = getattr(model, "OBSERVES", ())
        self.about = About(
            "nothing" if nothing else "reference",
            model.SPEC_DIGEST,
            model.COMPONENT,
            tuple(operations),
            tuple(observes),
            ("load",),
            consts=None,
        )

    def start(self, question: sdk.Question) -> None:
        sorts = element_names(question.sorts)
        self.random = random.Random(question.id)
        if question.given is not None:
            self.state = self.model.given(question.given, sorts, question.consts)
            return
        try:
            self.state = self.model.initial(sorts, question.consts)
        except KeyError as name:
            raise ValueError(
                f"the question lacks {name}, which the model needs: --sorts and --consts of"
                " `conform doctor` stand in for a suite"
            ) from None

    def perform(self, operation: str, args: Mapping[str, Json]) -> Json:
        if self.nothing:
            return None
        outcome = self.random.choice(self.model.outcomes(self.state, operation, args))
        if operation != self.forgets:
            self.state = outcome.state
        return outcome.reply

    def observe(self) -> Json:
        return self.model.observe(self.state)

    def never_issued(self, operation: str, path: tuple[str | int, ...]) -> Json:
        from conform.judging.never_issued import NeverIssued  # few questions ask, and many start

        return NeverIssued(self.model, operation)(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the model that the arguments name."""
    name, folders = _parse_arguments(sys.argv[1:] if arguments is None else arguments)
    use_folders([folder for folder in folders.split(os.pathsep) if folder])
    try:
        model = load(name)
    except BadSuite as error:
        sys.exit(str(error))
    sdk.serve_sessions(lambda: Reference(model), SESSIONS)


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str]:
    """The module of the model, and the folders with models."""
    if len(arguments) == 4 and [*arguments[::2]] == ["--models", "--model"]:
        return arguments[3], arguments[1]  # as runs start it; to import argparse takes longer
    import argparse

    parser = argparse.ArgumentParser(prog="conform.adapters.reference", description=__doc__)
    parser.add_argument("--model", required=True, help="Python module of the model")
    parser.add_argument("--models", default="", help="folders with generated models")
    chosen = parser.parse_args(arguments)
    return chosen.model, chosen.models


if __name__ == "__main__":
    main()
