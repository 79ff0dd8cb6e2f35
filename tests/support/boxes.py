"""A charter that is small enough for tests of commands."""

TOY = """protocol toy.counting

source S "a text"

sort Node
enum Error { FULL }
union Reply { done, rejected(error: Error) }

component box {
  state held: set Node = {}
  operation put(node: Node) -> Reply cites S "1" {
    branch full cites silent when held != {} reply rejected(FULL)
    branch kept { held' = held | {node} reply done }
  }
  observe all { held }
}

always at_most_one of box cites S "1": size(held) <= 1
always never_full of box cites S "1": held == {}
witness some_held of box: held != {}
witness two_held of box: size(held) == 2

instance tiny of box { Node = 2 }
"""
