"""Lists the operations that an adapter does not perform yet, and where to write the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.reading import own_list, own_object
from conform.adapters.targets import target
from conform.console.errors import ConformError
from conform.console.terminal import one_line
from conform.judging.refutations import explain_refusal
from conform.runs.conclusion import Finished

_FIRST_STATE = "step 0: "
"""Begins what is wrong with a first observation."""
_SOURCES = frozenset({".py", ".js", ".ts", ".go", ".rs", ".java", ".kt"})


def list_unwritten(finished: Finished) -> list[str]:
    """The operations that hello claims and that the adapter answers `unsupported`, as a skeleton
    does; first those that most vectors wait for."""
    sentences = {explain_refusal(name): name for name in finished.run.operations}
    details = [detail for detail, _ in trouble(finished)]
    return [sentences[detail] for detail in details if detail in sentences]


def trouble(finished: Finished) -> Iterator[tuple[str, dict[str, Json]]]:
    """How the adapter failed: the sentence, and the entry of summary.json."""
    for item in map(own_object, own_list(finished.summary["adapter_trouble"])):
        yield str(item["detail"]), item


def list_other_trouble(finished: Finished, missing: Sequence[str]) -> list[dict[str, Json]]:
    """How the adapter failed apart from these operations. Where it performs none, walks show that
    `observe` is not written either, which `next_step` says."""
    refusals = {explain_refusal(name) for name in missing}
    found = [(detail, item) for detail, item in trouble(finished) if detail not in refusals]
    if len(missing) < len(finished.run.operations):
        return [item for _, item in found]
    return [item for detail, item in found if not detail.startswith(_FIRST_STATE)]


def next_step(finished: Finished, missing: list[str]) -> str:
    """What to write next."""
    operations, first, others = finished.run.operations, missing[0], len(missing) - 1
    where = _place(finished.run.found_by, first)
    rest = f" ({', '.join(missing[1:])} later)" if others else ""
    return (
        f"  the adapter does not perform {len(missing)} of {len(operations)} operations yet\n"
        f"  next: write `{first}`{where}, and what it needs of `start` and `observe`; then repeat"
        f" the command{rest}\n"
        "  if the implementation lacks an operation: take it out of what hello claims, and allow"
        f' that in adapter.toml, under [not_compared]: "unsupported {one_line(first)}" = "why"'
    )


def allowing(*names: str) -> str:
    """How a run is fine without what has these names: the end of a sentence, with lines for
    adapter.toml that can be copied."""
    listed = "".join(f'\n    "{one_line(name)}" = "why"' for name in names)
    return f"or allow it by a reason in adapter.toml, under [not_compared]:{listed}"


def list_denied(finished: Finished, listed: Iterable[Mapping[str, Json]]) -> list[str]:
    """The capabilities that hello claims and an answer in `listed`, entries of summary.json, calls
    unsupported."""
    details = {str(item["detail"]) for item in listed}
    return [name for name in finished.run.capabilities if explain_refusal(name) in details]


def _place(wanted: str, operation: str) -> str:
    """Where the skeleton of a target says that an operation is unsupported."""
    try:
        folder = target(wanted).folder
    except ConformError:
        return ""
    quoted = (f'"{operation}"', f"'{operation}'")
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _SOURCES):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            if "unsupported" in line.lower() and any(name in line for name in quoted):
                shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
                return f" in {one_line(str(shown))}, line {number}"
    return ""
