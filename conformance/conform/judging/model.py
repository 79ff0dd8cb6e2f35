"""Defines the interface of the generated models (charter_models.<protocol>.<component>) for the
judge.

A complete model has the functions for the judge in a module of their own (`..._wire`); a model that
is stored as its difference from another has them itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from charter.formats import canonical
from charter.formats.canonical import Json
from conform.console.errors import BadSuite, ModelBug

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "charter_models"
"""The package of all generated models."""

WIRE = "_wire"
"""The suffix of the module with the JSON form of a model."""

SECTIONS = ".sections.json"
"""The end of the names of files that describe charters, which lie beside their models."""

EXPORTS = (
    "PROTOCOL", "VARIANT", "COMPONENT", "SPEC_DIGEST",
    "initial", "outcomes", "encode", "decode", "observe", "given",
)  # fmt: skip
"""What the module of each model has."""

Sorts = Mapping[str, Sequence[str]]
"""The elements of each sort, by name."""

World = tuple[Sorts, Mapping[str, int]]
"""The elements of each sort, and the values of constants, of a question."""


class ModelOutcome(Protocol):
    """One allowed outcome of an operation. The reply is JSON."""

    @property
    def branch(self) -> str: ...
    @property
    def reply(self) -> Json: ...
    @property
    def state(self) -> object: ...


class KnownFault(Protocol):
    """A known fault of a target: an exception of this class whose message contains `saying`."""

    @property
    def branch(self) -> str: ...
    @property
    def exception(self) -> str: ...
    @property
    def saying(self) -> str: ...


class JudgeModel(Protocol):
    """The functions of a model. Arguments and replies are JSON (opaque values `"@n"`, elements by
    name), states are the model's own; `encode` gives all of a state as JSON, `observe` the
    observable part."""

    PROTOCOL: str
    VARIANT: str
    COMPONENT: str
    SPEC_DIGEST: str

    def initial(self, sorts: Sorts, consts: Mapping[str, int] = ..., /) -> object: ...
    def outcomes(
        self, state: object, operation: str, args: Mapping[str, Json]
    ) -> Sequence[ModelOutcome]: ...
    def encode(self, state: object) -> Json: ...
    def decode(self, value: Json, sorts: Sorts, consts: Mapping[str, int] = ..., /) -> object: ...
    def observe(self, state: object) -> Json: ...
    def given(self, value: Json, sorts: Sorts, consts: Mapping[str, int] = ..., /) -> object: ...


def assumes(model: JudgeModel, state: object, operation: str, args: Mapping[str, Json]) -> bool:
    """Whether the assumptions of an operation hold, so that a judge may ask it."""
    holds = getattr(model, "assumed", None)
    return holds is None or bool(holds(state, operation, args))


def can_fail(model: JudgeModel) -> bool:
    """Whether a model has known faults: only models of overlay entries with faults export
    `fails`."""
    return hasattr(model, "fails")


def fails(
    model: JudgeModel, state: object, operation: str, args: Mapping[str, Json]
) -> Sequence[KnownFault]:
    """The known faults of an operation in a state, from a model that `can_fail`."""
    export = cast("_CanFail", model)
    return export.fails(state, operation, args)


def is_thrown(fault: KnownFault, thrown: Json) -> bool:
    """Whether a reply is this exception: of the same class, with the text in its message."""
    if not isinstance(thrown, dict) or thrown.get("fault") != fault.exception:
        return False
    message = thrown.get("message")
    return fault.saying in (message if isinstance(message, str) else "")


class _CanFail(Protocol):
    def fails(
        self, state: object, operation: str, args: Mapping[str, Json]
    ) -> Sequence[KnownFault]: ...


def images(
    model: JudgeModel, state: object, operation: str, args: Mapping[str, Json]
) -> Sequence[ModelOutcome]:
    """What an image shows after an operation, from a model whose OPERATIONS have such a name."""
    export = cast("_KnowsImages", model)
    return export.images(state, operation, args)


class _KnowsImages(Protocol):
    def images(
        self, state: object, operation: str, args: Mapping[str, Json]
    ) -> Sequence[ModelOutcome]: ...


def may_differ(model: JudgeModel, operation: str) -> bool:
    """Whether an operation of an overlay entry's model may have other outcomes than the charter's:
    a model that was made from an entry alone names those that do."""
    changes = getattr(model, "CHANGES", None)
    return changes is None or operation in str(changes).split()


def can_take_over(model: JudgeModel, charter: JudgeModel) -> bool:
    """Whether a model has the types of the charter's, and takes over its states: a sibling that is
    stored as its difference names the model whose types it has."""
    types = getattr(model, "TYPES_OF", None)
    if types is None:
        return False
    of_charter = getattr(charter, "TYPES_OF", None)
    return bool(types == (name_of(charter) if of_charter is None else of_charter))


def take_over(model: JudgeModel, state: object) -> object:
    """A state of the charter's model as one of a model that `can_take_over`."""
    export = cast("_TakesOver", model)
    return export.take_over(state)


