------------------------------- MODULE test_lock -------------------------------
\* Written by `conform generate --backend tla`; do not edit.
\* From the charter of test.lock.
\* S: A text
EXTENDS Charter

CONSTANTS Client, most

\* --- types ---------------------------------------------------------------------

Reply ==
  [case : {"granted"}, granted_value : Nat]
  \cup [case : {"refused"}, refused_value : Nat]
  \cup [case : {"Nothing"}]

\* --- rules ---------------------------------------------------------------------

\* Whether anybody waits.
\* cites S "2 (Waiting)"
waits(Next) == Next # {}
================================================================================
