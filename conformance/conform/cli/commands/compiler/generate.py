"""`conform generate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from charter import api
from charter.formats.project import Project
from charter.formats.target import id_from
from conform.adapters.projects import project_here
from conform.adapters.targets import targets_of
from conform.cli.output.charters import Errors, exit_code, read_rest
from conform.cli.output.overlay import overlay_warnings
from conform.console.errors import ConformError
from conform.console.files import refuse_other, write_folder
from conform.console.terminal import out, out_json, plural, say
from conform.project.skeletons import Skeleton, is_adapter, write_files, write_skeleton
from conform.storage.lease import in_turn

EXAMPLES = """examples:
  conform generate
  conform generate --check
  conform generate --backend tla spec/examples/primary_backup.charter --instance tiny
  conform generate --backend handbook spec/kafka --out build/handbook
  conform generate --adapter go spec/lease.charter --out adapters/lease

Without --backend: writes generated/ of the project from its charters and adapters. Exit code 0:
it is up to date; 1: with --check something is stale, or a charter has errors. `conform vectors
--profile full` without --out writes the counts of a full suite (full.json); this command only
checks that they belong to the present charter, its instances, searches and small suite.

With --backend tla: writes a charter as TLA+ modules and cfgs for TLC into a folder (default:
build/tla). Exit code 1: the charter has errors, or the export does not support it.

With --backend handbook: writes a charter as a static site (default: build/handbook), or with
--format markdown as Markdown: a page for each file, with its prose, each rule with its sources and
where it is used, a picture of each scenario, a table of the properties, and what cites each section
of the sources. Exit code 1: the charter has errors.

With --adapter: writes the types of a component for an adapter in that language into the adapter's
folder (default: build/adapter-LANGUAGE). A folder without adapter.toml also gets all else that an
adapter needs: a skeleton to complete, the SDK, and adapter.toml.

A folder that holds anything but an earlier result of the same kind is refused.

