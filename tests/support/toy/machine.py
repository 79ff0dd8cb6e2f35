"""The keeper. `edits` names the rules that a sibling model changes."""

from typing import ClassVar, NamedTuple


class Keeper(NamedTuple):
    epochs: tuple[tuple[str, int | None], ...]
    leader: str | None = None
    version: int = 0
    session: frozenset[str] = frozenset()
    issued: int = 0

    def epoch(self, node):
        return dict(self.epochs)[node]


class Outcome(NamedTuple):
    branch: str
    reply: object
    state: Keeper


def reject(error):
    return {"case": "rejected", "error": error}


class Machine:
    PROTOCOL = "toy.lease"
    VARIANT = ""
    COMPONENT = "keeper"
    SPEC_DIGEST = "5eed"
    OPERATIONS = ("register", "elect", "write", "expire", "failover")
    OBSERVES = ("registration", "leader", "version")
    GHOSTS = ("session", "issued")  # so that no question goes on: tests count what a suite shows
    PARAMS: ClassVar = {
        "register": {"node": "Node"},
        "elect": {},
        "write": {"node": "Node", "epoch": "Epoch", "version": "int 0..most"},
        "expire": {"node": "Node"},
        "failover": {},
    }
    PARAM_TYPES: ClassVar = {"Node": "sort", "Epoch": "ordered"}
    INSTANCES: ClassVar = {
        "two": ({"Node": "n1 n2"}, {"most": 3}, ""),
        "one": ({"Node": "n1"}, {"most": 3}, "register elect"),
    }

    def __init__(self, *edits):
        self.edits = edits

    def initial(self, sorts, consts=None):
        return Keeper(tuple((node, None) for node in sorts["Node"]))

    def outcomes(self, state, operation, args):
        return tuple(getattr(self, operation)(state, **args))

    def register(self, state, node):
        issued = state.issued + 1
        epochs = tuple((n, issued if n == node else e) for n, e in state.epochs)
        after = state._replace(epochs=epochs, issued=issued, session=state.session | {node})
        yield Outcome("register/accepted", {"case": "registered", "epoch": f"@{issued}"}, after)

    def elect(self, state):
        if not state.session:
            yield Outcome("elect/nobody", reject("NOBODY"), state)
            return
        for node in sorted(state.session):
            after = state._replace(leader=node, version=state.version + 1)
            yield Outcome("elect/chosen", {"case": "elected", "leader": node}, after)

    def write(self, state, node, epoch, version):
        rejections = []
        known = state.epoch(node)
        if "no_epoch_check" not in self.edits and (known is None or epoch != f"@{known}"):
            rejections.append(("write/stale_epoch", "STALE_EPOCH"))
        if state.leader != node:
            rejections.append(("write/not_leader", "NOT_LEADER"))
        if version != state.version:
            rejections.append(("write/stale_version", "STALE_VERSION"))
        for branch, error in rejections:
            yield Outcome(branch, reject(error), state)
        if not rejections:
            version = state.version + 1
            after = state._replace(version=version)
            yield Outcome("write/committed", {"case": "written", "version": version}, after)

    def expire(self, state, node):
        if node not in state.session:
            yield Outcome("expire/idle", False, state)
            return
        if "has_a_bug" in self.edits:
            raise KeyError("lease")
        leader = state.leader
        if leader == node and "keeps_leader" not in self.edits:
            leader = None
        after = state._replace(session=state.session - {node}, leader=leader)
        yield Outcome("expire/expired", True, after)

    def failover(self, state):
        yield Outcome("failover/done", True, state._replace(session=frozenset()))

    def observe(self, state):
        return {
            "registration": {n: e and {"epoch": f"@{e}"} for n, e in state.epochs},
            "leader": state.leader,
            "version": state.version,
        }

    def encode(self, state):
        hidden = {"session": sorted(state.session), "issued": f"@{state.issued}"}
        return {**self.observe(state), **hidden}

    def decode(self, value, sorts, consts=None):
        return Keeper(
            tuple((n, e and int(e["epoch"][1:])) for n, e in value["registration"].items()),
            value["leader"],
            value["version"],
            frozenset(value.get("session", ())),
            int(value["issued"][1:]),
        )

    def given(self, value, sorts, consts=None):
        return self.decode({"session": [], **value}, sorts)


def export(namespace, *edits):
    """Put the machine's functions into a module's namespace."""
    machine = Machine(*edits)
    names = [name for name in dir(machine) if not name.startswith("_")]
    namespace.update({name: getattr(machine, name) for name in names})
