"""Random charters as text: nested types, systems of several parts with channels of every kind,
budgets. Every expression has a value; a charter that the checker refuses is drawn again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from random import Random

from charter import api
from charter.core import nodes as n
from charter.diagnostics.collected import Refused

VOCABULARY = """protocol test.drawn

sort Node
counter Term
const tries: int 0..3
enum Color { RED, GREEN }
record Vote { owner: option Node, seen: set Node, level: int 0..2 }
record Row {
  best: option Vote
  votes: map Color -> set Node
  order: ranking Node
  log: seq Vote max 2
}
union Note { hello(from: Node, level: int 0..2), answer(vote: option Vote), bye }

fun nobody() -> option Node = none
fun nothing() -> set Node = {}
fun unranked() -> ranking Node = <>
fun unheard() -> option Vote = none
fun silence() -> seq Vote max 2 = <>
fun blank() -> Vote = Vote { owner: none, seen: {}, level: 0 }
fun fresh() -> Row = Row { best: none, votes: [c in Color: {}], order: <>, log: <> }
"""
FIELDS: Mapping[str, Mapping[str, str]] = {
    "Vote": {"owner": "option Node", "seen": "set Node", "level": "int"},
    "Row": {
        "best": "option Vote",
        "votes": "map Color -> set Node",
        "order": "ranking Node",
        "log": "seq Vote",
    },
}
CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "bool": ("true", "false"),
    "int": ("0", "1", "2"),
    "Color": ("RED", "GREEN"),
    "option Node": ("nobody()",),
    "set Node": ("nothing()", "Node"),
    "ranking Node": ("unranked()",),
    "option Vote": ("unheard()",),
    "seq Vote": ("silence()",),
    "Vote": ("blank()",),
    "Row": ("fresh()",),
    "Note": ("bye",),
    "map Color -> set Node": ("fresh().votes",),
    "map Color -> Note": ("[c in Color: bye]",),
}
"""What stands where no name of a type is known; a Node and a Term are always known."""
STORED = {"int": "int 0..2", "seq Vote": "seq Vote max 2"}
"""Types as a declaration writes them, where that is longer."""

Names = Mapping[str, str]
"""What can be read, with its type."""


@dataclass(slots=True)
class Writer:
    """Writes random expressions of a type over given names."""

    rng: Random
    fresh: int = 0
    sums: bool = False
    """Whether numbers are summed: one more way to write a number draws other charters."""
    picks: bool = False
    """Whether branches also pick from sets that operators make, without `or none`."""
    assumes: bool = False
    """Whether operations assume something: of state and arguments, and of a history."""

    def name(self) -> str:
        """An unused name."""
        self.fresh += 1
        return f"x{self.fresh}"

    def expr(self, kind: str, names: Names, depth: int) -> str:
        """An expression that always has a value."""
        ways = self.ways(kind, names, depth - 1) if depth > 0 else []
        if not ways or self.rng.random() < 0.2:
            return self.leaf(kind, names)
        return self.rng.choice(ways)()

    def leaf(self, kind: str, names: Names) -> str:
        """A readable name of a type, or a constant."""
        found = [path for path, held in readable(names) if held == kind]
        if not found or (kind in CONSTANTS and self.rng.random() < 0.1):
            return self.rng.choice(CONSTANTS[kind])
        return self.rng.choice(found)

    def ways(self, kind: str, names: Names, less: int) -> list[Callable[[], str]]:
        """Functions that each write an expression of a type in a different way."""

        def e(of: str, more: Names = names) -> str:
            return self.expr(of, more, less)

        x = self.name()
        found: dict[str, list[Callable[[], str]]] = {
            "bool": self.truths(names, less),
            "int": [
                lambda: f"min(size({e('set Node')}), 2)",
                lambda: f"min({e('int')} + 1, 2)",
                lambda: f"max({e('int')} - 1, 0)",
                lambda: f"max({e('int')}, {e('int')})",
                *([lambda: self.sum(names, x, less)] if self.sums else []),
            ],
            "Term": [lambda: f"bump({e('Term')})", lambda: f"max({e('Term')}, {e('Term')})"],
            "Node": [lambda: f"default({e('option Node')}, {e('Node')})"],
            "option Node": [
                lambda: f"present({e('Node')})",
                lambda: f"first({e('ranking Node')})",
                lambda: f"at({e('ranking Node')}, {e('int')})",
                lambda: f"({e('Vote')}).owner",
            ],
            "set Node": [
                lambda: f"{{{e('Node')}}}",
                lambda: f"({e('set Node')} {self.rng.choice('|&-')} {e('set Node')})",
                lambda: f"{{ {x} in {e('set Node')} if {e('bool', {**names, x: 'Node'})} }}",
                lambda: f"{{ {e('Node', {**names, x: 'Node'})} for {x} in {e('set Node')} }}",
                lambda: f"set({e('ranking Node')})",
                lambda: f"({e('map Color -> set Node')})[{e('Color')}]",
            ],
            "ranking Node": [
                lambda: f"append({e('ranking Node')}, {e('Node')})",
                lambda: f"remove({e('ranking Node')}, {e('Node')})",
                lambda: f"keep({e('ranking Node')}, {e('set Node')})",
                lambda: f"concat({e('ranking Node')}, {e('ranking Node')})",
            ],
            "seq Vote": [
                lambda: f"append(take({e('seq Vote')}, 1), {e('Vote')})",
                lambda: f"drop({e('seq Vote')}, {e('int')})",
            ],
            "option Vote": [
                lambda: f"present({e('Vote')})",
                lambda: f"last({e('seq Vote')})",
                lambda: f"({e('Row')}).best",
            ],
            "Vote": [
                lambda: f"default({e('option Vote')}, {e('Vote')})",
                lambda: self.change("Vote", names, less),
                lambda: f"Vote {{ owner: {e('option Node')}, seen: {e('set Node')}, level: 0 }}",
            ],
            "Row": [lambda: self.change("Row", names, less)],
            "Note": [
                lambda: f"hello({e('Node')}, {e('int')})",
                lambda: f"answer({e('option Vote')})",
            ],
            "map Color -> set Node": [
                lambda: f"[{x} in Color: {e('set Node', {**names, x: 'Color'})}]",
                lambda: f"({e('map Color -> set Node')} with [{e('Color')}: {e('set Node')}])",
            ],
            "map Color -> Note": [
                lambda: f"({e('map Color -> Note')} with [{e('Color')}: {e('Note')}])",
            ],
            "Color": [],
        }  # fmt: skip
        return [*found[kind], *(2 * [lambda: self.choose(kind, names, less)])]

    def sum(self, names: Names, x: str, less: int) -> str:
        """The sum of a number over a set of nodes."""
        body = self.expr("int", {**names, x: "Node"}, less)
        return f"min((sum {x} in {self.expr('set Node', names, less)}: {body}), 2)"

    def truths(self, names: Names, less: int) -> list[Callable[[], str]]:
        """The same for conditions."""

        def e(of: str, more: Names = names) -> str:
            return self.expr(of, more, less)

        x = self.name()
        return [
            lambda: f"(not {e('bool')})",
            lambda: f"({e('bool')} {self.rng.choice(['and', 'or', 'implies'])} {e('bool')})",
            lambda: self.same(names, less),
            lambda: self.same(names, less),
            lambda: f"({e('int')} {self.rng.choice(['<', '<=', '>', '>='])} {e('int')})",
            lambda: f"({e('Node')} in {e('set Node')})",
            lambda: f"(forall {x} in {e('set Node')}: {e('bool', {**names, x: 'Node'})})",
            lambda: f"(some {x} in {e('set Node')}: {e('bool', {**names, x: 'Node'})})",
        ]

    def change(self, record: str, names: Names, less: int) -> str:
        """A record with one field replaced."""
        field, kind = self.rng.choice(list(FIELDS[record].items()))
        whole = self.expr(record, names, less)
        return f"({whole} with {{ {field}: {self.expr(kind, names, less)} }})"

    def grow(self, kind: str, path: str, names: Names) -> str:
        """The value at a path, slightly increased, so that many states are reachable."""
        node = self.expr("Node", names, 1)
        match kind:
            case "Row" | "Vote":
                field, part = self.rng.choice(list(FIELDS[kind].items()))
                return f"({path} with {{ {field}: {self.grow(part, f'{path}.{field}', names)} }})"
            case "option Vote":
                return f"present({self.grow('Vote', f'default({path}, blank())', names)})"
            case "set Node":
                return f"({path} {self.rng.choice('||-')} {{{node}}})"
            case "ranking Node":
                return f"{self.rng.choice(['append', 'append', 'remove'])}({path}, {node})"
            case "seq Vote":
                return f"append(take({path}, 1), {self.expr('Vote', names, 2)})"
            case "map Color -> set Node":
                color = self.expr("Color", names, 1)
                return f"({path} with [{color}: ({path})[{color}] | {{{node}}}])"
            case "map Color -> Note":
                color = self.expr("Color", names, 1)
                return f"({path} with [{color}: {self.expr('Note', names, 2)}])"
            case "option Node":
                return f"present({node})"
            case "int":
                return f"min({path} + 1, 2)"
            case _:
                return f"bump({path})"

    def same(self, names: Names, less: int) -> str:
        """A comparison."""
        kind = self.rng.choice(["option Node", "set Node", "Vote", "Note", "Row", "ranking Node"])
        sides = self.expr(kind, names, less), self.expr(kind, names, less)
        return f"({sides[0]} {self.rng.choice(['==', '!='])} {sides[1]})"

    def choose(self, kind: str, names: Names, less: int) -> str:
        """An `if`, a `let` or a `match`."""
        a, b = self.name(), self.name()
        match self.rng.randint(0, 3):
            case 0:
                parts = [self.expr(k, names, less) for k in ("bool", kind, kind)]
                return f"(if {parts[0]} then {parts[1]} else {parts[2]})"
            case 1:
                of = self.rng.choice(["Vote", "set Node", "int", "Note"])
                body = self.expr(kind, {**names, a: of}, less)
                return f"(let {a} = {self.expr(of, names, less)} in {body})"
            case 2:
                of = self.rng.choice(["Node", "Vote"])
                subject = self.expr(f"option {of}", names, less)
                cases = self.expr(kind, names, less), self.expr(kind, {**names, a: of}, less)
                return f"(match {subject} {{ none -> {cases[0]}, present({a}) -> {cases[1]} }})"
            case _:
                hello = self.expr(kind, {**names, a: "Node", b: "int"}, less)
                answer = self.expr(kind, {**names, a: "option Vote"}, less)
                bye = self.expr(kind, names, less)
                subject = self.expr("Note", names, less)
                cases = f"hello({a}, {b}) -> {hello}, answer({a}) -> {answer}, bye -> {bye}"
                return f"(match {subject} {{ {cases} }})"

    def make_set(self, names: Names) -> str:
        """A set that an operator makes. The check refuses to pick from one that may be empty."""
        listed = f"{{{self.expr('Node', names, 1)}}}"
        sides = [listed, self.expr("set Node", names, 1)]
        self.rng.shuffle(sides)
        return f"{sides[0]} {self.rng.choice('||&-')} {sides[1]}"

    # --- components ------------------------------------------------------------------------------

    def operation(self, name: str, params: Names, result: str, state: Names, depth: int) -> str:
        """An operation with guarded branches, some in any order, picks and updates."""
        names = {**state, **params}
        listed = ", ".join(f"{p}: {STORED.get(k, k)}" for p, k in params.items())
        guarded = [
            self.branch(f"b{i}", f" when {self.expr('bool', names, depth)}", result, (names, state))
            for i in range(self.rng.randint(1, 3))
        ]
        if len(guarded) > 1 and self.rng.random() < 0.6:
            guarded = ["    in any order {", *guarded, "    }"]
        last = self.branch("last", "", result, (names, state))
        head = f"  operation {name}({listed}) -> {STORED.get(result, result)} cites silent {{"
        assumed = self.list_assumed(names, depth) if self.assumes else []
        return "\n".join([head, *assumed, *guarded, last, "  }"])

    def list_assumed(self, names: Names, depth: int) -> list[str]:
        """Two assumptions, with a let that one of them reads."""
        first, second = self.expr("bool", names, depth), self.expr("bool", names, 1)
        let, more = self.name(), self.rng.choice(("and", "or"))
        return [
            f"    let {let} = {self.expr('bool', names, 2)}",
            f"    assume often cites silent: {let} or ({first})",
            f"    assume turns < 2 {more} ({second})",
        ]

    def branch(self, name: str, guard: str, result: str, about: tuple[Names, Names]) -> str:
        """A branch; it may pick values, and changes some of the state."""
        names, state = dict(about[0]), about[1]
        lines = [f"    branch {name}{guard} {{"]
        if self.rng.random() < 0.4:
            picked, of = self.name(), self.expr("set Node", names, 1)
            lines.append(f"      pick {picked} in {of} or none")
            names[picked] = "option Node"
        if self.picks and self.rng.random() < 0.6:
            picked = self.name()
            lines.append(f"      pick {picked} in {self.make_set(names)}")
            names[picked] = "Node"
        for variable, kind in state.items():
            if self.rng.random() < 0.5:
                grows = self.rng.random() < 0.6
                value = self.grow(kind, variable, names) if grows else self.expr(kind, names, 2)
                lines.append(f"      {variable}' = {value}")
        reply = self.expr(result, names, 2)
        return "\n".join([*lines, f"      reply {reply}", "    }"])

    def component(self, name: str, state: Names, operations: Mapping[str, Names], to: str) -> str:
        """A component whose operations have the reply type that `to` names."""
        variables = [
            f"  state {v}: {STORED.get(k, k)} = {'0' if k == 'Term' else CONSTANTS[k][0]}"
            for v, k in state.items()
        ]
        if self.assumes:
            turned = "if turns == 2 then 0 else turns + 1"
            variables.append(f"  history turns: int 0..2 = 0 then {turned}")
        written = [self.operation(o, params, to, state, 2) for o, params in operations.items()]
        return "\n".join([f"component {name} {{", *variables, *written, "}"])

    # --- systems ---------------------------------------------------------------------------------

    def channel(self) -> str:
        """The declaration of a channel."""
        discipline = self.rng.choice(["slot", "set", "fifo"])
        likes = [like for like in ("lossy", "duplicating") if self.rng.random() < 0.35]
        return " ".join([discipline, *likes])

    def step(self, head: str, names: Names, lines: list[str], known: bool) -> str:
        """A step; it may have a `require`, and may change the state of the system itself."""
        if self.rng.random() < 0.2:
            lines.insert(0, f"require {self.expr('bool', names, 2)}")
        if known and self.rng.random() < 0.6:
            lines.append(f"known' = {self.expr('set Node', names, 2)}")
        return "\n".join([f"  step {head} {{", *(f"    {line}" for line in lines), "  }"])


def readable(names: Names) -> Iterator[tuple[str, str]]:
    """Names and their fields, with their types."""
    for path, kind in names.items():
        yield path, kind
        for field, part in FIELDS.get(kind, {}).items():
            yield f"{path}.{field}", part


SERVER: Names = {"row": "Row", "term": "Term"}
CLIENT: Names = {"vote": "option Vote", "mood": "map Color -> Note", "order": "ranking Node"}


def component_text(
    rng: Random, *, sums: bool = False, picks: bool = False, assumes: bool = False
) -> str:
    """A component on its own: all kinds of state, and few argument values."""
    writer = Writer(rng, sums=sums, picks=picks, assumes=assumes)
    state = {**SERVER, **CLIENT}
    operations = {
        "ask": {"n": "Node", "seen": "Term", "sure": "bool"},
        "tell": {"n": "Node", "group": "set Node", "level": "int"},
        "rest": {"n": "Node", "color": "Color"},
    }
    body = writer.component("machine", state, operations, "Note")
    names = {**state, "a": "Node"}
    holds = [f"(forall a in Node: {writer.expr('bool', names, 3)})" for _ in range(3)]
    return "\n".join([
        VOCABULARY, body,
        f"always stays of machine cites silent: {holds[0]}",
        f"witness seen of machine: {holds[1]} or took ask/last",
        f"witness met of machine: {holds[2]}",
        "instance tiny of machine { Node = 2 }",
    ])  # fmt: skip


def summing_text(rng: Random) -> str:
    """A component with sums."""
    return component_text(rng, sums=True)


def assuming_text(rng: Random) -> str:
    """A component whose operations assume something."""
    return component_text(rng, assumes=True)


def picking_text(rng: Random) -> str:
    """A component whose branches pick from sets that operators make."""
    return component_text(rng, picks=True)


def pick_text(rng: Random) -> str:
    """A component that picks once, from a set that an operator makes."""
    names = {"n": "Node", "group": "set Node", "order": "ranking Node"}
    made = Writer(rng).make_set(names)
    return (
        VOCABULARY
        + f"""
