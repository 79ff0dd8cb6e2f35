"""What is known of the size of a search before it begins."""

from charter import api
from charter.analysis.search_size import search_size
from charter.api.charters import select_instance

LAMP = """\
protocol test.lamp

sort Room

component house {
  state lit: set Room = {}
  state most: int 0..3 = 0

  operation press(room: Room) -> bool cites silent {
    branch pressed { lit' = lit | {room} reply true }
  }

  operation clean(rooms: set Room) -> bool cites silent {
    branch cleaned { most' = min(3, size(rooms)) reply true }
  }
}

witness bright of house: lit != {}

instance tiny of house { Room = 3 }
instance one of house {
  Room = {a, b, c}
  offers press
  only press if room == a
}
"""


def test_acts_and_possible_states_are_counted() -> None:
    model = api.load_text(LAMP)
    tiny, one = (search_size(model, select_instance(model, name)) for name in ("tiny", "one"))
    assert (tiny.acts, tiny.states, tiny.is_system) == (3 + 8, 8 * 4, False)
    assert (one.acts, one.states) == (1, 8 * 4)


def test_no_number_of_states_is_told_of_counters() -> None:
    counted = LAMP.replace(
        "state most: int 0..3 = 0", "state most: int 0..3 = 0\n  state at: E = 0"
    )
    model = api.load_text(counted.replace("sort Room", "sort Room\ncounter E"))
    assert search_size(model, select_instance(model, "tiny")).states is None
