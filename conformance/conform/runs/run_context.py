"""Holds the data that a worker needs to judge buckets of a run; texts and numbers only, since it is
serialised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, auto

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.run_description import NO_WALKS, WalkSettings
from charter.formats.types import JudgedTypes
from conform.adapters.base import AdapterStart
from conform.judging.verdict import VectorItem
from conform.runs.crosschecks.cross_plan import NO_CROSSCHECKS, CrossPlan
from conform.runs.followed.followed_questions import NOTHING_FOLLOWED, FollowedQuestions


class RunPart(Enum):
    """What a run judges: vectors of its suite, walks, questions that go on, cross-checks,
    remembered questions."""

    SUITE = auto()
    WALKS = auto()
    FOLLOWED = auto()
    CROSSCHECKS = auto()
    REMEMBERED = auto()


@dataclass(frozen=True, slots=True)
class RunContext:
    """The settings of one run for its workers.

    `place` is the run's folder, absolute. `folders` are those with generated models, in the
    order of search (none: those that Python finds). `files` are the files and folders, absolute,
    that the adapter needs and workers without them are sent. `model` is the module of the charter's
    model ("" for none), `entries` maps overlay entries to modules of sibling models.
    `variables` are those of the charter's widest level, empty if not known. `limit` vectors of
    each bucket are judged, 0 for all. `canaries` are vectors that tell mutants from the
    charter, by module. `forgetful` are vectors that show it if an operation is forgotten, by
    operation, for a charter without mutants. `started` is when the run began (seconds since the
    epoch). `reference`: whether the suite was made from the charter of the generated model, which
    must then conform. `types` are those of replies and observations, if the suite has them;
    `component` is what questions say of the component, `prefixes` are questions from the first
    state, which walks may begin with.

    `walks` are those of the run, whose buckets come after the `suite_buckets`; after them come
    those in which questions of the suite go on (`followed`), then those of `crosschecks`. The last
    bucket is that of the `remembered` questions, if there are any.

    `only` are the vectors to judge (None: all); the inline engine asks those in `failed` first.
    `controls` are used for canaries of a bucket in which no vector conforms. `first`: nothing more
    is asked after a finding that is neither explained nor in `known`.
    """

    run: str
    place: str
    start: AdapterStart
    _: KW_ONLY
    model: str = ""
    entries: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    limit: int = 0
    canaries: Mapping[str, tuple[VectorItem, ...]] = field(default_factory=dict)
    forgetful: Mapping[str, tuple[VectorItem, ...]] = field(default_factory=dict)
    started: float = 0.0
    reference: bool = True
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    types: JudgedTypes | None = None
    only: frozenset[str] | None = None
    failed: frozenset[str] = frozenset()
    controls: tuple[VectorItem, ...] = ()
    first: bool = False
    known: frozenset[str] = frozenset()
    walks: WalkSettings = NO_WALKS
    followed: FollowedQuestions = NOTHING_FOLLOWED
    crosschecks: CrossPlan = NO_CROSSCHECKS
    suite_buckets: int = 0
    component: Mapping[str, Json] = field(default_factory=dict)
    prefixes: tuple[bytes, ...] = ()
    remembered: tuple[VectorItem, ...] = ()

    @property
    def first_crosscheck(self) -> int:
        """The number of the first bucket of cross-checks."""
        return self.suite_buckets + self.walks.blocks + self.followed.blocks

    @property
    def last_bucket(self) -> int:
        """The number of the bucket with remembered questions."""
        return self.first_crosscheck + self.crosschecks.blocks

    def find_part(self, bucket: int) -> RunPart:
        """The part of the run that a bucket belongs to."""
        if bucket < self.suite_buckets:
            return RunPart.SUITE
        if bucket < self.suite_buckets + self.walks.blocks:
            return RunPart.WALKS
        if bucket < self.first_crosscheck:
            return RunPart.FOLLOWED
        return RunPart.CROSSCHECKS if bucket < self.last_bucket else RunPart.REMEMBERED

    @property
    def opaque(self) -> OpaqueTypes:
        """The types by which labels count."""
        return OpaqueTypes.of(self.types)
