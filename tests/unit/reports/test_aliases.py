"""A report calls operations and targets as those who implement them do."""

from dataclasses import replace

import pytest
from tests.unit.reports.test_wording import run

from conform.judging.model import sections_of
from conform.reports.sections import Rule, Sections, read_sections
from conform.reports.wording import name_target


def test_committed_sections_have_the_aliases_of_the_charter():
    found = sections_of("charter_models.kafka_replication.controller")
    assert found is not None
    sections = read_sections(found)
    assert sections.name_operation("session_expires") == "handleBrokerFenced"
    assert sections.name_operation("failover") == "failover"
    assert sections.name_operation("gone") == "gone"


@pytest.mark.parametrize(("doc", "alias"), [
    ("A broker comes.\nAlso called `registerBroker`.", "registerBroker"),
    ("Also called `registerBroker`.", "registerBroker"),
    ("Also called `registerBroker`.\nBut only here.", ""),
    ("It is not also called `registerBroker`.", ""),
])  # fmt: skip
def test_alias_is_the_last_line_of_a_comment(doc, alias):
    operation = Rule("register", doc, (), "", 0)
    assert operation.alias == alias
    assert Sections(operations=(operation,)).name_operation("register") == (alias or "register")


def test_target_is_called_by_its_title_and_release():
    one = run()
    about = replace(one.about, target="fake", title="The Fake", release="2.0")
    assert name_target(replace(one, about=about)) == "The Fake 2.0"
    assert name_target(replace(one, about=replace(about, title=""))) == "fake 2.0"
