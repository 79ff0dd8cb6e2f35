"""`python crossed.py MODE`: an adapter of the toy protocol for cross-checks."""

import sys

from tests.support.fakes.fake import POISON, Fake

from conform import sdk


class FirstChoice(Fake):
    """Elects the first node, where the charter allows any."""

    def perform(self, operation, args):
        outcome = self.model.outcomes(self.state, operation, args)[0]
        self.state = outcome.state
        return outcome.reply


class LazyImage(FirstChoice):
    """Its image lacks the last step where more than one lies between it and the image before."""

    shown = -1
    before = 0

    def perform(self, operation, args):
        self.before = self.state.version
        reply = super().perform(operation, args)
        self.shown += 1
        return reply

    def start(self, question):
        super().start(question)
        self.shown, self.before = -1, 0

    def image(self):
        late, self.shown = self.shown > 0, -1
        return {"version": self.before} if late else super().image()


class OtherChoice(FirstChoice):
    """Elects the last node instead once it has failed over: the charter allows both."""

    failed_over = False

    def start(self, question):
        self.failed_over = False
        super().start(question)

    def perform(self, operation, args):
        self.failed_over |= operation == POISON
        if operation == "elect" and self.failed_over:
            outcome = self.model.outcomes(self.state, operation, args)[-1]
            self.state = outcome.state
            return outcome.reply
        return super().perform(operation, args)


class ElectsOnce(FirstChoice):
    """Elects nobody once a leader has expired."""

    stuck = False

    def start(self, question):
        self.stuck = False
        super().start(question)

    def perform(self, operation, args):
        if operation == "elect" and self.stuck:
            return {"case": "rejected", "error": "NOBODY"}
        self.stuck |= operation == "expire" and args["node"] == self.state.leader
        return super().perform(operation, args)


class Throws(FirstChoice):
    """Throws when it fails over."""

    def perform(self, operation, args):
        if operation == POISON:
            raise sdk.Fault("java.lang.IllegalStateException", "it was not ready")
        return super().perform(operation, args)


class FailsAlone(FirstChoice):
    """Breaks when it elects before any failover."""

    failed_over = False

    def start(self, question):
        self.failed_over = False
        super().start(question)

    def perform(self, operation, args):
        self.failed_over |= operation == POISON
        if operation == "elect" and not self.failed_over:
            raise ValueError("it elects nobody before a failover")
        return super().perform(operation, args)


class LacksElections(FirstChoice):
    """Supports no election, for a reason that only a question shows."""

    def perform(self, operation, args):
        if operation == "elect":
            raise sdk.Unsupported("quorum")
        return super().perform(operation, args)


KINDS = {
    "first_choice": FirstChoice, "lazy_image": LazyImage, "other_choice": OtherChoice,
    "elects_once": ElectsOnce, "throws": Throws,
    "fails_alone": FailsAlone, "lacks_elections": LacksElections,
}  # fmt: skip

if __name__ == "__main__":
    sdk.serve_sessions(KINDS[sys.argv[1]], 4)
