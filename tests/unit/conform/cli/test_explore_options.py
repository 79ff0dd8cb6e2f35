"""The options of `conform explore` arrive at the search under their own names."""

from argparse import ArgumentParser
from pathlib import Path

from charter import api
from conform.cli.commands.compiler.explore import _options, add_arguments

GIVEN = (
    "x.charter --engine native --most 7 --no-symmetry --workers 2 --journal j --memory 1"
    " --fingerprints 5 --keep k --limit 3 --mutant m"
)


def test_each_option_arrives_under_its_own_name() -> None:
    parser = ArgumentParser()
    add_arguments(parser)
    assert _options(parser.parse_args(GIVEN.split())) == api.ExploreOptions(
        engine="native", most_states=7, symmetry=False, workers=2, journal=Path("j"),
        memory=1 << 30, fingerprints=5, states=True, limit=3, mutant="m",
    )  # fmt: skip
