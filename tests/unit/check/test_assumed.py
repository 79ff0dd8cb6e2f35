"""Assumptions of operations: what is refused, and which edits leave them as they are."""

from __future__ import annotations

import pytest
from tests.support.charters import WORDS, codes, load

from charter.core.encoding import digest
from charter.core.show import show_expr
from charter.diagnostics import Source
from charter.project.pipeline import check_texts

LOCK = """
fun free(by: option Broker) -> bool = by == none
component lock {
  state holder: option Broker = none
  history held: bool = false then held or holder' != none
  operation take(b: Broker) -> bool {
    branch taken when free(holder) { holder' = present(b)  reply true }
    branch refused reply false
  }
  operation give(b: Broker) -> bool {
    let by = holder
    assume owner cites silent: by == present(b)
    assume held and not free(by)
    branch given { holder' = none  reply true }
  }
}
witness w of lock: took give/given
instance tiny of lock { Broker = 2 }
"""


def list_messages(text: str) -> list[str]:
    found = check_texts((Source("test", WORDS + text),)).errors
    return [f"{item.code}: {item.message}" for item in found]


def test_an_assumption_is_a_condition_with_the_lets_that_it_reads() -> None:
    (_, give) = load(LOCK).components[0].operations
    assert [(one.label, show_expr(one.condition)) for one in give.assumes] == [
        ("owner", "(let by = @holder in (by eq present(b)))"),
        ("2", "(let by = @holder in (@held and not(free(by))))"),
    ]
    assert [cited.source for cited in give.assumes[0].citations] == ["silent"]


def test_a_number_is_in_its_range_when_an_assumption_says_so_of_an_earlier_let() -> None:
    text = """
component counter {
  state n: int 0..5 = 0
  operation add(by: int 0..5) -> bool {
    let total = twice(n) + by
    assume fits: total <= 5
    branch none_added when by == 0 reply false
    branch added { n' = total  reply true }
  }
}
fun twice(n: int 0..5) -> int 0..10 = n + n
witness w of counter: took add/added
"""
    assert list_messages(text) == []
    found = list_messages(text.replace("    assume fits: total <= 5\n", ""))
    assert [one.partition(":")[0] for one in found] == ["int/out-of-range"]


def test_a_model_without_assumptions_has_the_digest_that_it_had_before() -> None:
    text = "component c { operation go() -> bool { branch ok reply true } }\nwitness w of c: true\n"
    assert digest(load(text))[:12] == "98a8808b0a19"
    assumed = text.replace("{ branch ok", "{ assume true  branch ok")
    assert digest(load(assumed)) != digest(load(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("assume b", "type/mismatch: expected bool, found Broker"),
        ("assume holder' == none", "effect/reads-after: "),
        ("assume took give/given", "effect/reads-after: "),
        ("assume no_such", "name/unknown: "),
        ("assume x: held  assume x: held", "name/duplicate: two assumptions are called `x`"),
        ("assume x cites NOWHERE: held", "cite/unknown-source: "),
        ("assume b != b", "operation/never: give can never happen: this assumption is always"),
        ("assume (false or false) and held", "operation/never: give can never happen"),
    ],
)
def test_a_wrong_assumption_is_refused_with_one_error(text: str, message: str) -> None:
    (found,) = list_messages(LOCK.replace("assume held and not free(by)", text))
    assert found.startswith(message)


def test_an_assumption_below_a_branch_is_refused() -> None:
    text = LOCK.replace("holder' = none  reply true }", "holder' = none  reply true } assume held")
    assert list_messages(text) == [
        "statement/misplaced: `assume` is allowed only in an operation, before its first branch"
    ]


KEPT = """replace in lock operation give(b: Broker) -> bool {
  let by = holder
  -- It need not be the first time.
  assume owner cites silent: by == present(b)
  assume held and not free(by)
  branch given reply true
}"""
NEW = """replace in lock operation take(b: Broker) -> bool {
  assume free(holder)
  branch taken { holder' = present(b)  reply true }
}"""
ADDED = NEW.replace("replace", "add")
CHANGES = "this edit changes what `lock.give` assumes"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (KEPT, ""),
        (KEPT.replace("assume held and not free(by)", ""), CHANGES),
        (KEPT.replace("held and", "held or"), CHANGES),
        (KEPT.replace("let by = holder", "let by = present(b)"), f"{CHANGES}, which reads `by`"),
        ("replace let by of lock.give with present(b)", f"{CHANGES}, which reads `by`"),
        (NEW, "this edit changes what `lock.take` assumes"),
        (f"drop operation lock.take {ADDED}", "this edit changes what `lock.take` assumes"),
        ("replace fun free with true", f"{CHANGES}, which reads `free`"),
        ("replace history held of lock with true", f"{CHANGES}, which reads `held`"),
        ("drop conjunct owner of lock.give", "there is no branch `lock.give`"),
        ("replace update holder of lock.give/given with holder", ""),
        ("drop operation lock.take", ""),
    ],
)
@pytest.mark.parametrize("kind", ["variant", "mutant", "overlay"])
def test_an_edit_cannot_change_an_assumption(edit: str, message: str, kind: str) -> None:
    around = {
        "variant": f"variant v {{ {edit} }}",
        "mutant": f"mutant m in tiny {{ {edit} }} caught by p\nalways p of lock: true",
        "overlay": f'overlay o of lock {{ entry e known_defect because "seen" {{ {edit} }} }}',
    }
    found = [text.partition(": ")[2] for text in list_messages(LOCK + around[kind])]
    assert found == ([message] if message else [])


def test_a_stored_number_may_rest_on_an_assumption() -> None:
    text = """component c {
  state n: int 0..9 = 0
  operation up() -> bool { LINE branch done { n' = n + 1  reply true } }
}
witness w of c: n == 9
"""
    assert codes(text.replace("LINE", "assume n < 9")) == []
    assert codes(text.replace("LINE", "assume n < 10")) == ["int/out-of-range"]


def test_an_edit_can_add_an_operation_with_assumptions() -> None:
    added = "operation ask() -> bool { assume held  branch yes reply true }"
    assert codes(LOCK + f"variant v {{ add in lock {added} }}") == []
