"""Writes the folder of an adapter: the SDK of its language, and the files made from a charter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from conform.console.errors import ConformError

_TARGET = "adapter.toml"


@dataclass(frozen=True, slots=True)
class Skeleton:
    """An adapter to be written: `files` are those of `charter.api.adapter_files`, types and
    skeleton, by their path in the folder."""

    language: str
    id: str
    protocol: str
    component: str
    files: Mapping[str, str]


def is_adapter(folder: Path) -> bool:
    """Whether a folder has an adapter."""
    return (folder / _TARGET).exists()


def write_skeleton(wanted: Skeleton, folder: Path) -> Mapping[str, str]:
    """Write the adapter into `folder`; returns its files by their path in it. Raises
    `ConformError` if there is an adapter or one of its files already, or if the folder cannot be
    written."""
    if is_adapter(folder):
        raise ConformError(f"{folder} has an adapter already: name another folder")
    texts = {**_texts(_templates("adapters", wanted.language)), **wanted.files}
    texts[_TARGET] = Template(texts[_TARGET]).substitute(
        id=wanted.id,
        title=f"{wanted.component} of {wanted.protocol}, in {wanted.language}",
        protocol=wanted.protocol,
        component=wanted.component,
    )
    for path in texts:
        if (folder / path).exists():
            raise ConformError(
                f"{folder / path} exists, and nothing is overwritten; name another folder"
            )
    return write_files(texts, folder)


def write_example(language: str, folder: Path) -> Mapping[str, str]:
    """Write the example, a lease service with two planted bugs, over the skeleton of an adapter of
    the charter `lease`; returns its files. Raises `ConformError`."""
    return write_files(_texts(_templates("examples", language)), folder)


def write_files(texts: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """Write texts by their path in `folder`; returns them. Raises `ConformError`."""
    try:
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConformError(f"{folder} cannot be written: {error.strerror}") from None
    return texts


def _templates(kind: str, language: str) -> Traversable:
    return resources.files("conform").joinpath("templates", kind, language)


def _texts(folder: Traversable) -> dict[str, str]:
    """The files below a folder, by their path in it."""
    return dict(sorted(_files(folder, "")))


def _files(folder: Traversable, inside: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        path = f"{inside}{entry.name}"
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _files(entry, f"{path}/")
        else:
            yield path, entry.read_text(encoding="utf-8")
