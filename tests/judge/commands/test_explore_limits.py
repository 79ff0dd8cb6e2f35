"""`conform explore` of several instances tells what each of them can show and what not."""

import json

import pytest

PIPE = """protocol toy.pipe
sort Node
const losses: int 0..9
const doublings: int 0..9
const length: int 1..9
record Side { open: bool, sent: int 0..length }
component sender {
  state side: Side = Side { open: true, sent: 0 }
  operation send(fast: bool) -> bool {
    branch full when full: side.sent == length reply false
    branch sent { side' = side with { sent: side.sent + 1 }  reply true }
  }
  operation close() -> bool { branch closed { side' = side with { open: false }  reply true } }
}
system net {
  sender: map Node -> sender
  state lost: set Node = {}
  step send(n: Node) { sender[n].send(true) }
  step lose(n: Node) budget losses { lost' = lost | {n} }
  step double(n: Node) budget doublings { lost' = lost - {n} }
}
always few of net: size(lost) <= 5
witness all_sent of net: some n in Node: sender[n].side.sent == length
witness any_lost of net: lost != {}
setup quiet of net { losses = 0  doublings = 0  length = 1  misses lose, double, any_lost }
instance pair of net like quiet { Node = 2 }
instance pair_lossy of net { Node = 2  losses = 2  doublings = 0  length = 1  misses double }
instance pair_long of net like quiet {
  Node = 2
  length = 2
  only send if n == n1
  start sender.side = [n in Node: Side { open: n == n2, sent: 1 }]
}
instance alone of sender { length = 2  offers send  only send if fast  misses close/closed }
"""

LAZY = """mutant lazy in pair_lossy { replace update lost of net.lose with lost } caught by few
"""


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.charter"
    path.write_text(PIPE)
    return path


def test_each_row_says_what_the_instance_allows_when_there_are_several(conform, toy):
    code, out, _ = conform("explore", toy, "--instance", "*")
    assert code == 0
    table, common = out.split("\n\n")[-2:]
    lines = table.replace("\n      ", " ").splitlines()
    assert lines[0].split() == [
        "instance", "of", "distinct", "depth", "seconds", "misses", "result"
    ]  # fmt: skip
    heads = [place for place, line in enumerate(lines) if not line.startswith(" ")][1:]
    about = {
        lines[start].split()[0]: [line.strip() for line in lines[start + 1 : end]]
        for start, end in zip(heads, [*heads[1:], len(lines)], strict=True)
    }
    assert about == {
        "pair": ["Node 2", "misses lose, double, any_lost"],
        "pair_lossy": ["Node 2, losses 2", "misses double"],
        "pair_long": [
            "Node 2, length 2",
            "only some arguments of send",
            "starts with sender[n1].side.open false, sender[n1].side.sent 1,"
            " sender[n2].side.sent 1",
            "misses lose, double, any_lost",
        ],
        "alone": ["offers send", "only some arguments of send", "misses close/closed"],
    }
    assert common.splitlines() == [
        "budgets that are 0 in every instance of net: doublings",
        "instances of net, where nothing else is said: length 1",
        "they start, where nothing else is said, with sender[n1].side.open true,"
        " sender[n1].side.sent 0,",
        "    sender[n2].side.sent 0",
        "constants of alone: length 2",
    ]


def test_one_instance_has_its_constants_and_all_its_start_values(conform, toy):
    assert conform("explore", toy, "--instance", "pair_long", "--bounds")[1].splitlines() == [
        "instance   of   misses",
        "pair_long  net  3",
        "    Node 2",
        "    only some arguments of send",
        "    misses lose, double, any_lost",
        "",
        "constants of pair_long: length 2",
        "budgets that are 0 in pair_long: losses, doublings",
        "pair_long starts with sender[n1].side.open false, sender[n1].side.sent 1,"
        " sender[n2].side.open true,",
        "    sender[n2].side.sent 1",
    ]


def test_bounds_prints_the_same_without_a_search(conform, toy):
    code, out, _ = conform("explore", toy, "--instance", "pair*", "--bounds")
    searched = conform("explore", toy, "--instance", "pair*")[1]
    assert code == 0 and out.splitlines()[:3] == [
        "instance    of   misses",
        "pair        net  3",
        "    Node 2",
    ]
    assert "distinct" not in out
    assert [line for line in out.splitlines() if line.startswith("    ")] == [
        line for line in searched.split("\n\ninstance ")[1].splitlines() if line.startswith("    ")
    ]


def test_json_has_all_that_limits_an_instance(conform, toy):
    rows = json.loads(conform("explore", toy, "--instance", "pair*", "--json")[1])["instances"]
    bare = json.loads(conform("explore", toy, "--instance", "pair*", "--bounds", "--json")[1])
    assert [{key: row[key] for key in ("instance", "machine", "limits")} for row in rows] == bare[
        "instances"
    ]
    assert rows[2]["limits"] == {
        "sorts": {"Node": 2},
        "budgets": {"losses": 0, "doublings": 0},
        "constants": {"length": 2},
        "starts": {
            "sender[n1].side.open": "false",
            "sender[n1].side.sent": "1",
            "sender[n2].side.open": "true",
            "sender[n2].side.sent": "1",
        },
        "offers": [],
        "only": ["send"],
        "misses": ["lose", "double", "any_lost"],
        "fails": [],
    }


def test_set_changes_what_is_told(conform, toy):
    out = conform("explore", toy, "--instance", "pair*", "--bounds", "--set", "Node=3")[1]
    assert out.count("    Node 3") == 3


def test_a_long_list_is_cut_and_no_line_is_too_long(conform, toy):
    many = "".join(f"const number_{i}: int 0..9\n" for i in range(80))
    used = " + ".join(f"number_{i}" for i in range(80))
    values = "".join(f"  number_{i} = 1\n" for i in range(80))
    box = f"""protocol toy.box
{many}component box {{
  state held: int 0..9 = 0
  operation put() -> bool {{ branch kept {{ held' = min(9, {used}) reply true }} }}
}}
always counted of box: held <= 9
witness put_in of box: held == 9
instance one of box {{
{values}}}
instance two of box {{
{values.replace("1", "2", 1)}}}
"""
    toy.write_text(box)
    out = conform("explore", toy, "--instance", "*", "--bounds")[1]
    assert max(map(len, out.splitlines())) <= 100
    assert " more (--json)" in out and out.count("number_") < 80


def test_bounds_are_of_instances(conform, toy):
    toy.write_text(PIPE + LAZY)
    code, _, said = conform("explore", toy, "--mutant", "*", "--bounds")
    assert code == 2 and "--bounds is for one mutant" in said
