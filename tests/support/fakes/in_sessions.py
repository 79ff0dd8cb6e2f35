"""`python in_sessions.py MODE`: adapters of the toy protocol that are wrong in sessions only."""

import json
import sys

from tests.support.fakes.fake import Fake

from conform import sdk


class OneServer(Fake):
    """All objects drive one server, though hello says that several sessions are held."""

    server = None

    @property
    def state(self):
        return OneServer.server

    @state.setter
    def state(self, state):
        OneServer.server = state


class Forgets(sdk.Server):
    """Begins each session again before each of its steps."""

    def answer(self, message):
        if "begin" in message:
            self.begun = getattr(self, "begun", {}) | {one["id"]: one for one in message["begin"]}
            again = [self.begun[step["id"]] for step in message["steps"]]
            super().answer({**message, "begin": again, "steps": []})
        return super().answer(message)


class Refuses(sdk.Server):
    """Claims sessions and knows no such message."""

    def answer(self, message):
        if "begin" in message:
            raise KeyError("questions")
        return super().answer(message)


SERVERS = {"one_server": (sdk.Server, OneServer), "forgets": (Forgets, Fake),
           "refuses": (Refuses, Fake)}  # fmt: skip


def main(mode):
    make, implementation = SERVERS.get(mode, (sdk.Server, Fake))
    server = make(implementation, 0 if mode == "none" else 4)
    for line in sys.stdin:
        message = json.loads(line)
        if "bye" in message:
            return
        sys.stdout.write(json.dumps(server.answer(message)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
