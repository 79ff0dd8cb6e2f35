"""The whole report from a run on disk: what stands where, and that nothing in it is markup."""

import errno
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.caches import own_cache
from tests.unit.reports import sample

from charter.formats.run import SystemAnswer
from conform.cli.main import main
from conform.console.errors import BadRun, CannotWrite
from conform.console.terminal import visible
from conform.reports import write
from conform.runs.findings.findings import read_findings
from conform.runs.findings.in_system import SystemAnswers, example
from conform.storage.bucket_store import RunFolder

VOID = {"meta", "link", "br", "wbr", "input", "img", "hr"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The report of two releases that differ."""
    tmp_path = tmp_path_factory.mktemp("report")
    patch = pytest.MonkeyPatch()
    patch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    runs = [sample.write_suite_and_run(tmp_path),
            sample.write_suite_and_run(tmp_path, "run-2", "4.0.2", mend=("known",))]  # fmt: skip
    out = tmp_path / "site"
    write(runs, out, sample.write_sections(tmp_path))
    patch.undo()
    return out


def test_bounds_are_a_table_of_the_run(site):
    assert "largest_min_isr" not in Page(site / "index.html").text
    page = Page(site / "runs" / "kafka-controller-4.3.1" / "index.html")
    assert "was asked largest_min_isr = 2 at most 3 Broker" in page.text
    summary = (site / "summary.md").read_text()
    assert (
        "| bounds of the questions | asked |\n| --- | --- |\n| largest\\_min\\_isr = 2 |" in summary
    )


class Page(HTMLParser):
    """What a page has: links, ids, headers of tables without a scope, unbalanced tags, text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.open, self.faults, self.words = [], [], [], [], []
        self.landmarks = set()
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag, attrs):
        held = dict(attrs)
        self.landmarks.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if "href" in held:
            self.links.append(held["href"])
        if "id" in held:
            self.ids.append(held["id"])
        if tag == "th" and "scope" not in held:
            self.faults.append("a header without a scope")
        if tag == "script":
            self.faults.append("a script")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes something else")

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}


def finding(site, name, run="kafka-controller-4.3.1"):
    return Page(site / "runs" / run / "findings" / f"{name}.html")


def test_pages_are_well_formed_and_escaped(site):
    found = pages(site)
    assert len(found) > 12
    for name, page in found.items():
        assert not page.faults, name
        assert not page.open, name
        assert len(page.ids) == len(set(page.ids)), name
        assert {"main", "header", "footer", "nav", "h1", "title"} <= page.landmarks, name


def test_hostile_texts_are_shown_as_texts(site):
    page = finding(site, "f-ffffffffff")
    assert sample.HOSTILE in page.text
    assert "script" not in page.landmarks


def test_no_file_steers_a_terminal_or_turns_the_direction_of_a_page(site):
    texts = {path: path.read_text() for path in site.rglob("*.*")
             if path.suffix in (".html", ".md", ".xml", ".svg", ".json")
             and "data" not in path.parts}  # fmt: skip
    assert {path.suffix for path in texts} == {".html", ".md", ".xml", ".svg", ".json"}
    shown = [path for path, text in texts.items() if r"\u202e" in text]
    assert {path.suffix for path in shown} >= {".html"}
    for path, text in texts.items():
        assert visible(text) == text, path


def test_links_lead_somewhere_and_stay_on_the_disk_but_for_citations(site):
    found = pages(site)
    cited = {url for _, _, url in sample.sections_json()["links"]}
    for name, page in found.items():
        for link in page.links:
            if link in cited:
                continue
            path, _, anchor = link.partition("#")
            assert "//" not in link, link
            target = ((site / name).parent / path).resolve() if path else site / name
            assert target.exists(), f"{name} -> {link}"
            if anchor:
                relative = target.relative_to(site.resolve()).as_posix()
                assert anchor in found[relative].ids, f"{name} -> {link}"


def test_index_claims_what_was_measured(site):
    text = Page(site / "index.html").text
    counted = "2 findings not explained (3 deviations), 1 deviation explained by 1 entry"
    assert f"{counted} of the overlay; judged 5 of 6;" in text
    assert "level “metadata”" in text
    assert re.search(r"S0 §5.2 .* diverges", text)
    assert re.search(r"no text speaks silent create_topic conforms", text)
    assert "1 of 6 vectors was answered differently" in text


