"""Ways to be called fine without having been compared: each is refused, or told by its name."""

import json
from pathlib import Path

import pytest

from conform.console.errors import BadSuite, ConformError, UnknownTarget
from conform.console.terminal import visible
from conform.runs.execute import run_target
from conform.runs.options import RunOptions

REASON = "of no use here"


@pytest.fixture
def cheat(targets_folder, monkeypatch):
    """A target without an overlay; `allowed` is its table `not_compared`."""

    def make(mode, *more, **allowed):
        name = targets_folder(mode, *more)
        path = Path("adapters") / name / "adapter.toml"
        text = path.read_text().replace('overlay = "known"\n', "")
        table = [f'"{what}" = "{reason}"' for what, reason in allowed.items()]
        path.write_text("\n".join([text, "[not_compared]", *table]))
        return name

    return make


@pytest.fixture
def judged(tiny_toy_suite, tmp_path):
    """A finished run on a target, in a folder of its own."""

    def run(target, out="run", **options):
        place = str(tmp_path / out)
        options = {"suite": str(tiny_toy_suite), "engine": "inline", **options}
        chosen = RunOptions(target, out=place, **options)
        return run_target(chosen, lambda _: None)

    return run


def left(finished):
    return {item["what"]: item["vectors"] for item in finished.summary["not_compared"]}


@pytest.fixture
def last_line(called, tiny_toy_suite, tmp_path):
    """The exit code and the last line of `conform run` on a target."""

    def run(target, *more):
        code, out, _ = called("run", "--target", target, "--suite", tiny_toy_suite, "--engine",
                              "inline", "--out", tmp_path / "told", *more)  # fmt: skip
        return code, out.splitlines()[-1]

    return run


def test_honest_target_is_fine_and_all_of_the_suite_was_compared(cheat, last_line):
    assert last_line(cheat("faithful")) == (
        0, "fine: no deviation from the charter; judged 5 of 5")  # fmt: skip


def test_status_that_nobody_can_check_is_not_fine(cheat, judged, last_line):
    finished = judged(cheat("refuses"))
    unjudged = 5 - finished.summary["judged"]
    assert left(finished) == {"unsupported quorum": unjudged}
    assert 0 < unjudged < 5
    assert (finished.exit_code, finished.summary["complete"]) == (3, False)
    expected = f"judged {5 - unjudged} of 5; not compared: {unjudged} unsupported quorum"
    assert last_line("fake-refuses") == (3, f"exit 3: {expected}")


def test_what_the_adapters_own_file_allows_by_name_is_fine_and_is_told(cheat, judged, last_line):
    name = cheat("refuses", **{"unsupported quorum": REASON})
    finished = judged(name)
    assert (finished.exit_code, finished.summary["complete"]) == (0, False)
    (item,) = finished.summary["not_compared"]
    assert (item["what"], item["allowed"]) == ("unsupported quorum", REASON)
    count = item["vectors"]
    assert last_line(name) == (0, f"fine: no deviation from the charter; judged {5 - count} of"
        f" 5; not compared: {count} unsupported quorum (allowed)")  # fmt: skip


def test_another_name_allows_nothing(cheat, judged):
    name = cheat("refuses", **{"unsupported votes": REASON, "variable leader": REASON})
    assert judged(name).exit_code == 3


def test_single_vectors_can_be_allowed(cheat, judged):
    first = judged(cheat("refuses"), "a")
    rows = first.folder.table("verdicts").to_pylist()
    names = [f"vector {row['id']}" for row in rows if row["kind"] == "unsupported"]
    some = judged(cheat("refuses", **dict.fromkeys(names[1:], REASON)), "b")
    assert (some.exit_code, left(some)["unsupported quorum"]) == (3, 1)
    every = judged(cheat("refuses", **dict.fromkeys(names, REASON)), "c")
    assert (every.exit_code, set(left(every))) == (0, set(names))


@pytest.mark.parametrize(
    ("mode", "word"),
    [
        ("claims_and_refuses", "its hello claims it"),
        ("not_loadable", "gives no state"),
        ("unresolved", "showed a value for each reference"),
    ],
)
def test_lie_that_can_be_checked_is_an_adapter_error(mode, word, cheat, judged):
    """Even where the adapter's own file would allow what is said."""
    allowed = {"unsupported failover": REASON}
    finished = judged(cheat(mode, **allowed))
    rows = finished.folder.table("verdicts").to_pylist()
    lies = [row for row in rows if row["kind"] == "adapter_error"]
    assert lies and all(word in row["detail"] for row in lies)
    assert finished.exit_code == 3
    assert left(finished) == {"adapter error": len(lies)}


