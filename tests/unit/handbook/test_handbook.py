"""The handbook of a charter: every link leads somewhere, every rule is there, every text is
escaped. Kafka's handbook takes half a minute, so that its tests are slow; `make docs` checks its
links, too."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support import spec
from tests.support.assumed import FOLLOWER
from tests.support.links import dead_links, read

from charter import api
from charter.api.charters import load_charter
from charter.api.handbook import handbook, handbook_files, handbook_pages
from charter.api.verdicts import current
from charter.formats.charter_files.verdicts import read_verdicts
from charter.render.pages.blocks import DocumentPage
from conform.cli import main as cli

ROOT = Path(__file__).parents[3]
KAFKA = ROOT / "spec" / "kafka"
EXAMPLES = sorted((ROOT / "spec" / "examples").glob("*.charter"))
MARKDOWN_LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
FAILURES, MUTANTS = "pictures/fails-", "pictures/mutant."
VARIANTS = "pictures/variant."
STATES = ("pictures/state.", "pictures/modes.")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.replace("\\", "").strip().lower()).replace(" ", "-")


def dead_in_markdown(files: dict[str, str]) -> set[tuple[str, str]]:
    """The same of Markdown, with the anchors that sites give to headings."""
    anchors: dict[str, set[str]] = {}
    for name, text in files.items():
        counts: dict[str, int] = {}
        for title in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
            counts[slug(title)] = counts.get(slug(title), -1) + 1
            count = counts[slug(title)]
            anchors.setdefault(name, set()).add(f"{slug(title)}-{count}" if count else slug(title))
    dead = set()
    for name, text in files.items():
        for target in MARKDOWN_LINK.findall(FENCE.sub("", text)) if name.endswith(".md") else ():
            file, _, anchor = target.partition("#")
            missing = anchor and anchor not in anchors.get(file or name, set())
            if "://" not in target and ((file or name) not in files or missing):
                dead.add((name, target))
    return dead


@cache
def of_kafka(variant: str = "") -> tuple[DocumentPage, ...]:
    return handbook_pages(KAFKA, api.Selection(variant))


@cache
def site_of_kafka(variant: str = "") -> dict[str, str]:
    return handbook_files(of_kafka(variant), "html")


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
@pytest.mark.parametrize("variant", ["", "pre_kip_966"])
def test_every_link_of_kafkas_handbook_leads_somewhere(variant: str) -> None:
    site = site_of_kafka(variant)
    assert len(site) > 30 and not dead_links(site)
    found = [read(text).targets for name, text in site.items() if name.endswith(".html")]
    assert sum(map(len, found)) > 4_000  # pictures have none
    assert not dead_in_markdown(handbook_files(of_kafka(variant), "markdown"))


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
def test_every_rule_property_scenario_and_mutant_has_its_place() -> None:
    site = site_of_kafka()
    anchors = {anchor for name, text in site.items() if name.endswith(".html")
               for anchor in read(text).anchors}  # fmt: skip
    model = spec.model("kafka")
    wanted = {f.name for f in model.functions if not f.name.endswith("#")}
    for component in model.components:
        for operation in component.operations:
            wanted.add(operation.name)
            wanted |= {slug(f"{operation.name}/{b.name}") for b in operation.branches}
    wanted |= {step.name for system in model.systems for step in system.steps}
    wanted |= {p.name for p in (*model.properties, *model.liveness, *model.mutants)}
    wanted |= {slug(s.title) for s in model.scenarios} | {i.name for i in model.instances}
    assert not wanted - anchors
    drawn = {name: text for name, text in site.items() if name.startswith("pictures/")}
    wrong = tuple(name for name in drawn if name.startswith((FAILURES, MUTANTS)))
    states = {name for name in drawn if name.startswith(STATES)}
    assert {f"{STATES[0]}{c.name}.svg" for c in model.components} <= states
    assert {f"{STATES[1]}controller-registration.svg", f"{STATES[1]}replica.svg"} <= states
    added = {name: text for name, text in drawn.items() if name.startswith(VARIANTS)}
    pictures = [text for name, text in drawn.items() if name not in {*wrong, *states, *added}]
    assert len(pictures) == len(model.scenarios)
    for svg in (*pictures, *added.values()):
        assert "fails here" not in svg
        ElementTree.fromstring(svg)


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
def test_every_scenario_that_only_a_variant_has_is_drawn() -> None:
    site, model = site_of_kafka(), spec.model("kafka")
    page = site["variants.html"] + site["storage-variants.html"]
    own = {scenario.title for scenario in model.scenarios}
    only = {
        scenario.title
        for variant in model.variants
        for scenario in api.load(KAFKA, api.Selection(variant)).scenarios
        if scenario.title not in own
    }
    assert len(only) > 5 and "S1-E0 the last replica standing loses a record" in only
    for title in only:
        assert f'id="{slug(title)}"' in page
        (drawn,) = (name for name in site if name.startswith(VARIANTS)
                    and name.removesuffix(".svg").endswith(f".{slug(title)[:60]}"))  # fmt: skip
        assert f'<img src="{drawn}"' in page


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
def test_what_searches_found_to_fail_is_drawn() -> None:
    """Each property that fails in an instance, and each that a variant gives up."""
    site = site_of_kafka()
    drawn = {name: text for name, text in site.items() if name.startswith(FAILURES)}
    variants = Counter(name.removeprefix(FAILURES).partition("-")[0] for name in drawn)
    assert variants.keys() <= {"", "pre_kip_966", "gated_without_elr", "process_memory"}
    if "rows are out of date" not in site["table-of-verdicts.html"]:
        assert len(variants) == 4 and min(variants.values()) >= 3 and variants[""] > 10
    lasting = {live.name for live in spec.model("kafka").liveness}
    for name, svg in drawn.items():
        ElementTree.fromstring(svg)
        assert "fails here" in svg or name.removesuffix(".svg").endswith(tuple(lasting)), name
    assert "It is no run of the charter" not in site["table-of-verdicts.html"]


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
def test_each_mutant_and_each_expected_failure_that_was_searched_is_drawn() -> None:
    site, model = site_of_kafka(), spec.model("kafka")
    of_states = {prop.name for prop in model.properties if prop.kind == "always"}
    charter, _ = load_charter(KAFKA)
    rows = current(charter, read_verdicts(KAFKA / "verdicts" / "verdicts.json"))
    wanted = {
        f"{FAILURES}-{row.instance}-{name}.svg"
        for row in rows if row.is_of_charter
        for name, one in row.verdicts.items() if one.expected and (one.trace or name in of_states)
    } | {f"{MUTANTS}{row.mutant}.svg" for row in rows if row.mutant}  # fmt: skip
    assert not wanted - site.keys()
    for name in wanted:
        ElementTree.fromstring(site[name])
        assert "no run is shown" not in site[name], name


@pytest.mark.slow
@pytest.mark.xdist_group("handbook")
def test_each_claim_leads_to_its_scenarios_and_to_how_it_fails() -> None:
    page = site_of_kafka()["claims.html"]
    titles = re.findall(r"scenario (?:<a href=\"([^\"]*)\">)?“", page)
    assert len(titles) > 100 and all(titles)
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    told = [each for cell in cells for each in cell.split("; ") if " fails in <a" in each]
    broken = [each for each in told if re.search(r"after \d+ steps|first state", each)]
    assert len(broken) > 30
    assert [each for each in broken if 'href="pictures/fails-' not in each] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_links_of_the_examples_lead_somewhere(path: Path) -> None:
    made = handbook_pages(path)
    assert not dead_links(handbook_files(made, "html"))
    assert not dead_in_markdown(handbook_files(made, "markdown"))


LAMP = """protocol lamp