def test_one_is_not_told_as_several(site):
    texts = [page.text for page in pages(site).values()]
    assert any("1 vector of " in text for text in texts)
    for text in texts:
        assert not re.search(r"(?<![\d,.])1 (vectors|times|steps|files|runs)\b", text)


def test_index_begins_with_the_findings_the_gravest_first(site):
    text = Page(site / "index.html").text
    sentences = ["got the fault", "register/unclean: expected partition.t1.elr"]
    places = [text.index(words) for words in (*sentences, "Sections of the protocol")]
    assert places == sorted(places)
    assert f"conform replay {sample.VECTORS['fault'].id} --run run-1" in text


def test_finding_shows_the_shortest_vector_its_step_and_the_command(site):
    page = finding(site, "last_known_leader")
    vector = sample.VECTORS["known"].id
    assert f"conform replay {vector} --run run-1" in page.text
    assert "by design" in page.text
    assert "yes, by the charter" in page.text
    assert "spec/kafka/80-overlay.charter:5" in page.text
    assert "partition. t1. leader_epoch differs 2 3 4" in page.text
    assert "svg" in page.landmarks


def test_finding_says_from_which_state_its_vectors_start(site):
    loaded, initial = (finding(site, name).text for name in ("last_known_leader", "f-cccccccccc"))
    assert "no vector of this finding starts from the initial one" in loaded
    assert "a loaded state 4 4" in loaded
    assert "loaded" not in initial
    assert "the initial state 5 5" in initial


def test_finding_says_nothing_of_systems_when_none_was_searched(site):
    assert "whole system" not in finding(site, "f-cccccccccc").text


def test_finding_says_where_it_happens_when_systems_were_searched(tmp_path):
    run = sample.write_suite_and_run(tmp_path)
    folder = RunFolder(str(run))
    listed = read_findings(folder.read_json("summary.json"))
    about = {one.id: one for one in listed}
    answers = SystemAnswers.read(folder)
    for one, system in zip(listed, ("cluster", ""), strict=False):
        vector, step = example(one)
        story = ("lose_power(b: b1, kept: 0)  replica[b1].lose_power/lost",) if system else ()
        why = "" if system else "no step of cluster calls heartbeat"
        states = 7 * bool(system)
        given = (vector, step, system, "pair", 2, story, states, why)
        answers.keep(SystemAnswer(*given, impossible=not system))
    assert answers.known == SystemAnswers.read(folder).known and len(about) > 1
    write([run], tmp_path / "site", sample.write_sections(tmp_path))
    site = tmp_path / "site"
    there, apart = (finding(site, one.id).text for one in listed[:2])
    assert "Can it happen in the whole system? yes, by the charter" in there
    assert "in the system cluster, after the first 2 operations, instance pair: 1 step." in there
    assert "lose_power(b: b1, kept: 0) replica[b1].lose_power/lost" in there
    assert "not by the charter in the component alone: no step of cluster calls heartbeat." in apart
    assert "can it happen in the whole system?" in Page(site / "index.html").text


def test_pictures_mark_what_is_missing_and_what_is_wrong(site):
    folder = site / "runs" / "kafka-controller-4.3.1" / "findings"
    page = (folder / "f-cccccccccc.html").read_text(encoding="utf-8")
    assert "b1: partition.t1.elr (observed, but not allowed)" in page
    assert "b1: partition.t1.last_known_elr (expected, but not observed)" in page
    assert "In every state, replicas holds b1, b2 and b3." in page


def test_vector_that_conforms_has_a_page_with_its_states(site):
    vector = sample.VECTORS["conforms"].id
    page = Page(site / "runs" / "kafka-controller-4.3.1" / "vectors" / f"{vector}.html")
    assert "alter_partition/committed" in page.text
    assert "partition. t1. isr {b1, b2} {b1}" in page.text


