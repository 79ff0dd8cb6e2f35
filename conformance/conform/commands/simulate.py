"""`conform simulate`."""

from __future__ import annotations

import argparse
from pathlib import Path

from charter import api
from charter.formats.canonical import Json
from conform.commands.charters import loaded
from conform.differ import paths
from conform.errors import ConformError
from conform.relabel import key
from conform.terminal import out, out_json

EXAMPLES = """examples:
  conform simulate spec/kafka --instance tiny_elr --steps 12 --seed 7
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument("--instance", default="", help="default: the first that is called tiny")
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument("--steps", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another walk")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    model = loaded(arguments.charter, arguments.variant)
    try:
        found = api.walked(model, arguments.instance, arguments.steps, arguments.seed)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    if arguments.json:
        out_json(found)
        return 0
    steps = found["steps"]
    assert isinstance(steps, list)
    before: Json = None
    for count, step in enumerate(steps, 1):
        assert isinstance(step, dict)
        out(f"{count}  {step['operation']} {key(step['args']).decode()}   {step['branch']}")
        for path in paths(before, step["state"], "") if before is not None else ():
            out(f"     {path} = {key(_at(step['state'], path)).decode()}")
        before = step["state"]
    return 0


def _at(value: Json, path: str) -> Json:
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
