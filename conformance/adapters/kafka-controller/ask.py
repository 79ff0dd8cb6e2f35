"""Puts one question to the controller of a Kafka release and shows every step: for people.

    python ask.py --release 4.3.1 --cache FOLDER question.json

Each step is four lines: what was done, the reply, the state, the broker's image ("-" for none).
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


def _prepare_module() -> ModuleType:
    path = Path(__file__).with_name("prepare.py")
    spec = importlib.util.spec_from_file_location("kafka_controller_prepare", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Put one question to Kafka's controller.")
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--cache", required=True, type=Path)
    parser.add_argument("--experimental-elr", action="store_true", help="ELR in 3.7 to 3.9")
    parser.add_argument("question", type=Path, help="a question as JSON (docs/formats/vector.md)")
    options = parser.parse_args(arguments)
    preparation = _prepare_module()
    try:
        fields = preparation.prepare(options.release, options.cache, preparation.tell)
    except preparation.CannotPrepare as error:
        sys.stderr.write(f"{error}\n")
        return 2
    command = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", fields["classpath"]]
    command += [preparation.MAIN_CLASS, "--one"]
    if options.experimental_elr:
        command.append("--experimental-elr")
    with options.question.open("rb") as question:
        return subprocess.run(command, stdin=question, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
