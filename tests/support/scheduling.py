"""Which tests the workers of xdist get together."""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling


class ByFile(LoadGroupScheduling):
    """Groups go to one worker, and so do the other tests of one file: what a file prepares once is
    not prepared in each worker, and a worker gets a file at a time, not each test by a message."""

    def _split_scope(self, nodeid: str) -> str:
        """A group, or a file."""
        return super()._split_scope(nodeid).partition("::")[0]
