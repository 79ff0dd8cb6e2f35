"""Targets by findings: what `conform compare` and the first page of a report show in each cell."""

import json
from pathlib import Path

import pytest

BOTH = """
import sys
from tests.support.fakes.fake import Fake, Leaderless
from conform import sdk


class Both(Leaderless if sys.argv[1] == "hides" else Fake):
    def perform(self, operation, args):
        self.wrong = operation == ("register" if sys.argv[1] == "early" else "failover")
        return super().perform(operation, args)

    def start(self, question):
        self.wrong = False
        super().start(question)

    def observe(self):
        shown = super().observe()
        if self.wrong:
            shown["version"] = 99
        return {**shown, "leader": "n1"} if self.wrong and "leader" in shown else shown


sdk.serve(Both())
"""


@pytest.fixture
def judged(conform, targets_folder, tiny_toy_suite):
    """Judges a fake into the folder of its mode."""

    def judge(mode, *more, place=""):
        folder = Path("adapters") / targets_folder(mode)
        given = ("--suite", tiny_toy_suite, "--engine", "inline", "--out", place or mode, *more)
        conform("run", "--target", folder, *given)
        return place or mode

    return judge


@pytest.fixture
def judged_both(conform, judged):
    """Judges a target that is wrong in two variables after a failover into the folder of its mode:
    it shows both, or hides one; `early`: after each registration instead."""

    def judge(mode):
        name = judged("faithful", place=f"faithful-{mode}")
        path = Path("adapters") / "fake-faithful"
        folder = path.rename(path.with_name(f"both-{mode}"))
        (folder / "adapter.py").write_text(BOTH, encoding="utf-8")
        text = (folder / "adapter.toml").read_text(encoding="utf-8")
        start = text[text.index("start = ") : text.index("[deadlines]")]
        text = text.replace(start, f'start = ["{{python}}", "{{adapter}}/adapter.py", "{mode}"]\n')
        (folder / "adapter.toml").write_text(text.replace("fake-faithful", f"both-{mode}"))
        suite = json.loads(Path(name, "run.json").read_text(encoding="utf-8"))["suite"]
        conform("run", "--target", folder, "--suite", suite, "--engine", "inline", "--out", mode)
        return mode

    return judge


@pytest.fixture
def shows(conform):
    """The cells of the findings of runs, by rule, and the exit code."""

    def compare(*runs):
        code, out, _ = conform("compare", *runs, "--json")
        found = json.loads(out)
        cells = {one["rule"]: [cell["is"] for cell in one["cells"]] for one in found["findings"]}
        return cells, code

    return compare


def test_a_finding_is_present_absent_hidden_or_impossible_when_compared(judged, shows):
    runs = [judged(mode) for mode in ("keeps_leader", "faithful", "leaderless", "no_load")]
    cells, code = shows(*runs)
    assert cells["expire/expired"] == ["present", "absent", "not shown", "not applicable"]
    assert code == 1


def test_nothing_is_said_of_a_finding_when_a_run_left_its_vectors_out(judged, shows):
    part = judged("faithful", "-k", "failover/", place="part")
    cells, _ = shows(judged("keeps_leader"), part)
    assert cells["expire/expired"] == ["present", "not asked"]


def test_a_finding_is_not_absent_where_a_target_deviates_earlier(conform, judged, judged_both):
    runs = judged("keeps_leader"), judged_both("early")
    found = json.loads(conform("compare", *runs, "--json")[1])
    cells = next(one["cells"] for one in found["findings"] if one["rule"] == "expire/expired")
    assert cells[0]["is"] == "present"
    assert cells[1] == {"is": "not asked", "why": "it deviates earlier"}


def test_a_finding_is_present_when_it_differs_in_what_a_target_shows(judged_both, shows):
    """The other target hides one of the two variables that differ."""
    runs = [judged_both(mode) for mode in ("shows", "hides")]
    for order in (runs, runs[::-1]):
        cells, _ = shows(*order)
        assert list(cells.values()) == [["present", "present"]]


def test_a_present_cell_leads_to_the_smallest_vector(conform, judged):
    runs = judged("wrong_error"), judged("faithful")
    found = json.loads(conform("compare", *runs, "--json")[1])
    (cell, _) = found["findings"][0]["cells"]
    assert conform("replay", cell["vector"], "--run", runs[0])[0] == 1
    assert [one["version"] for one in found["targets"]] == ["1.0", "1.0"]
    table, _, rest = conform("compare", *runs)[1].partition("\n\n")
    assert table.splitlines()[0].split("  ")[0] == "finding"
    assert f"present ({cell['vector'][:12]})" in table
    assert f"see: conform replay {cell['vector'][:12]} --run wrong_error" in rest


def test_more_than_two_runs_are_compared_in_their_order(conform, judged):
    runs = judged("faithful"), judged("partial"), judged("wrong_error")
    code, out, _ = conform("compare", *runs)
    assert code == 1
    assert out.count("questions in both") == 2
    assert "fake-partial, 1.0 does not show registration" in out
    found = json.loads(conform("compare", *runs, "--json")[1])
    assert [one["exit"] for one in found["comparisons"]] == [3, 1]
    assert [one["hidden"] for one in found["targets"]] == [[], ["registration"], []]


def test_runs_of_two_protocols_are_refused_in_one_sentence(conform, judged):
    runs = judged("faithful"), judged("keeps_leader"), judged("partial")
    about = Path(runs[1], "run.json")
    held = json.loads(about.read_text(encoding="utf-8"))
    about.write_text(json.dumps({**held, "protocol": "other"}), encoding="utf-8")
    for places in (runs[:2], runs):
        code, out, err = conform("compare", *places)
        assert (code, out) == (2, "")
        assert err == (
            "conform: faithful judged keeper of toy.lease, and keeps_leader judged keeper of other;"
            " compare runs of one component of one protocol\n"
        )


def test_one_run_alone_is_refused_with_what_to_do(conform, judged):
    code, _, err = conform("compare", judged("faithful"))
    assert code == 2
    assert "faithful is compared with nothing; name two runs, or more" in err


def test_the_first_page_of_a_report_has_the_same_table(conform, judged):
    runs = [judged(mode) for mode in ("keeps_leader", "leaderless")]
    conform("report", *runs, "--out", "report")
    page = Path("report/index.html").read_text(encoding="utf-8")
    assert '<th scope="col">fake-keeps_leader, 1.0</th>' in page
    assert "the target does not show leader" in page
    assert "fake-leaderless, 1.0 does not show leader, so it is not compared on it." in page
    assert "| not shown |" in Path("report/summary.md").read_text(encoding="utf-8")