def test_variable_that_is_not_shown_is_not_fine(cheat, judged, last_line):
    finished = judged(cheat("leaderless"))
    assert finished.summary["verdicts"]["conforms"] == 5
    assert left(finished) == {"variable leader": 5}
    assert finished.exit_code == 3
    assert last_line("fake-leaderless") == (
        3, "exit 3: judged 5 of 5; not compared: the variable leader")  # fmt: skip
    allowed = cheat("leaderless", **{"variable leader": REASON})
    assert judged(allowed, "allowed").exit_code == 0
    assert "the variable leader (allowed)" in last_line(allowed)[1]


def test_reference_to_what_is_shown_nowhere_is_unresolved_and_no_lie(cheat, judged, toy_suite):
    finished = judged(cheat("unversioned"), suite=str(toy_suite))
    found = left(finished)
    assert found == {"unresolved": found["unresolved"],
                     "variable version": 61 - found["unresolved"]}  # fmt: skip
    assert found["unresolved"] > 0


def test_what_to_do_about_unresolved_references_is_told(cheat, called, toy_suite):
    out = called(
        "run", "--target", cheat("unversioned"), "--suite", toy_suite, "--engine", "inline"
    )[1]
    assert " vectors refer to what the target does not show: take such variables out of" in out


def test_reference_to_what_a_reply_shows_is_judged(cheat, judged, toy_suite):
    finished = judged(cheat("partial"), suite=str(toy_suite))
    assert finished.summary["verdicts"]["conforms"] == 61
    assert left(finished) == {"variable registration": 61}


@pytest.mark.parametrize("mode", ["never_shown", "shown_once"])
def test_image_that_is_claimed_and_not_given_is_not_fine(mode, cheat, judged, last_line):
    finished = judged(cheat(mode))
    assert left(finished) == {"image": 5}
    assert finished.exit_code == 3
    assert last_line(f"fake-{mode}")[1].endswith("not compared: the image of 5")
    assert judged(cheat(mode, image=REASON), "allowed").exit_code == 0


def with_limits(name, *limits):
    path = Path("adapters") / name / "adapter.toml"
    path.write_text("\n[[limits]]\n".join([path.read_text(), *limits]))
    return name


def test_limits_of_a_target_are_said_beside_its_findings(cheat, called, tiny_toy_suite, tmp_path):
    target = with_limits(
        cheat("wrong_image"), 'says = "half"\nvariables = ["version"]', 'says = "all"',
        'says = "other"\nvariables = ["leader"]',
    )  # fmt: skip
    asked = ("--target", target, "--suite", tiny_toy_suite, "--engine", "inline")
    told = called("run", *asked, "--out", tmp_path / "run")[1].splitlines()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    (found,) = summary["findings"]
    assert found["limits"] == ["half"]
    assert "leader" in summary["images_lack"] and "leader" not in found["sentence"]
    limits = [line.strip() for line in told if "a limit of the target: " in line]
    lacking = f"its images never show {', '.join(summary['images_lack'])}"
    assert limits == [f"a limit of the target: {says}" for says in ("half", "all", lacking)]
    out = called("report", tmp_path / "run", "--out", tmp_path / "site")[1]
    pages = {path.name: path.read_text() for path in (tmp_path / "site").rglob("*.html")}
    assert "<li>half</li>" in pages[f"{found['id']}.html"], out
    assert all(f"<li>{says}</li>" in pages["index.html"] for says in ("half", "all", "other"))


def test_limit_of_what_the_suite_does_not_have_is_refused(cheat, judged):
    target = with_limits(cheat("faithful"), 'says = "x"\nvariables = ["version.high"]')
    with pytest.raises(BadSuite, match=r"a limit of 'version.high', which the suite does not have"):
        judged(target)