-- A <b>lamp</b> & its | [switch](x).

source MANUAL "The manual" at "https://example.org/manual" { "1": "on" }

-- In the wrong `room`, `press` does nothing; `bright` is a function.
enum Light { OFF, ON }

-- Whether a light is bright.
fun bright(light: Light) -> bool cites MANUAL "1" = light == ON

component lamp {
  state light: Light = OFF

  -- Pressed when it is `bright`, or not: the parameter `often`.
  operation press(often: bool) -> bool cites MANUAL "1" {
    let before = bright(light)
    in any order {
      branch worn cites silent when used: often and before reply false
      branch dim cites silent when used: often and not before reply false
    }
    branch pressed cites MANUAL "1" {
      light' = if before then OFF else ON
      reply true
    }
  }

  observe all { light }
}

fun often(light: Light) -> bool cites silent = bright(light)

witness lit of lamp: light == ON

instance tiny of lamp {}

scenario "A <lamp> is lit" of lamp cites MANUAL "1" {
  do press(false) -> pressed
  expect light == ON
}
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "index.charter"
    path.write_text(LAMP)
    return path


def test_prose_is_escaped(lamp: Path) -> None:
    site, pages = handbook(lamp, "html"), handbook(lamp, "markdown")
    chapter = site["index-.html"]
    assert "A &lt;b&gt;lamp&lt;/b&gt; &amp; its | [switch](x)." in chapter
    assert read(chapter).tags.count("b") == 0
    assert "A \\<b\\>lamp\\</b\\> & its | \\[switch\\](x)." in pages["index-.md"]
    assert "its \\| \\[switch\\](x)" in pages["index.md"]
    assert not dead_links(site) and not dead_in_markdown(pages)


def test_names_in_code_and_prose_link_to_what_they_mean(lamp: Path) -> None:
    chapter = handbook(lamp, "html")["index-.html"]
    assert 'let before = <a href="index-.html#bright">bright</a>(' in chapter
    assert '<a href="index-.html#bright"><code>bright</code></a> is a function' in chapter
    assert "the parameter <code>often</code>" in chapter
    assert "In any order: " in chapter and 'href="index-.html#pressworn"' in chapter
    assert 'href="https://example.org/manual#on">MANUAL 1</a>' in chapter
    assert 'Used in: <a href="index-.html#press"' in chapter


