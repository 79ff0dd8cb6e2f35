"""A scenario of which no question can be made is told: it needs a value that nothing shows."""

import json

import pytest
from tests.support.caches import own_cache

BOX = """protocol box

sort Owner
opaque counter Token

component box {
  state newest: Token = 0
  state held: map Owner -> option Token = [o in Owner: none]
  operation lock(owner: Owner) -> bool {
    branch lock {
      let token = bump(newest)
      newest' = token
      held[owner]' = present(token)
      reply true
    }
  }
  operation open(token: Token) -> bool {
    branch yes when fits: some o in Owner: held[o] == present(token) reply true
    branch no reply false
  }
  observe all { }
}
witness opened of box: took open/yes
instance tiny of box { Owner = 1 }
scenario "locks" of box { Owner = {a} do lock(a) -> lock }
scenario "opens with what it got" of box {
  Owner = {a}
  do lock(a) -> lock
  do open(value(held[a])) -> yes
}
"""
TOLD = (
    'the scenario "opens with what it got" is left out of the suite, no implementation is asked it:'
    " a value is shown nowhere, and without it the question takes another branch"
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with the box and an adapter that is not there."""
    for folder in ("spec", "adapters/box"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec/box.charter").write_text(BOX)
    toml = "\n".join(f'{name} = "box"' for name in ("id", "title", "protocol", "component"))
    (tmp_path / "adapters/box/adapter.toml").write_text(f'{toml}\nstart = ["nothing"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    return tmp_path


def test_vectors_tells_which_scenario_is_no_question(conform, project):
    code, _, err = conform("vectors", "spec/box.charter", "--out", "build/suite")
    assert code == 0 and f"{TOLD}\n" in err
    assert "locks" not in err
    made = json.loads(conform("vectors", "spec/box.charter", "--out", "build/suite", "--json")[1])
    assert [*made["unasked"]] == ["opens with what it got"]


def test_test_tells_which_scenario_is_no_question(conform, project):
    assert f"scenario  {TOLD}\n" in conform("test")[1]
    shown = BOX.replace("observe all { }", "observe all { held }")
    (project / "spec/box.charter").write_text(shown)
    assert "scenario  " not in conform("test")[1]
