"""Parameters that adapter.toml declares, and their values."""

import re

import pytest

from charter.formats.target import (
    TargetParameter,
    other_than_default,
    parameter_values,
    read_parameters,
)

URL = TargetParameter("url", "the server")
PROGRAM = TargetParameter("program", "what to start", "server")
COMMANDS = ("run", "{url}", "--program={program}")


def test_parameters_are_read_when_a_command_has_them():
    table = {"url": {"help": " the server "},
             "program": {"help": "what to start", "default": "server"}}  # fmt: skip
    assert read_parameters(table, COMMANDS) == (URL, PROGRAM)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([], "'parameters' is no table; begin each of them with [parameters.NAME]"),
        ({"url": "x"}, "the parameter 'url' is no table; begin it with [parameters.url]"),
        ({"url": {}}, "the parameter 'url' lacks 'help', the sentence that explains it"),
        ({"url": {"help": "h", "defalt": ""}}, "the unknown key 'defalt'; did you mean default"),
        ({"url": {"help": "h", "default": 1}}, "the 'default' of the parameter 'url' is no text"),
        ({"URL": {"help": "h"}}, "the parameter 'URL' has no name of the letters a-z and `_`"),
        ({"python": {"help": "h"}}, "has the name of a placeholder that every target has"),
        ({"port": {"help": "h"}}, "neither 'start' nor 'prepare' has the parameter 'port'; write"
         " {port} where its value goes"),
    ],
)  # fmt: skip
def test_a_table_is_refused_when_it_is_wrong(table, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_parameters(table, COMMANDS)


def test_values_are_the_given_ones_when_they_are_given_and_else_the_defaults():
    declared = (URL, PROGRAM)
    values = parameter_values("redis", declared, {"url": "a"})
    assert values == {"url": "a", "program": "server"}
    assert other_than_default(declared, values) == {"url": "a"}


@pytest.mark.parametrize(
    ("declared", "given", "sentence"),
    [
        ((URL,), {}, "redis needs the parameter 'url': --set url=VALUE (the server)"),
        ((URL,), {"ulr": "a"}, "redis has no parameter 'ulr'; it has url; did you mean url?"),
        ((), {"url": "a"}, "redis has no parameter 'url'; no adapter.toml declares one"),
    ],
)
def test_a_value_is_refused_when_it_is_unknown_or_missing(declared, given, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        parameter_values("redis", declared, given)