def test_a_scenario_that_is_no_run_is_told(lamp: Path) -> None:
    lamp.write_text(LAMP.replace("expect light == ON", "expect light == OFF"))
    site = handbook(lamp, "html")
    assert "It is no run of the charter: " in site["index-.html"]
    assert not [name for name in site if name.startswith("pictures/")]


def test_each_file_and_each_scenario_has_a_page_or_picture_of_its_own(tmp_path: Path) -> None:
    text, scenario = LAMP.split("scenario")
    (tmp_path / "10-claims.charter").write_text(text)
    titles = ("it is lit", "It is lit!", "it " + "is " * 100 + "lit")
    shown = (scenario.replace("A <lamp> is lit", title) for title in titles)
    scenarios = "".join(f"scenario{each}" for each in shown)
    (tmp_path / "20-claims.charter").write_text(f"protocol lamp\n\n{scenarios}")
    (tmp_path / "claims.toml").write_text(CLAIMS)
    site = handbook(tmp_path, "html")
    assert "What the texts claim" in site["claims.html"]
    assert 'id="bright"' in site["claims-.html"]
    assert 'id="it-is-lit"' in site["claims--.html"]
    stems = (Path(name).stem for name in site if name.startswith("pictures/"))
    drawn = sorted(stems, key=len)
    assert drawn[:3] == ["it-is-lit", "state.lamp", "it-is-lit-"] and len(drawn) == 4
    assert len(drawn[3]) <= 60
    assert not dead_links(site)


CLAIMS = """[[section]]
title = "Lamps"

[[section.claim]]
id = "C1"
says = "It can be lit."
verdict = "open"
why = "Nobody looked."
"""


def test_a_state_and_the_modes_of_a_component_are_drawn(tmp_path: Path) -> None:
    """Modes as the scenario shows them: what it does not do has no arrow."""
    path = tmp_path / "door.charter"
    path.write_text(DOOR)
    site = handbook(path, "html")
    state, modes = site["pictures/state.door.svg"], site["pictures/modes.door.svg"]
    assert ">log<" in state and ">OPEN<" in state and "way: SHUT" in state
    assert "from SHUT to OPEN: pull; from OPEN to LOCKED: lock" in modes
    for svg in (state, modes):
        ElementTree.fromstring(svg)
    assert '<img src="pictures/modes.door.svg"' in site["door.html"]


DOOR = """protocol door

enum Way { SHUT, OPEN, LOCKED }

component door {
  state way: Way = SHUT
  state log: seq Way max 3 = <>

  operation pull() -> bool cites silent {
    branch pulled { way' = OPEN  log' = append(log, OPEN)  reply true }
  }
  operation lock() -> bool cites silent {
    branch locked { way' = LOCKED  reply true }
  }
  operation close() -> bool cites silent {
    branch closed { way' = SHUT  reply true }
  }
  observe all { way }
}

witness opened of door: way == OPEN

instance tiny of door {}

scenario "A door" of door cites silent {
  do pull() -> pulled
  do lock() -> locked
  do close() -> closed
}
"""


def test_what_an_operation_assumes_is_below_its_head() -> None:
    files = handbook(FOLLOWER, "markdown")
    shown = "\n".join(text for name, text in files.items() if name.endswith(".md"))
    head, assumed = shown.index("operation append(of"), shown.index("assume known_term")
    assert head < assumed < shown.index("append/stale", assumed)
    assert dead_in_markdown(files) == set()


def test_a_brace_in_a_comment_opens_no_operation(lamp: Path) -> None:
    lamp.write_text(
        LAMP.replace('-> bool cites MANUAL "1" {\n', '-> bool cites MANUAL "1" {  -- {\n')
    )
    text = re.sub("<[^>]+>", "", handbook(lamp, "html")["index-.html"])
    assert "operation press(often: bool) -&gt; bool cites MANUAL &quot;1&quot;\n" in text


def test_the_contents_have_first_sentences_with_their_colons(lamp: Path) -> None:
    lamp.write_text(LAMP.replace("or not: the parameter", "at 10:30, or not: the parameter"))
    text = re.sub("<[^>]+>", "", handbook(lamp, "html")["index.html"])
    assert "Pressed when it is bright, at 10:30, or not." in text


def test_the_command_writes_a_site_or_markdown(
    lamp: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ["generate", "--backend", "handbook", str(lamp), "--out", str(out)]
    assert cli.main(asked) == 0
    told = capsys.readouterr().out.split()
    assert (out / "index.html").as_posix() in told and (out / "style.css").is_file()
    assert (out / "pictures" / "a-lamp-is-lit.svg").is_file()
    assert cli.main([*asked, "--format", "markdown", "--json"]) == 0
    assert '"written"' in capsys.readouterr().out and (out / "index-.md").is_file()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--backend", "tla", "--format", "html", "."], "--format is for --backend handbook"),
        (["--backend", "handbook", "--instance", "tiny", "."], "a handbook is of all instances"),
        (["--backend", "handbook", "missing"], "missing does not exist"),
        (["--backend", "handbook", ".", "--variant", "no"], "there is no variant 'no'"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(
    lamp: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(lamp.parent)
    assert cli.main(["generate", *options]) == 2
    assert sentence in capsys.readouterr().err
