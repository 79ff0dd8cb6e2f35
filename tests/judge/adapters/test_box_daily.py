"""What "a tool that anyone can install" says a user does all day, sentence by sentence: the wheel
alone, in a root folder without the checkout."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.drawn.planted import mend
from tests.support.editor import open_editor
from tests.support.installed import WORK, Installed, InstalledProject

RUN = ("run", "--target", "lease-python")
TOKEN = "acquire/granted: expected reply.token = #3, got #2"
RENEWED = "renew/lost: expected reply = false, got true"
ADAPTER = "adapters/lease-python/adapter.py"
SUITE = "generated/suites/lease/service"
COMPLETED = """source <(conform completion bash)
COMP_WORDS=(conform explo) COMP_CWORD=1 && _conform && echo "${COMPREPLY[@]}"
COMP_WORDS=(conform explore spec/lease.charter --instance '') COMP_CWORD=4 && _conform
echo "${COMPREPLY[@]}"
"""


@pytest.fixture
def project(mine: InstalledProject, request: pytest.FixtureRequest) -> InstalledProject:
    """A copy of the project for one test."""
    return mine.copy(request.node.name)


@contextmanager
def start(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that prints into a pipe. It is killed if a test fails, or if it prints nothing."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:  # fmt: skip
        timer = threading.Timer(60, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def vectors(project: InstalledProject) -> int:
    """The number of vectors of its suite."""
    return len((project.folder / SUITE / "vectors.jsonl").read_text("utf-8").splitlines())


def run_folder(project: InstalledProject) -> str:
    """The folder of its one run."""
    (found,) = (project.folder / "build/runs").glob("lease-python-*")
    return f"build/runs/{found.name}"


@pytest.mark.slow
@pytest.mark.network
def test_known_findings_need_a_reason_and_stale_ones_are_told(project: InstalledProject) -> None:
    given = (*RUN, "--baseline", "baselines/lease.toml")
    told = project.says(*given, "--update-baseline", code=1)
    assert "has no reason for f-" in told
    project.edit("baselines/lease.toml", 'reason = ""', 'reason = "old"')
    assert "\nfine by the small suite: " in project.says(*given, "--strict")
    mend(project.folder / "adapters")
    told = project.says(*given)
    assert "\nfine by the small suite: " in told
    assert "baselines/lease.toml" in told and "f-ae0f2485b0" in told
    project.says(*given, "--strict", code=1)


@pytest.mark.slow
@pytest.mark.network
def test_junit_has_the_step_that_differs_and_an_untrusted_run_writes_it_too(
    project: InstalledProject,
) -> None:
    project.says(*RUN, "--junit", "junit.xml", code=1)
    failures = ElementTree.parse(project.folder / "junit.xml").getroot().findall(".//failure")
    assert sorted(failure.get("message", "") for failure in failures) == [TOKEN, RENEWED]
    for failure in failures:
        assert failure.text is not None
        assert re.search(r"\n +expected +observed\n.*\nconform replay ", failure.text, re.DOTALL)
    project.edit(ADAPTER, "def observe(self)", "def nothing(self)")
    told = project.says(*RUN, "--junit", "junit.xml", code=2)
    (error,) = ElementTree.parse(project.folder / "junit.xml").getroot().findall(".//error")
    assert (
        "Can't instantiate abstract class Adapter" in told
        and "it ended with 1" in f"{error.get('message')}"
    )


@pytest.mark.slow
@pytest.mark.network
def test_a_part_is_asked_by_branch_by_what_failed_and_up_to_the_first_finding(
    project: InstalledProject,
) -> None:
    told = project.says(*RUN, "-k", "release/lost", code=1)
    assert TOKEN in told and RENEWED not in told and "not asked (-k)" in told
    told = project.says(*RUN, code=1)
    (failed,) = re.findall(r"diverges +(\d+)\n", told)
    told = project.says(*RUN, "--last-failed", code=1)
    count, asked = vectors(project), int(failed)
    left = f"{count - asked} not asked (--last-failed)"
    assert f"judged {asked} of {count}; not compared: {left}" in told
    told = project.says(*RUN, "-x", code=1)
    assert "  diverges             1\n" in told and "not asked (-x)" in told


@pytest.mark.slow
@pytest.mark.network
def test_findings_are_shrunk_and_come_first_on_terminal_and_front_page(
    project: InstalledProject,
) -> None:
    told = project.says(*RUN, code=1)
    assert max(told.index(RENEWED), told.index(TOKEN)) < told.index("steps judged")
    assert "shrunk from 4 operations to 3:" in told
    assert re.search(r"expected  observed\n +lease\.l1?\.token +#3 +#2\n", told)
    (again,) = re.findall(rf"{re.escape(RENEWED)}(?s:.*?)see: conform (replay \S+ --run \S+)", told)
    assert "DIVERGES" in project.says(*again.split(), code=1)
    project.says("report", run_folder(project), "--out", "report")
    page = (project.folder / "report/index.html").read_text(encoding="utf-8")
    found = page.index(RENEWED), page.index("acquire/granted: expected")
    assert max(found) < page.index("Sections")


@pytest.mark.slow
@pytest.mark.network
def test_trouble_of_an_adapter_is_told_where_it_happens(project: InstalledProject) -> None:
    project.edit(ADAPTER, "frozenset(Lock(name)", "frozenset(Client(7)")
    told = project.says(*RUN, code=1)
    assert (
        "adapter error: " in told
        and "reply.0 is 7, not an element of Lock" in told
        and "conform replay " in told
    )
    project.edit(ADAPTER, "frozenset(Client(7)", "frozenset(Lock(name)")
    mend(project.folder / "adapters")
    project.edit(ADAPTER, "        return self.service.renew", "        import os, sys\n\n"
                 '        sys.stderr.write("the disk is gone\\n")\n        os._exit(7)\n'
                 "        return self.service.renew")  # fmt: skip
    told = project.says(*RUN, code=3)
    assert "it ended with 7" in told and "    | the disk is gone\n" in told
    project.edit("adapters/lease-python/protocol.py", '"acquire", "renew"', '"aquire", "renew"')
    told = project.says(*RUN, "--out", "none", code=2)
    assert "did you mean acquire?" in told and not (project.folder / "none").exists()


@pytest.mark.slow
@pytest.mark.network
def test_a_value_that_is_not_shown_is_taken_from_another_place(project: InstalledProject) -> None:
    mend(project.folder / "adapters")
    project.edit(ADAPTER, '("load",))', '("load",))._replace(observes=("lease",))')
    told = project.says(*RUN, code=3)
    found = re.search(
        r"judged (\d+) of (\d+); not compared: (\d+) unresolved, the variable newest", told
    )
    assert found is not None, told
    judged, count, unresolved = map(int, found.groups())
    assert judged + unresolved == count == vectors(project) and judged > unresolved > 0


@pytest.mark.slow
@pytest.mark.network
def test_the_whole_example_of_the_page_about_ci_runs(project: InstalledProject) -> None:
    (project.folder / "adapters/lease-python").rename(project.folder / "adapters/lease")
    page = project.says("help", "ci")
    conform = f"{project.installed.bin}/conform"
    (write,) = re.findall(r"^conform (run .* --update-baseline)$", page, re.MULTILINE)
    assert project.run(conform, *write.split())[0] == 1
    codes = {}
    for command in re.findall(r"run: conform (.*)", page):
        words = [run_folder(project) if w == "build/runs/*" else w for w in command.split()]
        codes[words[0]] = project.run(conform, *words)[0]
    assert codes == {"check": 0, "generate": 0, "run": 1, "report": 0}
    assert (project.folder / "build/junit.xml").is_file()


@pytest.mark.slow
@pytest.mark.network
def test_vectors_are_tests_of_pytest(equipped: Installed, project: InstalledProject) -> None:
    known = project.folder / "known.toml"

    def ask(*more: str) -> tuple[int, str]:
        given = (f"--charter={SUITE}", "--charter-adapter=lease-python", *more)
        found = InstalledProject(equipped, project.name)
        return found.run(f"{equipped.bin}/pytest", *given)

    code, told = ask()
    ((failed, passed),) = re.findall(r"(\d+) failed, (\d+) passed", told)
    # One test more than vectors: the canaries.
    assert (code, int(failed) + int(passed)) == (1, vectors(project) + 1), told
    findings = set(re.findall(r"finding (f-[0-9a-f]{10})", told))
    code, told = ask("-k", "tick/ticked and not lost and not canaries")
    assert (code, " deselected" in told) == (0, True), told
    rest = 'finding = ""\nsuite = "another"\nvectors = 1\nshown = ""\n'
    known.write_text("".join(f'[{one}]\nreason = "LEASE-17"\n{rest}' for one in sorted(findings)))
    code, told = ask("--charter-baseline=known.toml")
    assert (code, f"{failed} xfailed" in told) == (0, True), told


@pytest.mark.slow
@pytest.mark.network
def test_a_charter_that_is_saved_is_explored_again(project: InstalledProject) -> None:
    place = Path("spec/lease.charter")
    charter = project.folder / place
    installed = project.installed
    command = installed.command(f"{installed.bin}/conform", "watch", str(place), at=project.name)
    with start(command) as process:
        lines = iter(process.stdout or ())
        assert next(line for line in lines if "tiny_two_locks: 9 states; nothing" in line)
        text = charter.read_text(encoding="utf-8")
        charter.write_text(text.replace("reply granted(token)", "reply granted(tocken)"))
        assert next(line for line in lines if "1 error (1 new)" in line)
        charter.write_text(text)
        assert next(line for line in lines if "(1 mended)" in line)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130


@pytest.mark.slow
@pytest.mark.network
def test_expressions_have_values_in_states(project: InstalledProject) -> None:
    assert project.says("eval", "spec/lease.charter", "ttl + 1") == "3\n"
    given = ("--scenario", "a lease that was released")
    assert project.says("eval", "spec/lease.charter", "newest", *given) == "[l: 1]\n"
    told = project.says(
        "repl", "spec/lease.charter", told=":steps\n:step 1\nnewest\n:back\nnewest\n"
    )
    assert "  1  acquire(c1, l1) -> granted: " in told and re.search(
        r"\[l1: 1\].*\n\[l1: 0\]", told, re.DOTALL
    )


@pytest.mark.slow
@pytest.mark.network
def test_the_server_for_editors_answers(equipped: Installed, mine: InstalledProject) -> None:
    text = (mine.folder / "spec/lease.charter").read_text(encoding="utf-8")
    command = equipped.command(f"{equipped.bin}/conform", "lsp")
    lines = text.splitlines()
    used = next(i for i, line in enumerate(lines) if "when not holds(" in line)
    with open_editor(command, Path(WORK), text) as editor:
        assert editor.diagnostics() == []
        hover = json.dumps(editor.at("textDocument/hover", used, lines[used].index("holds")))
        assert "fun holds(client: Client, lock: Lock, token: Token)" in hover


@pytest.mark.slow
@pytest.mark.network
def test_shells_complete_commands_and_instances(project: InstalledProject) -> None:
    code, told = project.run(
        "bash", "-c", f'PATH="{project.installed.bin}:$PATH"\n{COMPLETED}'
    )  # fmt: skip
    assert (code, told) == (0, "explore\ntiny_one_lock tiny_two_locks\n")
    assert project.says("completion", "zsh").startswith("#compdef conform\n")
    assert "complete -c conform " in project.says("completion", "fish")


@pytest.mark.slow
@pytest.mark.network
def test_with_all_extras_the_solver_proves_and_workers_of_spark_load_the_same_models(
    equipped: Installed, project: InstalledProject
) -> None:
    found = InstalledProject(equipped, project.name)
    found.says("prove", "spec/lease.charter")
    told = found.says(*RUN, "--engine", "spark", "--out", "spark", code=1)
    assert RENEWED in told and TOKEN in told and "canary" not in told
