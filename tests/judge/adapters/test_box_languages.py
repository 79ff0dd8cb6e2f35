"""What "a tool that anyone can install" says of adapters in five languages: the wheel alone, in a
root folder without the checkout."""

from __future__ import annotations

import re

import pytest
from tests.support.drawn.planted import mend
from tests.support.installed import Installed, InstalledProject

from charter import api


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("language", api.LANGUAGES)
def test_an_example_has_both_bugs_and_conforms_when_they_are_mended(
    installed: Installed, language: str
) -> None:
    installed.says("init", f"example in {language}", "--adapter", language)
    project = InstalledProject(installed, f"example in {language}")
    told = project.says("test", code=1)
    assert "renew/lost: expected reply = false, got true" in told
    assert "acquire/granted: expected reply.token = #3, got #2" in told
    assert "\nexit 1: 2 findings that no overlay entry explains" in told
    assert re.search(r"; judged (\d+) of \1\n", told), told
    assert "ok  values are of the types" in project.says("doctor", "--adapter", f"lease-{language}")
    mend(project.folder / "adapters" / f"lease-{language}")
    assert "\nfine by the small suite and 200 walks (seed 1)\n" in project.says("test")


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("language", api.LANGUAGES)
def test_skeletons_pass_doctor_and_say_what_to_write(installed: Installed, language: str) -> None:
    for template in ("queue", "register", "raft"):
        name = f"{template} in {language}"
        installed.says("init", name, "--template", template, "--adapter", language)
        project = InstalledProject(installed, name)
        project.says("generate")
        told = project.says("doctor", "--adapter", f"{template}-{language}")
        assert "NOT" not in told
        assert "-   values are of the types of the charter" in told  # no operation has a value yet
        told = project.says("test", code=3)
        assert "next: write `" in told and "operations yet" in told


@pytest.mark.slow
@pytest.mark.network
def test_a_container_as_a_target_is_on_a_page(installed: Installed) -> None:
    assert 'start = ["podman", "run", ' in installed.says("help", "adapters")
