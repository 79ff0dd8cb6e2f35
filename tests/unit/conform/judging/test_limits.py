"""Limits of a target beside the findings that may depend on them."""

from charter.formats.limits import TargetLimit
from charter.formats.run_description import RunDescription
from charter.formats.types import read_types
from conform.judging.image_parts import SeenParts, image_parts
from conform.runs.findings.limits import RunLimits, general_limits, images_told

TYPES = read_types(
    {
        "replies": {"elect": "Reply", "expire": "bool"},
        "observes": {"partition": "map Topic -> option Row", "config": "{elr: bool}"},
        "names": {
            "Topic": "sort",
            "Broker": "sort",
            "Row": "{elr: set Broker, leader: option Broker}",
            "Reply": "union done{}, refused{why: int}",
        },
    },
    "types",
)
SESSIONS = TargetLimit("no time between end and fence", operations=("expire",))
NOBODY = TargetLimit("-1 is hidden", variables=("partition.elr",))
VERSION = TargetLimit("one version alone is tried")
LIMITS = RunLimits((SESSIONS, NOBODY, VERSION), TYPES)


def test_limit_is_said_beside_what_it_touches_alone():
    assert LIMITS.touching(["elect/done"], ["partition.t1.elr"]) == (NOBODY.says,)
    assert LIMITS.touching(["elect/done"], ["image.partition.t1.elr"]) == (NOBODY.says,)
    assert LIMITS.touching(["elect/done"], ["partition.t2.leader", "reply.why"]) == ()
    assert LIMITS.touching(["elect/done"], ["config.elr"]) == ()
    assert LIMITS.touching(["expire"], ["config.elr"]) == (SESSIONS.says,)


def test_whole_value_that_differs_has_the_field_of_a_limit_in_it():
    assert LIMITS.touching(["elect/done"], ["partition.t1"]) == (NOBODY.says,)


def test_without_types_the_variable_counts():
    untyped = RunLimits((NOBODY,))
    assert untyped.touching(["elect"], ["partition.t1.leader"]) == (NOBODY.says,)
    assert untyped.touching(["elect"], ["config.elr"]) == ()


def test_limit_that_touches_every_finding_is_said_once():
    noted = RunDescription(limits=(SESSIONS, NOBODY, VERSION))
    assert general_limits(noted) == (VERSION.says,)
    assert general_limits(RunDescription()) == ()


def test_fields_of_a_path_leave_out_the_keys_of_maps():
    assert TYPES.fields("partition.t1.elr") == ("partition", "elr")
    assert TYPES.fields("partition.t1.isr") == ("partition",)
    assert TYPES.fields("registration") == ()
    assert TYPES.fields("partition.elr", keyless=True) == ("partition", "elr")
    assert TYPES.fields("partition.isr", keyless=True) == ("partition",)


def test_what_no_image_shows_is_said_once():
    seen, elements = SeenParts(), {"t1": "Topic", "t2": "Topic"}
    for topic in elements:
        observation = {"config": {"elr": True}, "partition": {topic: {"elr": [], "epoch": 1}}}
        seen.add(image_parts({"partition": {topic: {"elr": []}}}, observation))
    seen.add(image_parts({"partition": {"t1": {"epoch": 1}}}, {"partition": {"t1": {"epoch": 1}}}))
    held = seen.json(elements)
    lacking = sorted({*held["lacking"]} - {*held["shown"]})
    assert lacking == ["config"]  # one image shows the epoch
    assert images_told({"images_lack": lacking}) == ("its images never show config",)
    assert images_told({"images_lack": []}) == images_told({}) == ()
