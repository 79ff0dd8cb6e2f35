------------------------------- MODULE Charter -------------------------------
\* What every module that `conform generate --backend tla` writes leans on: Charter's built-in
\* functions. Generated; do not edit.
EXTENDS Integers, Sequences, FiniteSets, TLC

\* `none`. An option is None or the value itself.
CONSTANT None

\* TLC reads a condition at the head of an action as alternatives where it finds \/ or \E in it.
\* Inside Holds it is one value.
Holds(condition) == condition = TRUE

\* --- partial functions: where Charter has no value, TLC stops ---------------------------------

Checked(condition, value) == IF condition THEN value ELSE Assert(FALSE, "there is no value")
AnyOf(S) == CHOOSE x \in S : TRUE
Min(S) == IF S = {} THEN Assert(FALSE, "min of an empty set")
          ELSE CHOOSE x \in S : \A y \in S : x <= y
Max(S) == IF S = {} THEN Assert(FALSE, "max of an empty set")
          ELSE CHOOSE x \in S : \A y \in S : x >= y
SumOf(f) == LET RECURSIVE Over(_)
                Over(S) == IF S = {} THEN 0 ELSE LET x == AnyOf(S) IN f[x] + Over(S \ {x})
            IN  Over(DOMAIN f)
NotEmpty(S) == IF S = {} THEN Assert(FALSE, "nothing to pick") ELSE S
OrNone(S) == IF S = {} THEN {None} ELSE S
Bounded(s, limit) == IF Len(s) <= limit THEN s
                     ELSE Assert(FALSE, "the sequence grows past its limit")
Distinct(s) == IF \A i, j \in DOMAIN s : s[i] = s[j] => i = j THEN s
               ELSE Assert(FALSE, "a ranking holds nothing twice")
Get(f, key) == IF key \in DOMAIN f THEN f[key] ELSE Assert(FALSE, "not a key of the map")

\* --- sequences and rankings; positions count from 0 --------------------------------------------

Members(s) == {s[i] : i \in DOMAIN s}
Nth(s, position) == s[position + 1]
Take(s, n) == SubSeq(s, 1, IF n < Len(s) THEN n ELSE Len(s))
Drop(s, n) == SubSeq(s, IF n > 0 THEN n + 1 ELSE 1, Len(s))
Keep(s, S) == SelectSeq(s, LAMBDA x : x \in S)

\* --- types --------------------------------------------------------------------------------------

Option(T) == T \cup {None}
BoundedSeq(T, limit) == {s \in Seq(T) : Len(s) <= limit}
\* The same, for TLC to go through.
AllSeqs(T, limit) == UNION {[1..n -> T] : n \in 0..limit}
Rankings(T) == {s \in AllSeqs(T, Cardinality(T)) : \A i, j \in DOMAIN s : s[i] = s[j] => i = j}

\* One member of each set: `pick x for k in K in S(k)`.
Choices(sets) == {f \in [DOMAIN sets -> UNION {sets[k] : k \in DOMAIN sets}] :
                    \A k \in DOMAIN sets : f[k] \in sets[k]}

\* --- counters -----------------------------------------------------------------------------------

\* The rank of a counter's value among those that a state holds. Numbers up to `low`, which the
\* charter mentions, stay what they are.
Rank(values, low, x) == IF x <= low THEN x ELSE low + Cardinality({v \in values : low < v /\ v <= x})

\* What an environment offers for a counter: the values that the state holds `here`, under a key
\* that stands in the same argument list (where it holds none there: all of them); and as foreign
\* ones the newest of the others, the newest that was skipped, and one never issued. An argument
\* list has at most one foreign value.
Offer(value, foreign) == [value |-> value, foreign |-> foreign]
Offers(all, here) ==
  LET current == IF here = {} THEN all ELSE here
      newest == IF all = {} THEN -1 ELSE Max(all)
      others == all \ current
      skipped == {v \in 0..(newest - 1) : v \notin all}
  IN  {Offer(v, 0) : v \in current}
        \cup (IF others = {} THEN {} ELSE {Offer(Max(others), 1)})
        \cup (IF skipped = {} THEN {} ELSE {Offer(Max(skipped), 1)})
        \cup {Offer(newest + 1, IF current = {} THEN 0 ELSE 1)}
\* The same, and as foreign ones the `numbers` that the rules compare with, and the `ahead` values
\* after the newest.
OffersAlso(all, here, numbers, ahead) ==
  LET found == Offers(all, here)
      newest == IF all = {} THEN -1 ELSE Max(all)
      more == numbers \cup ((newest + 1)..(newest + ahead))
  IN  found \cup {Offer(v, 1) : v \in more \ {o.value : o \in found}}
OrOfferNone(offers) == {Offer(None, 0)} \cup offers
AtMost(offers, budget) == {o \in offers : o.foreign <= budget}

\* For a map from keys to optional counters: all current or all none, or one differs (foreign).
OffersOfMap(offers) ==
  LET now == [k \in DOMAIN offers |-> Max({o.value : o \in AtMost(offers[k], 0)})]
      without == [k \in DOMAIN offers |-> None]
      values(k) == {o.value : o \in offers[k]} \cup {None}
      but(all) == UNION {{[all EXCEPT ![k] = v] : v \in values(k)} : k \in DOMAIN offers}
  IN  {Offer(now, 0), Offer(without, 0)}
        \cup {Offer(map, 1) : map \in (but(now) \cup but(without)) \ {now, without}}
================================================================================
