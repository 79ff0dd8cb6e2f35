"""An edited protocol is elaborated from what the edits left as it was, with the same result."""

import pytest
from tests.support import spec

from charter.check.declarations.check_context import Elaborated
from charter.check.declarations.elaborate import elaborate_declarations
from charter.check.edits.flatten import apply_selection
from charter.check.protocol import check_edited
from charter.core import nodes as n
from charter.diagnostics import Diagnostics, Source
from charter.project import pipeline
from charter.project.sources import read_sources
from charter.syntax import nodes as sx


def files(charter: str) -> sx.Protocol:
    return pipeline.parse_or_refuse(read_sources(spec.SPEC / "examples" / f"{charter}.charter"))


def edit(charter: str, mutant: str, earlier: Elaborated) -> n.Model:
    diagnostics = Diagnostics()
    tree = apply_selection(files(charter), "", mutant, diagnostics)
    model = check_edited(tree, "", diagnostics, earlier)
    assert not diagnostics.errors
    return model


@pytest.mark.parametrize("charter", spec.EXAMPLES)
def test_core_is_the_same_when_an_earlier_elaboration_is_used(charter: str) -> None:
    earlier = elaborate_declarations(files(charter))
    nothing = Elaborated(earlier.unchanged)
    for mutant in pipeline.edits_of(files(charter), sx.MutantDecl):
        assert repr(edit(charter, mutant, earlier)) == repr(edit(charter, mutant, nothing))


def test_only_what_a_mutant_edits_is_elaborated_again() -> None:
    earlier = elaborate_declarations(files("paxos"))
    assert again(earlier, earlier) == {"accept"}


def test_everything_is_elaborated_again_when_names_mean_something_else() -> None:
    earlier = elaborate_declarations(files("paxos"))
    other = Elaborated(elaborate_declarations(files("ring_election")).unchanged, earlier.core)
    assert again(earlier, other) == {"prepare", "accept", "hear", "propose"}


def again(earlier: Elaborated, given: Elaborated) -> set[str]:
    """The operations of a mutant of paxos that are not those of `earlier`."""
    plain = {id(core) for _, core in earlier.core.values()}
    model = edit("paxos", "forgets_its_promise", given)
    return {o.name for c in model.components for o in c.operations if id(o) not in plain}


def test_nothing_is_kept_when_the_protocol_has_errors() -> None:
    broken = Source("broken", "protocol broken\n\nfun half(x: bool) -> bool = 1\n")
    assert not elaborate_declarations(pipeline.parse_or_refuse((broken,))).core
