"""Determines which obligations of the rules a run was asked for, and why not for the others.

They are counted from the vectors that the run judged, not from the manifest of the suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pyarrow.compute as pc

from charter.formats.canonical import Json
from charter.formats.charter_files.obligations import (
    COVERED,
    INFEASIBLE,
    OPEN,
    UNREADABLE,
    LedgerFile,
    read_ledger,
    whole_sections,
)
from charter.formats.reading import mapping, own_list, own_number, own_object
from charter.formats.suite import Manifest
from charter.formats.target import OBLIGATIONS
from conform.console.errors import BadSuite
from conform.judging.model import is_of, sections_of
from conform.storage.arrow import pa
from conform.suites.cache import Suite

_SHARE = 10
"""A run is not fine if more than one obligation in so many is open."""
_SCENARIO = "scenario "
"""How a reason of a vector begins that is no obligation of the rules."""


class Gap(StrEnum):
    """Why a run was not asked for an obligation."""

    UNSEARCHED = "unsearched"
    """No search looked for a question, or it was of other rules."""
    NO_VECTOR = "no_vector"
    """The suite has no vector for it, although the ledger of the rules has one."""
    IN_VAIN = "in_vain"
    """A search looked for a question in vain."""
    LEFT_OUT = "left_out"
    """The caller left its vectors out."""
    ALLOWED = "allowed"
    """Its vectors were not judged, which adapter.toml allows."""
    LOST = "lost"
    """Its vectors were not judged."""
    UNCOUNTED = "uncounted"
    """The suite is a full one: it takes every transition of its instances, and nobody counted which
    of these meet it."""


Fate = Callable[[str], Gap | None]
"""Why a vector was not judged; None if it was."""


@dataclass(frozen=True, slots=True)
class AskedObligations:
    """How many obligations the rules have, how many of these a judged vector is about, how many are
    proved infeasible, and the others by what they lack: how many, and the names that are known.
    `allowed` is the reason for which adapter.toml allows to leave them open, "" for none."""

    every: int = 0
    asked: int = 0
    infeasible: int = 0
    left: Mapping[Gap, int] = field(default_factory=dict)
    names: Mapping[Gap, tuple[str, ...]] = field(default_factory=dict)
    allowed: str = ""

    @property
    def unasked(self) -> int:
        """How many are not asked, as far as that was counted."""
        return sum(count for gap, count in self.left.items() if gap is not Gap.UNCOUNTED)

    @property
    def too_few(self) -> bool:
        """Whether obligations are open that no search looked for, or too many in all. What is open
        only through vectors that were left out goes with these."""
        unsought = self.left.get(Gap.UNSEARCHED, 0) + self.left.get(Gap.NO_VECTOR, 0)
        return bool(unsought) or _SHARE * (unsought + self.left.get(Gap.IN_VAIN, 0)) > self.every

    @property
    def missing(self) -> bool:
        """Whether a run is not fine because of them."""
        return self.too_few and not self.allowed

    def tell(self) -> str:
        """How many are not asked, in words; "" for none. Those that were lost are not among them:
        a vector asked for them, which is told as not compared."""
        unasked = self.unasked - self.left.get(Gap.LOST, 0)
        if not unasked:
            return ""
        are, allowed = "is" if unasked == 1 else "are", " (allowed)" if self.allowed else ""
        return f"{unasked:,} of {self.every:,} obligations {are} not asked{allowed}"

    def json(self) -> dict[str, Json]:
        """The field `obligations` of summary.json."""
        left: dict[str, Json] = {
            str(gap): {"count": count, "names": [*self.names.get(gap, ())]}
            for gap, count in self.left.items()
        }
        return {
            "every": self.every,
            "asked": self.asked,
            "infeasible": self.infeasible,
            "left": left,
            "allowed": self.allowed,
        }


UNKNOWN = AskedObligations()
"""Those of a suite that has no ledger."""


def read_obligations(value: Json) -> AskedObligations:
    """What summary.json says; `UNKNOWN` for runs of earlier versions."""
    if not isinstance(value, dict):
        return UNKNOWN
    left, names = dict[Gap, int](), dict[Gap, tuple[str, ...]]()
    for name, gap in mapping(value.get("left")).items():
        held = own_object(gap)
        left[Gap(name)] = own_number(held["count"])
        names[Gap(name)] = tuple(map(str, own_list(held["names"])))
    every, asked, infeasible = (
        own_number(value[name]) for name in ("every", "asked", "infeasible")
    )
    return AskedObligations(every, asked, infeasible, left, names, str(value["allowed"]))


def ledger_of(manifest: Manifest) -> LedgerFile | None:
    """The ledger beside the model of a suite; None if it is of other rules, or is gone."""
    path = sections_of(manifest.models.charter)
    found = read_ledger(path) if path else None
    return found if found and found.spec_digest == manifest.spec_digest else None


def check_sections(manifest: Manifest) -> None:
    """Raises `BadSuite` if what is said of the charter beside the model of a suite (sections.json)
    is not as `conform generate` wrote it."""
    path = sections_of(manifest.models.charter)
    try:
        if path:
            whole_sections(path)
    except UNREADABLE as error:
        raise BadSuite(f"{path} cannot be read ({error}); `conform generate` writes it") from None


def count_obligations(suite: Suite, fate: Fate, allowed: Mapping[str, str]) -> AskedObligations:
    """The obligations of the rules of a suite, of which vectors with a `fate` were not judged;
    `allowed` is the table of adapter.toml."""
    manifest = suite.manifest
    if not manifest.counts.get(OBLIGATIONS):
        return UNKNOWN
    naming = {name: ids for name, ids in _naming(suite).items() if not name.startswith(_SCENARIO)}
    named = {name: _best(ids, fate) for name, ids in naming.items()}
    reason = allowed.get(OBLIGATIONS, "")
    book = ledger_of(manifest)
    if book is None:
        return _by_manifest(manifest, named, reason)
    return _count(book, named, reason, full=_is_full(manifest))


def _is_full(manifest: Manifest) -> bool:
    """Whether a suite has the transitions of instances."""
    return manifest.counts.get("states", 0) > 0


def _best(ids: list[str], fate: Fate) -> Gap | None:
    """What an obligation lacks that these vectors name; None if one of them was judged."""
    fates = [fate(name) for name in ids]
    order = (None, Gap.LEFT_OUT, Gap.ALLOWED, Gap.LOST)
    return min(fates, key=order.index)


def _count(
    book: LedgerFile, named: Mapping[str, Gap | None], allowed: str, *, full: bool
) -> AskedObligations:
    """The obligations of a ledger; `named` has those that vectors of the suite name."""
    names: dict[Gap, list[str]] = {}
    asked = infeasible = 0
    gaps = {COVERED: Gap.NO_VECTOR, OPEN: Gap.UNCOUNTED if full else Gap.IN_VAIN}
    otherwise = Gap.UNCOUNTED if full else Gap.UNSEARCHED
    for name, status in book.statuses.items():
        if name in named:
            gap = named[name]
        elif status == INFEASIBLE:
            infeasible += 1
            continue
        else:
            gap = gaps.get(status, otherwise)
        if gap is None:
            asked += 1
        else:
            names.setdefault(gap, []).append(name)
    left = {gap: len(names[gap]) for gap in Gap if gap in names}
    listed = {gap: tuple(names[gap]) for gap in left}
    return AskedObligations(len(book.statuses), asked, infeasible, left, listed, allowed)


def _by_manifest(
    manifest: Manifest, named: Mapping[str, Gap | None], allowed: str
) -> AskedObligations:
    """The same by the counts of the manifest, where the ledger is of other rules, or is gone: then
    nobody knows what a search looked for."""
    counts = manifest.counts
    infeasible, covered = counts["obligations_infeasible"], counts["obligations_covered"]
    names: dict[Gap, tuple[str, ...]] = {}
    for gap in Gap:
        if some := tuple(name for name, one in named.items() if one is gap):
            names[gap] = some
    left = {gap: len(some) for gap, some in names.items()}
    if covered > len(named):
        left[Gap.NO_VECTOR] = covered - len(named)
    if open_ones := counts["obligations_open"]:
        left[_open_gap(manifest)] = open_ones
    asked = sum(gap is None for gap in named.values())
    return AskedObligations(counts[OBLIGATIONS], asked, infeasible, left, names, allowed)


def _open_gap(manifest: Manifest) -> Gap:
    """Why an open obligation is not asked, where the ledger is not at hand. If only the ledger is
    gone, and the models are of these rules, nothing says that a search was made."""
    if _is_full(manifest):
        return Gap.UNCOUNTED
    is_own = is_of(manifest.models.charter, manifest.spec_digest)
    return Gap.UNSEARCHED if is_own else Gap.IN_VAIN


def _naming(suite: Suite) -> dict[str, list[str]]:
    """The ids of the vectors that name each reason. Raises `BadSuite`."""
    found: dict[str, list[str]] = {}
    for bucket in range(suite.buckets):
        columns = ["id", "obligations"]
        table = pa.parquet.read_table(suite.check(bucket), columns=columns, partitioning=None)
        few = table.filter(pc.greater(pc.list_value_length(table["obligations"]), 0))
        for row in few.to_pylist():
            for name in row["obligations"]:
                found.setdefault(name, []).append(row["id"])
    return found