@pytest.mark.parametrize(
    ("mode", "how"),
    [("flaky", "it ended with 1"), pytest.param("swapped", "the id", marks=pytest.mark.slow)],
)
def test_batches_that_break_though_no_question_breaks_alone_cost_the_trust(
    mode, how, cheat, judged, called
):
    finished = judged(cheat(mode))
    assert finished.summary["verdicts"]["conforms"] == 5
    assert finished.summary["broken_batches"] == len(finished.summary["unexplained_breaks"]) > 0
    assert (finished.exit_code, finished.summary["trusted"]) == (3, False)
    (reason,) = finished.summary["reasons"]
    assert "answers each question when asked alone" in reason and how in reason
    site = Path(finished.folder.place).parent / "site"
    assert called("report", finished.folder.place, "--out", site)[0] == 3
    assert "asked alone" in (site / "summary.md").read_text()


def test_question_that_breaks_the_adapter_costs_its_own_verdict_and_no_trust(cheat, judged):
    finished = judged(cheat("crash"), limit=4)
    assert finished.summary["trusted"] is True
    assert finished.summary["broken_batches"] > 0
    assert finished.summary["unexplained_breaks"] == []
    crashed = finished.summary["verdicts"]["crashed"]
    unasked = left(finished)["not asked"]
    assert left(finished) == {"crashed": crashed, "not asked": unasked}
    assert finished.summary["verdicts"]["conforms"] == 5 - unasked - crashed > 0
    assert finished.exit_code == 3


def test_suite_that_loses_a_file_while_it_is_judged_is_an_error(cheat, judged, tmp_path):
    with pytest.raises(BadSuite, match="is missing, or was changed"):
        judged(cheat("eats_suite", str(tmp_path / "cache")))


@pytest.mark.slow
def test_suite_that_loses_a_file_is_an_error_on_spark(cheat, judged, toy_suite, tmp_path, spark):
    """With more buckets than are read at once."""
    name = cheat("eats_suite", str(tmp_path / "cache"))
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ConformError):
        patch.setattr("conform.suites.cache._FEWEST", 10)
        judged(name, suite=str(toy_suite), engine="spark")
    assert not (tmp_path / "run" / "summary.json").exists()


def test_vectors_that_an_engine_loses_are_not_fine(cheat, judged, monkeypatch):
    """Whatever the reason: a bucket of which only a part came is not the bucket."""
    from conform.suites.cache import Suite

    whole = Suite.items

    def half(suite, bucket):
        for number, item in enumerate(whole(suite, bucket)):
            if number % 2 == 0:
                yield item

    monkeypatch.setattr(Suite, "items", half)
    finished = judged(cheat("faithful"))
    assert finished.summary["vectors"] < 5
    assert left(finished) == {"not asked": 5 - finished.summary["vectors"]}
    assert (finished.exit_code, finished.summary["complete"]) == (3, False)


def test_limit_is_told_and_the_run_is_not_complete(cheat, judged, last_line):
    finished = judged(cheat("faithful"), limit=4)
    count = finished.summary["vectors"]
    assert 0 < count < 5
    assert (finished.exit_code, finished.summary["complete"]) == (0, False)
    code, line = last_line("fake-faithful", "--limit", 4)
    assert code == 0
    assert line.endswith(f"judged {count} of 5; not compared: {5 - count} not asked (--limit)")


@pytest.mark.parametrize(
    ("name", "reason", "sentence"),
    [
        ("variable", REASON, "unknown name 'variable'"),
        ("everything", REASON, "unknown name 'everything'"),
        ("unsupported load", " ", "has no reason for 'unsupported load'"),
    ],
)
def test_exception_needs_a_name_and_a_reason(name, reason, sentence, cheat, judged):
    with pytest.raises(UnknownTarget, match=sentence):
        judged(cheat("faithful", **{name: reason}))


def test_texts_of_an_adapter_cannot_write_lines_of_their_own(
    cheat, called, tiny_toy_suite, tmp_path
):
    """Not on the terminal, not in the report: they stay parts of the lines they are shown in."""
    place = tmp_path / "run"
    code, out, err = called("run", "--target", cheat("hostile"), "--suite", tiny_toy_suite,
                            "--engine", "inline", "--out", place)  # fmt: skip
    assert code in {1, 3}
    assert not any(line.startswith("fine") for line in out.splitlines())
    site = tmp_path / "site"
    called("report", place, "--out", site)
    pages = [path.read_text() for path in site.rglob("*.*") if path.suffix in (".html", ".md")]
    assert all(visible(text) == text for text in (out, err, *pages))
    assert r"\u001b]0;owned" in out
