"""An adapter of the component library of sample.kinds: it drives one implementation."""

from __future__ import annotations

from collections.abc import Mapping

import protocol

from conform import sdk


class Adapter(protocol.Adapter):
    """It holds what the operations need: a client of the implementation, or the implementation."""

    def start(self, question: protocol.Question) -> None:
        """Clears everything of earlier questions, and configures the implementation with the
        constants of this one. A given state is loaded if the adapter claims `load`.
        """
        self.question = question
        # question.sorts.node has the elements of the sort by name, each with its id.
        # Make or clear the implementation here: self.client = ...

    def observe(self) -> protocol.Observation:
        """Returns the state as it is."""
        # A Fault in `start` or here is an error of the adapter: a state that cannot be read.
        return protocol.Observation(
            members=dict.fromkeys(self.question.sorts.node),
            moves=frozenset(),
            open={False: False, True: False},
            prices={},
            colours=dict.fromkeys(protocol.Other, ()),
            seen=frozenset(),
        )

    def join_library(
        self,
        node: protocol.Node,
        cookie: protocol.Cookie,
        session_id: protocol.SessionId | None,
        statuses: Mapping[protocol.Node, protocol.Status],
    ) -> protocol.Reply:
        """A node comes, with a cookie of its own.

        S1 joining
        """
        # try:
        #     self.client.join_library(node, cookie, session_id, statuses)
        # except Exception as error:  # only those that the charter does not name
        #     raise sdk.Fault(type(error).__name__, str(error)) from error
        # return protocol.Accepted(protocol.Epoch(0), ())
        raise sdk.Unsupported("join_library")

    def handle(
        self,
        orders: tuple[protocol.Order, ...],
        epochs: frozenset[protocol.Epoch],
        at: Mapping[int, protocol.Epoch],
    ) -> protocol.Member | None:
        raise sdk.Unsupported("handle")

    def failover(self) -> bool:
        raise sdk.Unsupported("failover")

    def type(self, move: protocol.Move, limit: int) -> frozenset[protocol.SessionId]:
        raise sdk.Unsupported("type")


if __name__ == "__main__":
    # What the implementation does not show is left out here: observes=(...), of protocol.OBSERVES.
    protocol.serve(protocol.about("library", "0.1"), Adapter())
