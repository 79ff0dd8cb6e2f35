"""Chooses the names in TLA+ modules: one name space per module, without shadowing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words("""
    ACTION ASSUME ASSUMPTION AXIOM BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS
    DOMAIN ELSE ENABLED EXCEPT EXTENDS HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW
    OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE SUBSET SUFFICES
    TAKE TEMPORAL THEN THEOREM UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS TRUE FALSE
    BOOLEAN STRING
""")
STANDARD = _words("""
    Naturals Integers Sequences FiniteSets TLC Nat Int Seq Len Append Head Tail SubSeq SelectSeq
    IsFiniteSet Cardinality Print PrintT Assert JavaTime TLCGet TLCSet Permutations SortSeq
    RandomElement Any ToString TLCEval
""")
HELPERS = _words("""
    Charter None Holds Checked AnyOf Min Max NotEmpty OrNone Bounded Distinct Get Members Nth
    Take Drop Keep Option BoundedSeq AllSeqs Rankings Choices Rank Offer Offers OrOfferNone AtMost
    OffersOfMap SumOf
""")
OURS = _words("""
    Init vars event Answers Takes TypeOK Inside View InstanceInit InstanceNext self
""")
RESERVED = KEYWORDS | STANDARD | HELPERS | OURS


@dataclass(slots=True)
class TlaNames:
    """The names of a module and of those that it extends. Kinds of declarations (`kinds`) may share
    a name in the charter; here a name that is taken gets underscores."""

    taken: set[str] = field(default_factory=lambda: set(RESERVED))
    kinds: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, names: Iterable[str]) -> None:
        """Declares names of one kind."""
        for name in names:
            self.kinds[kind, name] = self.free(name.replace(".", "_"))
            self.taken.add(self.kinds[kind, name])

    def free(self, name: str) -> str:
        """`name` with as many underscores as make it unused."""
        while name in self.taken:
            name += "_"
        return name

    def of(self, kind: str, name: str) -> str:
        """The TLA+ name of a declaration."""
        return self.kinds[kind, name]

    def extend(self) -> TlaNames:
        """A copy for a module that extends this one."""
        return TlaNames(set(self.taken), dict(self.kinds))
