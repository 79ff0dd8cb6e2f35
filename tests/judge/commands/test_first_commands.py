"""The first commands that README and site print work as they are printed, in an empty environment.

The quick test sees that the pages print no other way to install than the slow one runs.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("README.md", "docs/index.md", "docs/guide/your-own.md")
PRINTED = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "editors").rglob("*.md"),
        *(ROOT / "conformance" / "conform" / "templates").rglob("*.*"),
        *(ROOT / "conformance" / "adapters").rglob("*.md"),
    )
    if not {"design", "plans", "node_modules"} & set(path.parts)
)  # fmt: skip
FENCE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = "pip install build/dist/*.whl"
IN_CI = "pip install wheels/*.whl"
MORE = re.compile(r"pip install 'charter-conform\[(smt|spark|lsp|all)\]'")
KEPT = ("PATH", "LANG", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PIP_INDEX_URL", "PIP_CERT",
        "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_FIND_LINKS", "SSL_CERT_FILE")  # fmt: skip


def first(page):
    """The first block of a page."""
    return FENCE.search((ROOT / page).read_text(encoding="utf-8"))[1]


@pytest.mark.parametrize("page", PAGES)
def test_page_begins_with_the_wheel_of_a_clone(page):
    lines = first(page).splitlines()
    assert lines[0].startswith("make dist ") and lines[2] == INSTALL
    assert lines[:3] == first(PAGES[0]).splitlines()[:3], "what is run of one page, goes for all"


def test_pages_print_no_command_that_installs_what_is_not_published():
    found = {}
    for page in PRINTED:
        text = (ROOT / page).read_text(encoding="utf-8")
        for command in re.findall(r"pip install [^\n`#]*", text):
            if "charter" in command or "*.whl" in command:
                found.setdefault(command.strip(), []).append(page)
    other = {command: pages for command, pages in found.items()
             if command not in (INSTALL, IN_CI) and not MORE.match(command)}  # fmt: skip
    assert other == {}
    assert [*PAGES] == sorted(found[INSTALL], key=PAGES.index)
    assert len(found[IN_CI]) == 2


@pytest.mark.slow
def test_first_commands_of_each_page_find_the_planted_bugs(tmp_path):
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(tmp_path)}
    environment["PATH"] = os.pathsep.join(
        place for place in environment["PATH"].split(os.pathsep) if "venv" not in place
    )

    def run(commands):
        return subprocess.run(["sh", "-ec", commands], cwd=clone, env=environment, check=False,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip

    for page in PAGES:
        done = run(first(page))
        assert done.returncode == 1, page + done.stdout + done.stderr
        assert "exit 1: 2 findings" in done.stdout, page
        (home / "my-project").rename(home / Path(page).stem)
    added = run(". ~/charter/bin/activate; pip install 'charter-conform[lsp]'; conform lsp --help")
    assert added.returncode == 0, added.stderr  # an extra is added to what is installed
    project = home / "README"
    (project / "wheels").mkdir()
    (wheel,) = (clone / "build" / "dist").glob("*.whl")
    wheel.rename(project / "wheels" / wheel.name)
    steps = re.findall(r"- run: (.*)", (project / ".github/workflows/charter.yml").read_text())
    assert steps[0] == IN_CI
    done = run(f". ~/charter/bin/activate; cd {project}; {'; '.join(steps)}")
    assert done.returncode == 1 and "exit 1: 2 findings" in done.stdout, done.stderr
