"""`conform init`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from charter import api
from charter.formats.target import id_from
from conform.cli.output.charters import load_charter
from conform.console.terminal import out, out_json, say
from conform.project.skeletons import Skeleton, write_example, write_skeleton
from conform.project.starting import (
    EXAMPLE,
    TEMPLATES,
    adapter_place,
    charter_place,
    project_files,
    stage_project,
    write_project,
)

EXAMPLES = """examples:
  conform init my-project
  conform init my-project --template lease --adapter go
  conform init --adapter none

Makes a project in the folder NAME, or here: charter.toml, a charter, an adapter, a CI file, a
README.
The adapter of the template lease has an example implementation in which two bugs are planted; those
of the others are skeletons to complete. Nothing is overwritten.

Exit code 0: the project is made; 2: a file is in the way, or the folder cannot be written.
"""

NONE = "none"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    languages = (*sorted(api.LANGUAGES), NONE)
    default = "python" if "python" in languages else languages[0]
    parser.add_argument("name", nargs="?", default="", help="folder of the project (default: here)")
    parser.add_argument(
        "--template", choices=TEMPLATES, default=TEMPLATES[0],
        help=f"the charter to start with (default: {TEMPLATES[0]})",
    )  # fmt: skip
    parser.add_argument(
        "--adapter", choices=languages, default=default,
        help=f"the language of the adapter (default: {default})",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    root, template, language = Path(arguments.name), arguments.template, arguments.adapter
    adapter = "" if language == NONE else f"{template}-{language}"
    others = (adapter_place(adapter),) if adapter else ()
    with stage_project(root) as stage:
        written = write_project(project_files(template, adapter), root, others, stage)
        if adapter:
            folder = stage / adapter_place(adapter)
            names = _adapter(stage / charter_place(template), language, folder)
            written += [f"{adapter_place(adapter)}/{name}" for name in names]
    if arguments.json:
        out_json({"written": [str(root / path) for path in written]})
        return 0
    for path in written:
        out(str(root / path))
    if template != EXAMPLE and adapter:
        say(f"the adapter is a skeleton: complete it in {root / adapter_place(adapter)}")
    go = f"{shlex.join(['cd', arguments.name])} && " if arguments.name else ""
    say(f"next: {go}conform test")
    return 0


def _adapter(charter: Path, language: str, folder: Path) -> list[str]:
    """Write an adapter of the first component of a charter; returns its files."""
    model = load_charter(charter)
    made = api.adapter_files(model, language)
    files = {**made.skeleton, **made.types}
    wanted = Skeleton(language, id_from(folder.name), model.protocol, made.component, files)
    names = dict(write_skeleton(wanted, folder))
    if model.protocol == EXAMPLE:
        names |= write_example(language, folder)
    return sorted(names)
