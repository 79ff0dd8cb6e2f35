"""An option that a command would not read is refused, whichever command it is."""

from __future__ import annotations

import pytest

from conform.cli.main import commands, main, parser_of
from conform.cli.unused_options import RULES

UNREAD = [
    "vectors none.charter --most 100",
    "vectors none.charter --profile full --most 3000 --out build/full",
    "vectors none.charter --most 200000",
    "explore none.charter --bounds --most 3",
    "explore none.charter --bounds --journal build/search",
    "explore none.charter --limit 3",
    "explore none.charter --engine reference --workers 2",
    "explore none.charter --engine spark --memory 4",
    "generate none.charter --backend tla --component lock",
    "generate none.charter --backend handbook --root .",
    "generate none.charter --adapter go --instance tiny",
    "mutate none.charter --seed 3",
    "run --target none --engine inline --master local[2]",
    "run --target none --limit 3 --crosschecks 9",
    "run --target none -x --crosschecks 9",
    "doctor --release 2",
    "doctor --sorts {}",
    "eval 1 none.charter --scenario first --instance tiny",
]
READ = [
    "vectors none.charter --search --most 100",
    "explore none.charter --where true --limit 3",
    "mutate none.charter --limit 3 --seed 3",
    "generate none.charter --adapter go --component lock",
]


def run_line(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(line.split())
    return code, capsys.readouterr().err


@pytest.mark.parametrize("line", UNREAD)
def test_an_option_that_is_not_read_is_refused(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = run_line(line, capsys)
    (option,) = [word for word in line.split() if told.startswith(f"conform: {word} ")]
    assert code == 2
    assert told.endswith(f", or leave {option} out\n")


@pytest.mark.parametrize("line", READ)
def test_an_option_that_is_read_is_not_refused(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "or leave" not in run_line(line, capsys)[1]


def test_rules_are_about_options_that_there_are() -> None:
    for name, rules in RULES.items():
        known = parser_of(name, commands()[name])._option_string_actions
        assert all(option in known for rule in rules for option in rule.options)


@pytest.mark.parametrize("name", sorted(commands()))
def test_an_option_that_no_command_has_is_one_sentence(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        main([name, "--no-command-has-this"])
    assert len(capsys.readouterr().err.splitlines()) == 1
