"""Lists of names that do not fit in a line are filled: set-ups and fair steps."""

from charter.diagnostics import Source
from charter.project.compile import format_text

STEPS = [f"step_with_a_long_name_{number}" for number in range(6)]
SETUPS = [f"setup_with_a_long_name_{number}" for number in range(6)]

TEXT = "\n".join(
    [
        "protocol long",
        "",
        "system s {",
        "  state x: bool = false",
        *(f"  step {name}() {{ x' = true }}" for name in STEPS),
        "}",
        f"eventually done of s cites silent fair {', '.join(STEPS)}: x",
        *(f"setup {name} of s {{}}" for name in SETUPS),
        f"instance tiny of s like {', '.join(SETUPS)} {{}}",
        "",
    ]
)


def test_long_lists_of_set_ups_and_fair_steps_are_filled() -> None:
    shown = format_text(Source("long.charter", TEXT))
    assert max(map(len, shown.splitlines())) <= 100
    assert (
        "  fair step_with_a_long_name_0, step_with_a_long_name_1, step_with_a_long_name_2,\n"
        "    step_with_a_long_name_3, step_with_a_long_name_4, step_with_a_long_name_5:\n"
    ) in shown
    assert (
        "  like setup_with_a_long_name_0, setup_with_a_long_name_1, setup_with_a_long_name_2,\n"
        "    setup_with_a_long_name_3, setup_with_a_long_name_4, setup_with_a_long_name_5 {"
    ) in shown
    assert format_text(Source("long.charter", shown)) == shown
