"""The claims of spec/kafka are as its file says, and the page is up to date."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.api.charters import Charter, load_charter
from charter.api.claims import Claims, claims_of
from charter.diagnostics import Source
from charter.formats.charter_files.verdicts import read_verdicts, verdicts_file

ROOT = Path(__file__).resolve().parents[2]
KAFKA = ROOT / "spec" / "kafka"


@cache
def claims_of_kafka() -> Claims:
    """The claims beside Kafka's charter."""
    charter, _ = load_charter(KAFKA)
    return claims_of(charter, KAFKA)


@pytest.mark.xdist_group("claims")
def test_each_claim_is_so_and_the_page_says_it() -> None:
    """The page may have been written before searches were out of date."""
    known = claims_of_kafka()
    wrong = {one.claim.id: one.wrong for one in known.judge_all() if one.wrong}
    assert len(known.judge_all()) > 70 and not wrong
    then = replace(known, judge=replace(known.judge, rows=read_verdicts(verdicts_file(KAFKA))))
    page = (KAFKA / "verdicts" / "claims.md").read_text("utf-8")
    assert page in (known.markdown(), then.markdown()), (
        "conform claims spec/kafka --write spec/kafka/verdicts/claims.md"
    )


@pytest.mark.xdist_group("claims")
def test_a_claim_on_which_the_texts_differ_names_a_page_of_the_design() -> None:
    claims = [one.claim for one in claims_of_kafka().judge_all()]
    contradictory = [claim for claim in claims if claim.verdict == "contradictory"]
    unsaid = [claim.id for claim in contradictory if "docs/design/" not in claim.why]
    assert len(contradictory) > 15 and not unsaid


def test_the_table_of_texts_in_the_readme_names_claims() -> None:
    page = (KAFKA / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| S\d: .*$", page, re.MULTILINE)
    named = set(re.findall(r"\*([^*]+)\*", "\n".join(rows)))
    ids = {one.claim.id for one in claims_of_kafka().judge_all()}
    assert len(rows) == 5 and len(named) > 20
    assert named - ids == {"LRS …"}


EXAMPLES = {"S0-E": 2, "S1-E": 1, "S2-E": 12, "S3-E": 4, "S3-C": 4, "S4-E": 6}
ELSEWHERE = {"S4-E1", "S4-E2"}
"""Worked examples of another protocol: Raft without fsync."""


def test_each_worked_example_of_the_texts_is_a_scenario() -> None:
    """Those of S0 to S4, the cases A to G in both wordings, and the seven cases of divergence."""
    text = "\n".join(source.text for source in load_charter(KAFKA)[0].sources)
    titles = re.findall(r'scenario "([^"]+)"', text)
    wanted = {f"{name}{i}" for name, count in EXAMPLES.items() for i in range(1, count + 1)}
    wanted |= {f"{case} {letter}" for case in ("Case", "MODEL 3.3 case") for letter in "ABCDEFG"}
    told = {name for name in wanted if any(re.match(rf"{name}[a-c]?\b", t) for t in titles)}
    assert told == wanted - ELSEWHERE


@pytest.mark.slow
def test_last_known_elr_may_have_more_members_than_the_minimum() -> None:
    """I7 is refuted, and its lower bound holds in this instance: no property says either."""
    charter, model = load_charter(KAFKA)
    for compared, count in ((">", 162), ("<", 0)):
        condition = (
            "some t, present(p) in partition: p.isr | p.elr == {}"
            f" and size(p.last_known_elr) {compared} min_isr(p.replicas)"
        )
        asked = charter.with_state_condition(model, api.PLAIN, "tiny_elr", condition)
        found = api.explore(asked, "tiny_elr", api.ExploreOptions(), lambda *_: None)
        assert found.where is not None and found.where.count == count
        if found.where.first:
            assert len(found.where.first[0].trace) == 7


@pytest.mark.slow
def test_four_replicas_may_be_eligible_where_the_minimum_is_three() -> None:
    """Not with S1's rule for joining the ELR; never fewer than three while nobody is suspect."""
    charter, _ = load_charter(KAFKA)
    for variant, compared, count in (("", ">", 1), ("", "<", 0), ("elr_capped", ">", 0)):
        condition = f"some t, present(p) in partition: p.isr == {{}} and size(p.elr) {compared} 3"
        chosen = api.Selection(variant=variant)
        asked = charter.with_state_condition(
            charter.model(chosen), chosen, "three_of_four", condition
        )
        found = api.explore(asked, "three_of_four", api.ExploreOptions(), lambda *_: None)
        assert found.where is not None and found.where.count == count


@pytest.mark.slow
def test_the_property_of_the_cap_fails_without_the_cap() -> None:
    """What the variant `elr_capped` keeps, the charter's own rule for joining the ELR does not."""
    name = "eligible_up_to_the_minimum"
    variants = (KAFKA / "variants" / "60-variants.charter").read_text("utf-8")
    found = re.search(rf"add (stepwise {name} .*?)\n\n", variants, re.DOTALL)
    assert found is not None
    added = Source("capped.charter", f"protocol kafka.replication\n\n{found[1]}\n")
    model = Charter((*load_charter(KAFKA)[0].sources, added)).model()
    search = api.explore(model, "three_of_four", api.ExploreOptions(), lambda *_: None)
    assert [one.name for one in search.properties if one.kind == "stepwise" and one.seen] == [name]