def test_run_tells_what_was_not_judged_and_the_words_of_the_target(site):
    page = Page(site / "runs" / "kafka-controller-4.3.1" / "index.html")
    assert f"unsupported create_topic{visible(sample.STEERING)} 1 1" in page.text
    assert "2 branches were never taken: expire/idle , alter_partition/committed" in page.text
    killed = "1 of 2 hand-written mutants of the charter are killed by the small suite"
    assert killed in page.text
    counted = "3 of 5 obligations asked, 1 infeasible, 1 not asked."
    assert f"counted from the vectors that it judged: {counted} kind" in page.text
    assert "1 obligation: its vectors were not judged, which adapter.toml allows" in page.text
    assert "did not reach these entries of the overlay: elr_survives" in page.text
    assert "overlay claims too much" in page.text
    assert "v1 , step 2, expire/fenced" in page.text
    assert "Counts of the suite: mutants killed (small suite) 1, obligations 1,370" in page.text
    assert "STALE_BROKER_EPOCH" in page.text


def test_run_tells_what_was_not_compared_and_why_that_is_allowed(site):
    page = Page(site / "runs" / "kafka-controller-4.3.1" / "index.html")
    assert "unsupported votes: 1 vector, allowed: Nobody votes. " in page.text
    assert "The adapter broke on 2 batches" in page.text
    assert "not compared: 1 unsupported votes (allowed)" in page.text


def test_branches_stand_under_the_sections_of_the_charter(site):
    text = pages(site)["runs/kafka-controller-4.3.1/branches.html"].text
    assert text.count("Brokers come.") == 1
    assert (
        text.index("expire/fenced") < text.index("Brokers come.") < text.index("register/unclean")
    )


def test_comparison_shows_both_sides_of_the_first_difference(site):
    text = Page(site / "compare.html").text
    assert "diverges conforms 1" in text
    assert "partition. t1. leader_epoch 2 4 3" in text


def test_what_machines_read_is_well_formed(site):
    run = site / "runs" / "kafka-controller-4.3.1"
    suite = ElementTree.parse(run / "junit.xml").getroot()
    assert suite.get("failures") == str(len(suite.findall("./testcase/failure"))) == "2"
    assert [case.get("name") for case in suite.findall("./testcase[skipped]")] == [
        "fenced [last_known_leader]", "idle", "committed"]  # fmt: skip
    assert ElementTree.parse(run / "badge.svg").getroot().tag.endswith("svg")
    badge = json.loads((run / "badge.json").read_text())
    assert badge["message"] == "5 of 6 judged · 3 new · 1 known"
    assert badge["color"] == "red"
    assert (run / "data" / "deviations" / "bucket=0000" / "part-0.parquet").exists()
    summary = (site / "summary.md").read_text()
    assert "| last\\_known\\_leader | by design | state | 1 | 1 |" in summary
    assert "<script>" not in summary


def test_report_is_withheld_when_a_canary_misbehaved(tmp_path):
    good = sample.write_suite_and_run(tmp_path)
    bad = sample.write_suite_and_run(tmp_path, "run-2", "4.0.2", trusted=False)
    out = tmp_path / "site"
    write([good], out, None)
    written = write([good, bad], out, None)
    assert written.withheld
    assert sorted(path.name for path in out.iterdir()) == ["index.html", "style.css", "summary.md"]
    page = Page(out / "index.html")
    assert not page.faults
    assert "This report is withheld" in page.text
    assert sample.HOSTILE in page.text
    assert "not explained" not in page.text


def test_report_without_suite_and_sections_still_shows_findings(tmp_path, monkeypatch):
    run = sample.write_suite_and_run(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "empty"))
    out = tmp_path / "site"
    assert not write([run], out).withheld
    for name, page in pages(out).items():
        assert not page.faults, name
    page = finding(out, "f-cccccccccc")
    assert "not known" in page.text
    assert "partition. t1. elr differs" in page.text


def test_report_refuses_a_folder_that_is_no_finished_run(tmp_path):
    with pytest.raises(BadRun, match="not a finished run"):
        write([tmp_path], tmp_path / "site")


