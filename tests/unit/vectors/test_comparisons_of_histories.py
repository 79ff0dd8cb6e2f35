"""What a history compares, alone or in a function, is no rule: nothing is asked for it."""

from dataclasses import replace
from pathlib import Path

from charter.core.obligations import obligations
from charter.project.sources import read_sources
from charter.suites import make
from charter.suites.search import search
from charter.suites.search_results import rules_digest
from charter.suites.smoke import smoke

LIMIT = """protocol limits
sort Resource
component c {
  state limit: map Resource -> int 0..2 = [r in Resource: 1]
  operation set_limit(resource: Resource, to: int 0..2) -> bool cites silent {
    branch same when unchanged: limit[resource] == to reply false
    branch changed { limit[resource]' = to  reply true }
  }
  history lowered: map Resource -> bool = [r in Resource: false] then
    [r in Resource: lowered[r] or limit'[r] < limit[r]]
  history halved: bool = false then some r in Resource: is_half(limit'[r], limit[r])
  observe all { limit }
}
fun is_half(now: int 0..2, before: int 0..2) -> bool cites silent = now + now == before
witness low of c: some r in Resource: lowered[r]
instance tiny of c { Resource = 1 }
"""
GHOST = LIMIT.replace(
    "history halved: bool = false then some r in Resource: is_half(limit'[r], limit[r])",
    "ghost state halved: bool = false",
)


def write(folder: Path, text: str) -> make.Subject:
    charter = folder / "a.charter"
    charter.write_text(text, encoding="utf-8")
    return make.open_subject(charter, read_sources(charter), "", "")


def test_no_obligation_is_about_a_history(tmp_path: Path) -> None:
    about = write(tmp_path, LIMIT)
    names = [one.name for one in obligations(about.model, about.component)]
    assert "mcdc set_limit/same unchanged false" in names
    compared = {name.rpartition(" ")[0] for name in names if name.startswith("boundary")}
    assert compared == {"boundary set_limit/same limit[resource] == to"}


def test_a_search_of_a_charter_with_histories_leaves_nothing_open(tmp_path: Path) -> None:
    about = write(tmp_path, LIMIT)
    found = search(about, lambda *_: None, True)
    rows = smoke(replace(about, found=found)).ledger.rows
    assert rows and {row.status for row in rows} == {"covered"}


def test_a_ghost_variable_that_an_operation_updates_is_asked_for(tmp_path: Path) -> None:
    update = "limit[resource]' = to  halved' = to < limit[resource]  reply"
    about = write(tmp_path, GHOST.replace("limit[resource]' = to  reply", update))
    names = [one.name for one in obligations(about.model, about.component)]
    assert "boundary set_limit/changed to < limit[resource] below" in names


def test_a_search_from_before_is_of_other_rules_only_where_there_are_histories(
    tmp_path: Path,
) -> None:
    about = write(tmp_path, LIMIT)
    (component,) = about.model.components
    plain = tuple(replace(v, is_history=False) for v in component.state)
    other = replace(about.model, components=(replace(component, state=plain),))
    assert other == about.model
    assert rules_digest(other, ()) != rules_digest(about.model, ())
