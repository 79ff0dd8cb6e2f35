"""Translates core to core: one list of passes, in the order in which they run (`order`), a module
for each."""

from charter.passes.order import (
    LOWERING,
    MACHINE,
    PASSES,
    RICH,
    Pass,
    for_search,
    lower,
    lower_expr,
    lower_instance,
    run,
    run_checked,
    run_rich,
)

__all__ = [
    "LOWERING",
    "MACHINE",
    "PASSES",
    "RICH",
    "Pass",
    "for_search",
    "lower",
    "lower_expr",
    "lower_instance",
    "run",
    "run_checked",
    "run_rich",
]
