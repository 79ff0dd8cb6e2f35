"""What expressions depend on."""

import pytest
from tests.support import spec

from charter.core.reach import read_consts, select_printed


@pytest.mark.parametrize("charter", ["kafka", "paxos", "two_phase_commit"])
def test_read_constants_are_those_of_the_printed_model(charter: str) -> None:
    model = spec.model(charter)
    found = {component.name: read_consts(model, component) for component in model.components}
    assert charter != "kafka" or found["replica"]
    for component in model.components:
        assert read_consts(model, component) == select_printed(model, component).consts
