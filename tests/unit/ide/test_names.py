"""What a name means: hover, definition, references, outline, rename."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.edited_texts import FILE, LEASE, cursor, open_text, show

from charter.diagnostics import Diagnostics, Source
from charter.ide import answers, workspace
from charter.ide.answers import CannotRename, Outlined
from charter.ide.build import index_of
from charter.ide.offsets import Shift
from charter.ide.workspace import Workspace
from charter.project.pipeline import check_texts, parse_all
from charter.project.sources import read_sources

ROOT = Path(__file__).parents[3]


def hover(before: str, behind: str = "") -> str:
    found = answers.hover(open_text()[1], FILE, cursor(before, behind))
    return "" if found is None else found.text


def definition(before: str, behind: str = "") -> list[str]:
    found = answers.definition(open_text()[1], FILE, cursor(before, behind))
    return [show(span) for span in found]


def rename(before: str, new: str, behind: str = "") -> str:
    """The text after a rename; it must have no errors."""
    workspace, snapshot = open_text()
    spans = answers.rename(workspace, FILE, cursor(before, behind), new)
    text = answers.replace_spans(snapshot.files[FILE].source, spans[FILE], new)
    assert open_text(text)[1].found[FILE] == ()
    return text


def test_the_charter_of_these_tests_has_no_errors_when_it_is_checked() -> None:
    assert open_text()[1].found[FILE] == ()


def test_hover_shows_signature_prose_and_links_when_the_name_is_used() -> None:
    assert hover("branch busy when taken: tak", "en") == (
        "```charter\nfun taken(lock: Lock, by: Client) -> bool\n```\n\n"
        "Whether somebody else has it."
    )
    assert hover("took acqu", "ire") == (
        "```charter\noperation acquire(client: Client) -> Answer\n```\n\nTakes the lock.\n\n"
        "Cites [DOC §2](https://example.org/doc#grant)."
    )


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("lock.owner' = present(cli", "client: Client"),
        ("lock.token' = ne", "next: Token"),
        ("present(other) and oth", "other: Client"),
        ("let next = bump(lock.tok", "field Lock.token: Token"),
        ("lock.own", "field Lock.owner: option Client"),
        ("reply gran", "granted(token: Token): Answer"),
        ("refused(HE", "HELD: Status"),
        ("uses: int 0..mo", "const most: int 0..9"),
        ("let next = bump(lo", "state lock: Lock"),
        ("took acquire/fr", "branch acquire/free"),
    ],
)
def test_hover_shows_the_type_when_the_name_is_of_this_kind(before: str, head: str) -> None:
    found = answers.hover(open_text()[1], FILE, LEASE.index(before) + len(before))
    assert found is not None and f"```charter\n{head}\n```" in found.text


def test_hover_shows_title_and_section_when_a_source_is_cited() -> None:
    assert hover("-> Answer cites DO", "C") == (
        "The manual\n\n[DOC §2](https://example.org/doc#grant)"
    )


def test_nothing_is_shown_when_no_name_stands_there() -> None:
    assert hover("-- Takes the", " lock.") == ""
    assert definition("-- Takes the", " lock.") == []


def test_definition_leads_to_the_declaration_when_a_name_is_used() -> None:
    assert definition("when taken: ta", "ken(") == ["11: taken"]
    assert definition("when taken: taken(lo", "ck,") == ["13: lock"]
    assert definition("reply granted(ne", "xt)") == ["18: next"]
    assert definition("caught by fe", "w") == ["26: few"]
    assert definition("lease.acquire/bu", "sy }") == ["16: busy"]
    assert definition("owner: present(si", "ze)") == ["27: size"]
    assert definition("do acquire(an", "n)") == ["28: ann", "30: ann"]


def test_references_are_all_names_of_one_thing_when_others_have_the_same_text() -> None:
    snapshot = open_text()[1]
    offset = cursor("record Lock { owner: option Client, tok", "en")
    found = answers.references(snapshot, FILE, offset, declarations=True)
    assert [show(span) for span in found] == [
        "8: token", "13: token", "18: token", "20: token", "27: token",
    ]  # fmt: skip
    fewer = answers.references(snapshot, FILE, offset, declarations=False)
    assert [show(span) for span in fewer] == [show(span) for span in found[1:]]


def test_answers_keep_up_when_the_text_is_broken_above_them() -> None:
    workspace, _ = open_text()
    broken = LEASE.replace("sort Client\n", "sort Client\nsort\nfun (\n")
    workspace.open(FILE, broken)
    snapshot = workspace.snapshot(FILE)
    offset = cursor("when taken: ta", "ken(", broken)
    assert [show(span) for span in answers.definition(snapshot, FILE, offset)] == ["13: taken"]
    errors = [item.code for item in workspace.refresh(FILE).found[FILE]]
    assert errors == ["syntax/unexpected"]
    again = answers.definition(workspace.snapshot(FILE), FILE, offset)
    assert [show(span) for span in again] == ["13: taken"]


def test_a_difference_is_computed_once_when_many_places_are_moved() -> None:
    assert Shift.between("one two", "one or two") is Shift.between("one two", "one or two")


def test_the_outline_nests_declarations_when_a_component_has_operations() -> None:
    def names(found: tuple[Outlined, ...]) -> list[object]:
        return [(each.name, names(each.inner)) if each.inner else each.name for each in found]

    found = names(answers.outline(open_text()[1], FILE))
    assert ("Lock", ["owner", "token", "uses"]) in found
    assert ("lease", ["lock", ("acquire", ["busy", "free"])]) in found
    assert "ann first" in found


def test_instances_and_scenarios_have_a_lens_when_they_can_run() -> None:
    found = answers.lenses(open_text()[1], FILE)
    assert [(lens.kind, lens.name) for lens in found] == [
        ("instance", "tiny"), ("scenario", "ann first"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "behind", "new", "times"),
    [
        ("sort Cli", "ent", "Customer", 7),
        ("record Lock { owner: option Client, tok", "en", "fence", 5),
        ("branch bu", "sy when taken", "occupied", 3),
        ("let ne", "xt =", "following", 3),
        ("fun tak", "en", "gone", 3),
        ("acquire(cli", "ent:", "who", 4),
        ("mutant gre", "edy", "rude", 1),
        ("do acquire(an", "n)", "amy", 4),
    ],
)
def test_a_rename_changes_every_use_when_meanings_stay(
    before: str, behind: str, new: str, times: int
) -> None:
    assert rename(before, new, behind).count(new) == times


@pytest.mark.parametrize(
    ("before", "behind", "new", "why"),
    [
        ("let ne", "xt =", "client", "`client` is a name of this declaration already"),
        ("sort Cli", "ent", "Token", "`Token` is declared twice"),
        ("sort Cli", "ent", "9", "`9` is not a name"),
        ("state lo", "ck", "if", "with the name `if` line 16 is wrong"),
        ("-- Takes", " the", "x", "there is no name of this protocol here"),
    ],
)
def test_a_rename_is_refused_when_it_would_change_meanings(
    before: str, behind: str, new: str, why: str
) -> None:
    with pytest.raises(CannotRename, match=why):
        rename(before, new, behind)


def test_a_rename_is_refused_when_the_text_cannot_be_parsed() -> None:
    workspace, _ = open_text()
    workspace.open(FILE, LEASE + "fun (")
    with pytest.raises(CannotRename, match="has syntax errors"):
        answers.rename(workspace, FILE, cursor("sort Cli", "ent"), "Customer")


def test_an_error_ends_with_the_text_when_the_text_ends_too_early() -> None:
    snapshot = open_text("protocol p\nsort")[1]
    (error,) = snapshot.found[FILE]
    size = len(snapshot.files[FILE].source.text)
    assert error.span.end > size
    assert snapshot.now(error.span).end == size


def test_files_of_one_folder_are_apart_when_their_protocols_differ(tmp_path: Path) -> None:
    (tmp_path / "a.charter").write_text("protocol one\nsort A\n", encoding="utf-8")
    (tmp_path / "b.charter").write_text("-- two\nprotocol two\nsort A\n", encoding="utf-8")
    (tmp_path / "c.charter").write_text("protocol one\ntype B = set A\n", encoding="utf-8")
    found = Workspace().protocol((tmp_path / "c.charter").as_posix())
    assert [Path(source.name).name for source in found] == ["a.charter", "c.charter"]


def test_each_use_of_a_name_that_is_missing_is_marked() -> None:
    text = LEASE.replace("  state lock: ", "  state lockx: ")
    found = open_text(text)[1].found[FILE]
    marked = [item.span.start for item in found if item.message == "`lock` is not declared"]
    assert len(marked) == len(set(marked)) > 1
    told = check_texts((Source(FILE, text),)).errors
    assert len([item for item in told if item.message == "`lock` is not declared"]) == 1


def test_errors_of_other_files_stay_when_one_file_is_broken(tmp_path: Path) -> None:
    first, second = ((tmp_path / f"{name}.charter").as_posix() for name in "ab")
    workspace = Workspace()
    workspace.open(first, "protocol one\nsort A\n")
    workspace.open(second, "protocol one\ntype B = set C\n")
    workspace.refresh(first)
    workspace.open(first, "protocol one\nsort A\nsort")
    found = workspace.refresh(first).found
    assert [item.code for item in found[first]] == ["syntax/unexpected"]
    assert [item.message for item in found[second]] == ["there is no type `C`"]


def test_the_other_declarations_are_checked_when_one_is_broken() -> None:
    workspace, _ = open_text()
    broken = LEASE.replace("other != by", "other != ").replace(
        "few of lease: lock", "few of lease: lok"
    )
    workspace.open(FILE, broken)
    snapshot = workspace.refresh(FILE)
    assert [item.message.partition(";")[0] for item in snapshot.found[FILE]] == [
        "`lease` cannot stand here", "`lok` is not declared",
    ]  # fmt: skip
    assert [snapshot.now(item.span) for item in snapshot.found[FILE]] == [
        item.span for item in snapshot.found[FILE]
    ]
    # The function that is being written is still known.
    offset = cursor("when taken: ta", "ken(", broken)
    assert [show(span) for span in answers.definition(snapshot, FILE, offset)] == ["11: taken"]


def test_a_text_that_is_opened_broken_has_answers_from_what_can_be_parsed() -> None:
    broken = LEASE.replace("other != by", "other != ")
    snapshot = open_text(broken)[1]
    assert len(snapshot.found[FILE]) == 1
    offset = cursor("took acqu", "ire", broken)
    assert [show(span) for span in answers.definition(snapshot, FILE, offset)] == ["15: acquire"]


def test_a_file_can_be_opened_when_others_are_being_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The texts are those of another thread, which goes on."""
    space = Workspace()
    space.open(f"{tmp_path}/one.charter", "protocol one\n")

    def opening(name: str) -> Path:
        space.open(f"{name}.more", "protocol more\n")
        return Path(name)

    monkeypatch.setattr(workspace, "Path", opening)
    found = space.protocol(f"{tmp_path}/one.charter")
    assert [source.name for source in found] == [f"{tmp_path}/one.charter"]


@pytest.mark.parametrize(
    "path",
    [
        "tests/golden/surface/everything.charter",
        pytest.param("spec/kafka", marks=pytest.mark.slow),
    ],
)
def test_every_name_of_a_charter_has_a_meaning_when_it_is_indexed(path: str) -> None:
    sources = read_sources(ROOT / path)
    index = index_of(parse_all(sources, Diagnostics()))
    assert set(index.places) == {source.name for source in sources}
    for key, symbol in index.symbols.items():
        places = [place.span for place in index.of(key) if place.declares]
        assert symbol.kind == "scenario" or symbol.name in places, key