component machine {{
  state order: ranking Node = <>
  operation go(n: Node, group: set Node) -> bool cites silent {{
    branch gone {{
      pick x in {made}
      order' = append(order, x)
      reply x in group
    }}
  }}
}}
witness went of machine: took go/gone
instance tiny of machine {{ Node = 2 }}
"""
    )


def twice(rng: Random) -> str:
    """A step that uses one channel twice, and one place of it twice if its arguments are equal."""
    lines = [
        rng.choice([f"send mail[{end}] {message}", f"receive from_{end} from mail[{end}]"])
        for end, message in (("one", "bye"), ("other", "answer(server.row.best)"))
    ]
    return "\n".join(["  step twice(one: Node, other: Node) budget tries {", *lines, "  }"])


def several(rng: Random, channels: str) -> str:
    """A step that sends to several nodes, clears several places, or receives two messages at once,
    if one of the `channels` is a fifo."""
    lines = [
        "send mail[x] bye for x in known",
        "send mail[one] bye if one in known",
        "send wire[one][x] answer(server.row.best) for x in Node if x != other",
        "clear wire[x][one] for x in known if x != one",
        "clear mail[other]",
    ]
    lines += [
        f"receive found_{place[:4]}[2] from {place}"
        for place in ("mail[one]", "wire[one][other]")
        if f"{place[:4]}: fifo" in channels
    ]
    drawn_lines = rng.sample(lines, 2)
    return "\n".join(["  step several(one: Node, other: Node) budget tries {", *drawn_lines, "  }"])


def mailing_text(rng: Random) -> str:
    """A system with a step that sends to several nodes, receives several messages or clears."""
    return system_text(rng, mailing=True)


def system_text(rng: Random, *, mailing: bool = False) -> str:
    """A server and a client for each node, two channels between them, and a budget."""
    writer = Writer(rng)
    server = writer.component("server", SERVER, {"ask": {"n": "Node", "note": "Note"}}, "Note")
    hears = {"hear": {"n": "Node", "note": "Note"}, "rest": {"n": "Node"}}
    client = writer.component("client", CLIENT, hears, "Note")
    own = {"server.row": "Row", "known": "set Node"}
    inside = {f"client[n].{v}": k for v, k in CLIENT.items()}
    names = {**own, **inside, "n": "Node"}
    lines = [
        "system whole {", "  server: server", "  client: map Node -> client",
        f"  channel mail: Node carries Note {(mail := writer.channel())}",
        f"  channel wire: Node -> Node carries Note {(wire := writer.channel())}",
        "  state known: set Node = {}",
        writer.step("ask(n: Node) budget tries", names, [
            f"let reply_to_it = server.ask(n, {writer.expr('Note', names, 2)})",
            "send mail[n] reply_to_it",
        ], True),
        writer.step("hear(n: Node)", names, [
            "receive m from mail[n]", "let said = client[n].hear(n, m)",
            f"send wire[n][{writer.expr('Node', names, 1)}] said",
        ], True),
        writer.step("listen(n: Node, from_it: Node)", {**names, "from_it": "Node"}, [
            "receive m from wire[from_it][n]", "server.ask(from_it, m)",
            "client[n].hear(from_it, m)",
            "known' = if client'[n].vote != client[n].vote then known | {n} else known",
        ], False),
        writer.step("rest(n: Node)", names, ["client[n].rest(n)"], True),
    ]  # fmt: skip
    everywhere = {**own, **inside, "n": "Node"}
    holds = [f"(forall n in Node: {writer.expr('bool', everywhere, 3)})" for _ in range(3)]
    return "\n".join([
        VOCABULARY, server, client, *lines, twice(copy(rng)),
        several(copy(rng), f"mail: {mail} wire: {wire}") if mailing else "", "}",
        f"always stays of whole cites silent: {holds[0]}",
        f"stepwise goes of whole cites silent: (took ask implies {holds[1]}) or known' == known",
        f"witness met of whole: {holds[2]}",
        f"instance tiny of whole {{ Node = 2  tries = {rng.randint(1, 2)} }}",
    ])  # fmt: skip


def draw(write: Callable[[Random], str], seed: int) -> n.Model:
    """The first charter, from a seed on, that the checker accepts."""
    rng = Random(seed)
    while True:
        try:
            return api.load_text(write(rng))
        except Refused:
            continue
