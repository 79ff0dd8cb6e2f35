"""An instance that cannot be searched does not end a command that searches several."""

from __future__ import annotations

import json

import pytest
from tests.support.boxes import TOY

from charter import api
from charter.api.verdicts import read_verdicts
from charter.explore import select

CLASSES = "protocol toy.counting\nwitness nothing_held of box: held == {}\n"
NO_ROOM = "huge has no room for a search: the disk is full"


@pytest.fixture
def several(tmp_path):
    """Three instances; the second needs more memory than there is."""
    path = tmp_path / "toy.charter"
    text = TOY.replace('always never_full of box cites S "1": held == {}\n', "")
    text = text.replace("witness two_held of box: size(held) == 2\n", "")
    more = "instance huge of box { Node = 2 }\ninstance last of box { Node = 1 }\n"
    path.write_text(text + more + "variant same { }\n", encoding="utf-8")
    (tmp_path / "toy.coverage").mkdir()
    (tmp_path / "toy.coverage" / "all.charter").write_text(CLASSES, encoding="utf-8")
    return path


@pytest.fixture(params=["no room", "too many values"])
def fails(request, monkeypatch):
    """Search of `huge` fails, as both functions of `select` tell it."""
    error = api.CannotExplore if request.param == "no room" else api.TooManyValues

    def failing(search):
        def run(model, instance, options, progress):
            if instance.name == "huge":
                raise error(NO_ROOM)
            return search(model, instance, options, progress)

        return run

    for name in ("explore", "step_pairs"):
        monkeypatch.setattr(select, name, failing(getattr(select, name)))


@pytest.mark.usefixtures("fails")
def test_explore_tells_it_and_goes_on(conform, several):
    code, out, err = conform("explore", several, "--instance", "*")
    assert (code, err) == (3, f"huge is not searched: {NO_ROOM}\n")
    assert "box in the instance tiny" in out and "box in the instance last" in out
    code, out, _ = conform("explore", several, "--instance", "*", "--json")
    found = json.loads(out)
    assert (code, found["not_searched"]) == (3, {"huge": NO_ROOM})
    assert [row["instance"] for row in found["instances"]] == ["tiny", "last"]


@pytest.mark.usefixtures("fails")
def test_a_finding_is_more_than_an_instance_that_is_not_searched(conform, several):
    several.write_text(several.read_text() + "always none_held of box: held == {}\n")
    code, out, _ = conform("explore", several, "--instance", "*")
    assert code == 1 and "always none_held fails" in out
    assert conform("verdicts", several)[0] == 1


@pytest.mark.usefixtures("fails")
def test_the_result_of_its_mutant_is_not_known_and_the_others_are_tried(conform, several):
    """A mutant that leads to more states than there is room for is one row of all."""
    both = "".join(
        f"mutant of_{where} in {where} {{ replace update held of box.put/kept with {{node}} }}"
        " caught by at_most_one\n"
        for where in ("huge", "last")
    )
    several.write_text(several.read_text() + both)
    code, out, err = conform("explore", several, "--mutant", "*")
    assert (code, err) == (4, "")
    assert out.splitlines() == [
        f"of_huge  not known   by at_most_one in huge: {NO_ROOM}",
        "of_last  NOT CAUGHT  by at_most_one in last",
        "0 of 2 mutants are caught",
    ]
    code, out, _ = conform("explore", several, "--mutant", "*", "--json")
    row, _ = json.loads(out)["mutants"]
    assert (code, row["answer"], row["detail"]) == (4, "unknown", NO_ROOM)
    code, _, err = conform("explore", several, "--mutant", "*_huge")
    assert (code, err) == (2, f"conform: mutant of_huge: {NO_ROOM}\n")


@pytest.mark.usefixtures("fails")
def test_the_only_instance_ends_the_command(conform, several):
    code, out, err = conform("explore", several, "--instance", "huge")
    assert (code, out, err) == (2, "", f"conform: {NO_ROOM}\n")


@pytest.mark.usefixtures("fails")
@pytest.mark.parametrize("more", [(), ("--pairs",)])
def test_coverage_tells_it_goes_on_and_writes_nothing(conform, several, tmp_path, more):
    page = tmp_path / "page.md"
    code, out, err = conform("coverage", several, *more, "--write", page)
    assert code == 3
    told = f"huge is not searched: {NO_ROOM}\n{page} is not written, since it would lack huge\n"
    assert err == told and "box:" in out
    assert not page.exists()
    code, _, err = conform("coverage", several, *more, "--instance", "last", "--write", page)
    assert (code, err) == (0, "") and page.exists()


@pytest.mark.usefixtures("fails")
def test_verdicts_tell_it_and_keep_the_other_rows(conform, several, tmp_path):
    folder = tmp_path / "verdicts"
    code, out, err = conform("verdicts", several, "--variant", "*", "--write", folder)
    assert code == 3
    assert err.splitlines() == [
        f"huge is not searched: {NO_ROOM}",
        f"huge with the variant same is not searched: {NO_ROOM}",
        f"{folder} has no rows of huge, huge with the variant same",
    ]
    assert "tiny" in out and "last" in out
    rows = read_verdicts(folder / "verdicts.json")
    assert sorted((row.instance, row.variant) for row in rows) == [
        ("last", ""), ("last", "same"), ("tiny", ""), ("tiny", "same"),
    ]  # fmt: skip
    assert "huge" not in (folder / "README.md").read_text()
