"""Texts with a cursor, for tests of what an editor asks."""

from __future__ import annotations

from charter.diagnostics import Span
from charter.ide.workspace import Snapshot, Workspace

FILE = "nowhere/lease.charter"
LEASE = """protocol test.lease
source DOC "The manual" at "https://example.org/doc" { "§2": "grant" }
sort Client
counter Token
const most: int 0..9
enum Status { FREE, HELD }
-- What is known of a lock.
record Lock { owner: option Client, token: Token, uses: int 0..most }
union Answer { granted(token: Token), refused(status: Status) }
-- Whether somebody else has it.
fun taken(lock: Lock, by: Client) -> bool = lock.owner is present(other) and other != by
component lease {
  state lock: Lock = Lock { owner: none, token: 0, uses: 0 }
  -- Takes the lock.
  operation acquire(client: Client) -> Answer cites DOC "§2" {
    branch busy when taken: taken(lock, client) reply refused(HELD)
    branch free {
      let next = bump(lock.token)
      lock.owner' = present(client)
      lock.token' = next
      reply granted(next)
    }
  }
}
witness somebody of lease: took acquire/free
always few of lease: lock.uses == 0
setup alone(size: Client) of lease { start lock = Lock { owner: present(size), token: 0, uses: 0 } }
instance tiny of lease { Client = {ann, bob} most = 2 }
scenario "ann first" of lease {
  Client = {ann, bob} most = 2
  do acquire(ann) -> free
  expect lock.owner == present(ann)
}
variant polite { replace in lease.acquire branch busy when some_client: taken(lock, client) reply
  refused(FREE) }
mutant greedy in tiny { drop branch lease.acquire/busy } caught by few
"""


def open_text(text: str = LEASE) -> tuple[Workspace, Snapshot]:
    """A workspace in which one file is open, and its snapshot."""
    workspace = Workspace()
    workspace.open(FILE, text)
    return workspace, workspace.refresh(FILE)


def cursor(before: str, behind: str = "", text: str = LEASE) -> int:
    """The offset between two pieces of a text that stand there once, side by side."""
    assert text.count(before + behind) == 1, (before, behind)
    return text.index(before + behind) + len(before)


def show(span: Span) -> str:
    """The line of a span, and its text: `3: Client`."""
    line, _ = span.source.position(span.start)
    return f"{line}: {span.source.text[span.start : span.end]}"
