"""The traits of built-in functions."""

from __future__ import annotations

from typing import get_args

from charter.core.builtins import BUILTINS, BuiltinName


def test_each_built_in_function_has_its_traits_in_the_order_of_the_names() -> None:
    assert tuple(BUILTINS) == get_args(BuiltinName)


def test_traits_agree_with_each_other() -> None:
    for name, traits in BUILTINS.items():
        assert not traits.built_of or (len(traits.built_of),) == traits.arity, name
        assert traits.opposite is None or BUILTINS[traits.opposite].opposite == name
        assert not traits.grows or traits.order == "made", name
