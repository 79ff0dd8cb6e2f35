"""Uses Z3 for what explicit search cannot do:

`reach`: runs from the initial state, shortest first. `single_step`: a transition from any state
that meets an obligation; `find_shadowed`: branches that earlier guards make unreachable.
`induction`, `invariants`: properties that every step preserves, for all values of counters.
`distinguish`: the first difference between two models.

Every state, run and step in an answer has been replayed on the definition; `ReplayError` means
that the encoder has a bug. `CannotEncode` is raised for what the encoding does not cover.
"""

from charter.prove.distinguish import (
    Compared,
    Difference,
    NoDifference,
    PairQuestion,
    Unclear,
    distinguish,
)
from charter.prove.induct import (
    FalseInitially,
    Inducted,
    Invariants,
    NotInductive,
    NotProved,
    Proved,
    induction,
    invariants,
)
from charter.prove.program import EncodingOptions
from charter.prove.reach import (
    Goal,
    Holds,
    Meets,
    NotWithinDepth,
    Open,
    Reached,
    Takes,
    Trace,
    Violates,
    reach,
)
from charter.prove.replay import ReplayError, SolverTransition
from charter.prove.single_step import (
    Answered,
    Infeasible,
    SingleStep,
    StepQuestion,
    Undecided,
    find_shadowed,
    single_step,
)
from charter.prove.solve import RLIMIT
from charter.prove.values import CannotEncode

__all__ = [
    "RLIMIT",
    "Answered",
    "CannotEncode",
    "Compared",
    "Difference",
    "EncodingOptions",
    "FalseInitially",
    "Goal",
    "Holds",
    "Inducted",
    "Infeasible",
    "Invariants",
    "Meets",
    "NoDifference",
    "NotInductive",
    "NotProved",
    "NotWithinDepth",
    "Open",
    "PairQuestion",
    "Proved",
    "Reached",
    "ReplayError",
    "SingleStep",
    "SolverTransition",
    "StepQuestion",
    "Takes",
    "Trace",
    "Unclear",
    "Undecided",
    "Violates",
    "distinguish",
    "find_shadowed",
    "induction",
    "invariants",
    "reach",
    "single_step",
]