def test_report_removes_nothing_that_is_not_its_own(tmp_path):
    run = sample.write_suite_and_run(tmp_path / "build" / "runs")
    with pytest.raises(CannotWrite, match="something other than a report"):
        write([run], tmp_path / "build")
    assert (run / "run.json").exists()


def test_report_that_cannot_replace_an_earlier_one_names_the_option(tmp_path, monkeypatch):
    run = sample.write_suite_and_run(tmp_path)
    write([run], tmp_path / "site")

    def unlink(path, missing_ok=False):
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(CannotWrite, match=r"\(Read-only file system\).*folder with --out"):
        write([run], tmp_path / "site")


def test_report_refuses_broken_sections(tmp_path):
    run = sample.write_suite_and_run(tmp_path)
    path = sample.write_sections(tmp_path)
    content = json.loads(path.read_text())
    del content["branches"][0]["line"]
    path.write_text(json.dumps(sample.as_written(content)))
    with pytest.raises(BadRun, match=r"branches\[0\].*'line' is missing"):
        write([run], tmp_path / "site", path)


def test_citations_lead_to_their_sections(site):
    text = "".join(path.read_text() for path in site.rglob("*.html"))
    link = '<a href="https://example.org/text?a=1&amp;b=2#isr" rel="noreferrer">S2 §6.5.1</a>'
    assert f'<span class="cite">{link}</span>' in text
    assert '<span class="cite">S1 How it works</span>' in text


@pytest.mark.parametrize("url", ["javascript:alert(1)", 'https://x/" onclick="y', "//x", ""])
def test_report_refuses_a_link_that_is_no_address_of_the_web(url, tmp_path):
    run = sample.write_suite_and_run(tmp_path)
    path = sample.write_sections(tmp_path)
    content = json.loads(path.read_text())
    content["links"][0][2] = url
    path.write_text(json.dumps(sample.as_written(content)))
    with pytest.raises(BadRun, match=r"links\[0\].*an address of the web"):
        write([run], tmp_path / "site", path)


def test_the_report_is_the_same_when_the_table_of_a_variant_shares_rows_with_its_charter(tmp_path):
    run = sample.write_suite_and_run(tmp_path)
    whole = sample.sections_json()
    (tmp_path / "base.json").write_text(json.dumps(whole | {"branches": whole["branches"][::-1]}))
    last = len(whole["branches"]) - 1
    short = whole | {"base": "base.json", "branches": [last, *whole["branches"][1:]]}
    path = sample.write_sections(tmp_path)
    write([run], tmp_path / "one", path)
    path.write_text(json.dumps(short))
    write([run], tmp_path / "two", path)
    pages = [sorted((tmp_path / name).rglob("*.html")) for name in ("one", "two")]
    assert [p.read_text() for p in pages[0]] == [p.read_text() for p in pages[1]]
    (tmp_path / "base.json").unlink()
    with pytest.raises(BadRun, match=r"base\.json"):
        write([run], tmp_path / "three", path)


def test_two_reports_of_one_run_are_equal(tmp_path):
    run, sections = sample.write_suite_and_run(tmp_path), sample.write_sections(tmp_path)
    sites = [tmp_path / "one", tmp_path / "two"]
    for out in sites:
        write([run], out, sections)
    texts = [{p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()}
             for out in sites]  # fmt: skip
    assert texts[0] == texts[1]


def test_command_ends_with_3_when_the_report_is_withheld(tmp_path, capsys):
    good = sample.write_suite_and_run(tmp_path)
    bad = sample.write_suite_and_run(tmp_path, "run-2", "4.0.2", trusted=False)
    out = ["--out", str(tmp_path / "site")]
    assert main(["report", str(good), *out]) == 0
    assert "2 findings not explained (3 deviations), 1 deviation" in capsys.readouterr().out
    assert main(["report", str(bad), "--json", *out]) == 3
    assert json.loads(capsys.readouterr().out)["withheld"] is True
    assert main(["report", str(tmp_path / "nothing"), *out]) == 2
    assert "not a finished run" in capsys.readouterr().err


def test_page_of_a_run_names_the_files_that_were_judged(site):
    page = (site / "runs" / "kafka-controller-4.3.1" / "index.html").read_text()
    assert "ada97e5" in page and "1a2b3c" in page
