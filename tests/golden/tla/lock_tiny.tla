------------------------------- MODULE lock_tiny -------------------------------
\* Written by `conform generate --backend tla`; do not edit.
EXTENDS lock

CONSTANTS a, b

InstanceInit ==
  /\ holder = None
  /\ queue = {}
  /\ term = 1
  /\ ticket = 0
  /\ count = 0
  /\ event = [branch |-> "", reply |-> None, turn |-> 0]

InstanceNext ==
  \/ \E c \in Client : \E seen \in Offers(Issued_Term, {}) : ask(c, seen.value)
  \/ leave
================================================================================