def give_back(state: object, like: object) -> object:
    """A state of a model that `can_take_over`, as one of the charter's, such as `like`."""
    fields: tuple[str, ...] = getattr(type(like), "__match_args__", ())
    make = cast("Callable[..., object]", type(like))
    return make(*(getattr(state, name) for name in fields))


class _TakesOver(Protocol):
    def take_over(self, state: object) -> object: ...


def name_of(model: JudgeModel) -> str:
    """The module of a model."""
    return str(getattr(model, "__name__", type(model).__name__)).removesuffix(WIRE)


def bug_of(
    model: JudgeModel, question: Mapping[str, Json], operation: str, error: Exception
) -> ModelBug:
    """A bug of a model, with the question that shows it."""
    where = f"at {operation}" if operation else "where a state is read or shown"
    return ModelBug(
        f"the generated model {name_of(model)} fails {where}, in vector"
        f" {canonical.digest(dict(question))} ({type(error).__name__}: {error}); this is a bug of"
        " the model and no finding about the target: run `conform generate`, and report it if it"
        " stays"
    )


def is_of(module: str, spec_digest: str) -> bool:
    """Whether `module` is the model of the charter with this digest."""
    return bool(module) and spec_digest == load(module).SPEC_DIGEST


def use_folders(folders: Sequence[str]) -> None:
    """Make the generated models below these folders, and no others, importable in this process; the
    first folder that has a model counts. Without folders Python's own path counts."""
    importlib.invalidate_caches()
    places = [f"{folder}/{PACKAGE}" for folder in folders]
    known = sys.modules.get(PACKAGE)
    if not folders or (known is not None and list(known.__path__) == places):
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    spec = ModuleSpec(PACKAGE, None, is_package=True)
    spec.submodule_search_locations = places
    sys.modules[PACKAGE] = module_from_spec(spec)


def load(module: str) -> JudgeModel:
    """The model in `module`. Raises `BadSuite` if there is none, or if the module is none."""
    found = _import(module)
    missing = [name for name in EXPORTS if not hasattr(found, name)]
    if missing:
        raise BadSuite(
            f"the suite names the model {module}, but that module has no {missing[0]}, so it is no"
            " generated model: name the model in the suite's manifest, or run `conform generate`"
        )
    return cast("JudgeModel", found)


def _import(module: str) -> ModuleType:
    try:
        return importlib.import_module(module + WIRE if find_spec(module + WIRE) else module)
    except ImportError as error:
        raise BadSuite(
            f"the suite names the model {module}, which cannot be imported ({error}): call the"
            " command in the project of its charter, or name a suite or the folder of a target"
            f" there, after `conform generate`; searched: {_describe_folders()}"
        ) from None


def load_file(module: str, path: Path) -> JudgeModel:
    """The model in a file outside of the folders with models, as the module of this name."""
    spec = spec_from_file_location(module, path)
    assert spec is not None and spec.loader is not None
    made = module_from_spec(spec)
    sys.modules[module] = made  # a sibling model looks itself up while it runs
    spec.loader.exec_module(made)
    return cast("JudgeModel", made)


def sections_of(module: str) -> Path | None:
    """The sections.json beside the model in `module`; None if there is none."""
    from pathlib import Path

    try:
        found = find_spec(module) if module else None
    except ImportError:
        return None
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).with_suffix(SECTIONS)
    return path if path.exists() else None


def _describe_folders() -> str:
    """The folders in which models are searched, as a person reads them."""
    from pathlib import Path  # with hashlib a tenth of the start of the reference

    package = sys.modules.get(PACKAGE)
    places = [str(Path(place).parent) for place in getattr(package, "__path__", ())]
    return " or ".join(places) or "Python's path"


def digest(modules: Collection[str]) -> str:
    """A digest of the text of models and of what a report says of their charters (sections.json):
    20 hex digits over all files of their packages, since models share code. Raises `BadSuite` for a
    missing module."""
    import hashlib
    from pathlib import Path

    from charter.formats.files import files_below

    folders: set[Path] = set()
    for module in modules:
        _import(module)
        package = sys.modules[module.partition(".")[0]]
        folders |= {Path(place) for place in getattr(package, "__path__", ())}
    found = hashlib.sha256(" ".join(sorted(modules)).encode())
    for path in (file for folder in sorted(folders) for file in files_below(folder)):
        if path.name.endswith((".py", SECTIONS)):
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:20]


def world_of(question: Mapping[str, Json]) -> World:
    """The sorts of a question without their concrete ids, and its constants."""
    ids = cast("Mapping[str, Mapping[str, int]]", question["sorts"])
    return element_names(ids), cast("Mapping[str, int]", question.get("consts", {}))


def element_names(sorts: Mapping[str, Mapping[str, int]]) -> dict[str, tuple[str, ...]]:
    """The elements of a question's sorts, without their concrete ids."""
    return {sort: tuple(ids) for sort, ids in sorts.items()}