With --backend and --adapter, exit code 2: all is written, but without scenarios, instances and
mutants that have errors, which is told. generated/ is written only if no charter has errors.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "charter",
        type=Path,
        nargs="?",
        help="with --backend or --adapter: a charter, file or folder",
    )
    parser.add_argument(
        "--backend", choices=["tla", "handbook"], help="what to write of one charter"
    )
    parser.add_argument(
        "--adapter", choices=api.LANGUAGES, help="write the types for an adapter in a language"
    )
    parser.add_argument(
        "--component", default="", help="with --adapter: a component, not the first"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the folder (default: build/tla or build/handbook, then -VARIANT and -MUTANT;"
        " build/adapter-LANGUAGE)",
    )
    parser.add_argument(
        "--format",
        choices=["html", "markdown"],
        help="with --backend handbook: a site, or Markdown (default: html)",
    )
    parser.add_argument("--instance", default="", help="with --backend tla: one instance, not all")
    parser.add_argument("--variant", default="", help="with --backend: a variant of the charter")
    parser.add_argument("--mutant", default="", help="with --backend: a mutant of the charter")
    parser.add_argument("--check", action="store_true", help="change nothing, show what is stale")
    parser.add_argument(
        "--root", type=Path, help="the project (default: the one around the working folder)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.format is not None and arguments.backend != "handbook":
        raise ConformError("--format is for --backend handbook")
    if arguments.backend is not None:
        return _export(arguments)
    if arguments.adapter is not None:
        return _adapter(arguments)
    alone = ("charter", "out", "instance", "variant", "mutant", "component")
    if any(getattr(arguments, name) for name in alone):
        raise ConformError(
            "a charter and its options need --backend or --adapter; without them `conform generate`"
            " writes generated/ of a whole project, from the charters in its spec/ (`conform init`"
            " makes one)"
        )
    project = project_here(arguments.root)
    if not project.charters.is_dir():
        raise ConformError(f"{project.charters} does not exist; charters of the project lie there")
    try:
        if arguments.check:
            return _check(project, arguments.json)
        from charter.api import generated

        with writing_into(project):
            changed = generated.write(project)
    except (api.Missing, api.Unreadable) as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        raise _errors("nothing was generated", refused) from None
    for chosen in targets_of(project):
        for warning in overlay_warnings(chosen):
            say(warning)
    name = project.relative(project.generated)
    if arguments.json:
        out_json({"changed": [*changed]})
    else:
        for path in changed:
            out(f"{name}/{path}")
        say(f"{plural(len(changed), 'file')} changed" if changed else f"{name}/ is up to date")
        if counts := generated.explain_outdated(project):
            say(counts)
        for told in generated.unsearched_suites(project):
            say(told)
    return 0


def writing_into(project: Project) -> AbstractContextManager[None]:
    """A context in which no other `conform test` or `conform generate` writes into a project. Says
    it where that has to be waited for."""
    told = f"another command writes into {project.root}: waiting until it ends"
    return in_turn(project.root, lambda: say(told))


def _export(arguments: argparse.Namespace) -> int:
    if arguments.charter is None or arguments.check:
        raise ConformError("--backend takes a charter, and no --check: name a file or a folder")
    edits = [name for name in (arguments.variant, arguments.mutant) if name]
    folder: Path = arguments.out or Path("build") / "-".join([arguments.backend, *edits])
    if arguments.backend == "handbook" and arguments.instance:
        raise ConformError("a handbook is of all instances; --instance is for --backend tla")
    selection = api.Selection(arguments.variant, arguments.mutant)
    rest = read_rest(arguments.charter, selection, arguments.instance or "*")
    if arguments.backend == "handbook":
        files = _handbook(arguments, selection, rest)
    else:
        files = _tla(arguments, rest.model)
    write_folder(folder, files)
    _tell_written(folder, files, arguments.json)
    return exit_code(0, rest.broken)


def _tla(arguments: argparse.Namespace, model: api.Model) -> dict[str, str]:
    try:
        files, warnings = api.export_tla(model, arguments.instance)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        raise _errors("nothing was written", refused) from None
    for warning in warnings:
        say(warning.show())
    return files


def _handbook(
    arguments: argparse.Namespace, selection: api.Selection, rest: api.LoadedRest
) -> dict[str, str]:
    from charter.api.handbook import handbook

    try:
        return handbook(arguments.charter, arguments.format or "html", selection, rest)
    except (api.Missing, api.Unreadable) as error:
        raise ConformError(str(error)) from None
    except api.Refused as refused:
        raise _errors("nothing was written", refused) from None


def _adapter(arguments: argparse.Namespace) -> int:
    if arguments.charter is None or arguments.check:
        raise ConformError("--adapter takes a charter, and no --check: name a file or a folder")
    rest = read_rest(arguments.charter, api.Selection(arguments.variant, arguments.mutant))
    folder: Path = arguments.out or Path("build") / f"adapter-{arguments.adapter}"
    try:
        made = api.adapter_files(rest.model, arguments.adapter, arguments.component)
    except (api.Missing, api.SameName) as error:
        raise ConformError(str(error)) from None
    files = made.types
    if is_adapter(folder):
        for path, text in files.items():
            refuse_other(folder / path, text)
        write_files(files, folder)
    else:
        files = write_skeleton(
            Skeleton(
                language=arguments.adapter,
                id=id_from(folder.resolve().name),
                protocol=rest.model.protocol,
                component=made.component,
                files={**made.skeleton, **made.types},
            ),
            folder,
        )
    _tell_written(folder, files, arguments.json)
    return exit_code(0, rest.broken)


def _tell_written(folder: Path, files: Iterable[str], as_json: bool) -> None:
    paths = [(folder / name).as_posix() for name in files]
    if as_json:
        out_json({"written": [*paths]})
    else:
        for path in paths:
            out(path)


def _errors(what: str, refused: api.Refused) -> Errors:
    """Shows the errors; returns the exception to raise."""
    for item in refused.diagnostics:
        out(item.show())
    return Errors(f"{what}: {refused}")


def _check(project: Project, as_json: bool) -> int:
    from charter.api import generated

    stale = generated.stale(project)
    if as_json:
        out_json({"stale": stale})
    elif stale:
        out(stale.rstrip())
    return 1 if stale else 0
