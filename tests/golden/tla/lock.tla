--------------------------------- MODULE lock ----------------------------------
\* Written by `conform generate --backend tla`; do not edit.
EXTENDS test_lock

VARIABLES
  \* Who holds it.
  holder,
  queue,
  term,
  ticket,
  \* ghost
  count,
  \* What was done last, for reading and for properties of transitions; not part
  \* of the protocol's state (see View). Its turn changes with every step.
  event

vars == <<holder, queue, term, ticket, count, event>>

TypeOK ==
  /\ holder \in Option(Client)
  /\ queue \in SUBSET Client
  /\ term \in Nat
  /\ ticket \in Nat
  /\ count \in 0..most

Answers(branch, reply) ==
  event' = [branch |-> branch, reply |-> reply, turn |-> 1 - event.turn]

Init ==
  /\ holder = None
  /\ queue = {}
  /\ term = 0
  /\ ticket = 0
  /\ count = 0
  /\ event = [branch |-> "", reply |-> None, turn |-> 0]

\* --- operations ----------------------------------------------------------------

\* A client asks.
\* cites S "1"
ask(c, seen) ==
  LET next == ticket + 1
      old == seen < term \/ (seen = term /\ holder = c)  \* behind
      held == holder # None  \* taken
  IN  IF old \/ held
      THEN \/ \* old: cites S "1.1"
              \* It was told before.
              /\ Holds(old)
              /\ Answers("ask/old", [case |-> "refused", refused_value |-> term])
              /\ UNCHANGED <<holder, queue, term, ticket, count>>
           \/ \* held
              /\ Holds(held)
              /\ queue' = queue \cup {c}
              /\ Answers("ask/held", [case |-> "Nothing"])
              /\ UNCHANGED <<holder, term, ticket, count>>
      ELSE \* given
           /\ holder' = c
           /\ ticket' = next
           /\ term' = term + 1
           /\ Answers("ask/given", [case |-> "granted", granted_value |-> next])
           /\ UNCHANGED <<queue, count>>

leave ==
  IF waits(queue)
  THEN \* passed
       \E heir \in OrNone(queue) :
         /\ holder' = heir
         /\ queue' = {c \in queue : c # heir}
         /\ Answers("leave/passed", [case |-> "Nothing"])
         /\ UNCHANGED <<term, ticket, count>>
  ELSE \* free
       /\ holder' = None
       /\ Answers("leave/free", [case |-> "Nothing"])
       /\ UNCHANGED <<queue, term, ticket, count>>

\* --- what must hold, and what must be reachable --------------------------------

\* always cites S "3"
count_small == count <= most

\* stepwise
terms == term <= term'

\* witness
queued == event'.branch = "ask/held" /\ (\E c \in Client : c \in queue')

\* --- for TLC -------------------------------------------------------------------

\* A step to a state that is not Inside leaves the instance: TLC neither counts nor follows the
\* state, and nothing is asked of it. Such a step is no deadlock.
Inside ==
  /\ count \in 0..most

Check_TypeOK == Inside => TypeOK
Check_count_small == Inside => count_small
Check_terms == [][Inside' => terms]_(event.turn)
Not_queued == [][Inside' => ~queued]_(event.turn)

Issued_Term == {term}

Issued_Ticket == {ticket}

Places_Ticket(value) == IF ticket = value THEN {<<"ticket">>} ELSE {}

\* VIEW of the cfg: TLC takes two states for one if their View is equal. What was done last is
\* no part of it.
\* States that differ only by the names of counter values behave alike, and are one state.
\* Term: by rank, because their order is looked at.
\* Ticket: by the places where the state holds them.
View ==
  <<holder,
    queue,
    Rank(Issued_Term, -1, term),
    Places_Ticket(ticket),
    count>>
================================================================================
