"""Which arithmetic is accepted, and that what is accepted never leaves its range."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from tests.support.charters import WORDS, codes

from charter import api
from charter.check.declarations.elaborate import elaborate
from charter.check.numbers.intervals import Arithmetic, Interval, exactly
from charter.check.numbers.ranges import check_ranges
from charter.core import types as ty
from charter.diagnostics import Diagnostic, Diagnostics, Source
from charter.project import pipeline
from charter.project.pipeline import check_texts

PARAMS = "n: int 0..limit, m: int 0..3, s: set Status, q: seq Status max 4"
MORE = (
    f"{PARAMS}, k: int 0..limit, c: int 0..limit, each: map Status -> int 0..9,"
    " numbers: set int 1..4, other: map Status -> int 0..9, many: map int 0..9 -> int 0..9,"
    " few: map int 0..3 -> bool, from_limit: map int limit..9 -> bool"
)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("int 0..limit", "n"),
        ("int 0..limit + 1", "n + 1"),
        ("int 0..limit", "min(n + m, limit)"),
        ("int 0..limit", "max(n - 1, 0)"),
        ("int 0..9", "n"),
        ("int 0..12", "n + m"),
        ("int 0..9", "m * m"),
        ("int -3..0", "-m"),
        ("int 0..2", "size(s)"),
        ("int 0..4", "size(q)"),
        ("int 0..limit", "if n < limit then n + 1 else n"),
        ("int 0..limit", "if n == limit then n else n + 1"),
        ("int 0..limit", "if not (n >= limit) then n + 1 else 0"),
        ("int 0..limit", "if n > 0 and m == 1 then n - m else n"),
        ("int 0..3", "if n <= 3 then n else 3"),
        ("int 0..limit", "let k = n in if k < limit then k + 1 else k"),
        ("int 0..4", "min({size(q), m} | { k for k in {m} if k > 1 })"),
        ("int 0..3", "let all = { min(k, 3) for k in {m, n} } in max(all)"),
        ("int 0..limit", "let open = n < limit in if open then n + 1 else n"),
    ],
)
def test_arithmetic_that_stays_inside_is_accepted(result: str, text: str) -> None:
    assert codes(f"fun f({PARAMS}) -> {result} = {text}") == []


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("int 0..limit", "n + 1"),
        ("int 0..limit", "n - 1"),
        ("int 0..8", "n"),
        ("int 0..limit", "m"),
        ("int 0..limit", "if n < limit or m == 1 then n + 1 else n"),
        ("int 0..limit", "if n <= limit then n + 1 else n"),
        ("int 0..1", "size(s)"),
        ("int 0..3", "5"),
        ("int 0..8", "m * m"),
        ("int 0..3", "max({m, n})"),
        ("set int 0..limit", "{ k + 1 for k in {n} }"),
        ("option int 0..limit", "present(n + 1)"),
    ],
)
def test_arithmetic_that_may_leave_is_refused(result: str, text: str) -> None:
    assert codes(f"fun f({PARAMS}) -> {result} = {text}") == ["int/out-of-range"]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("int 0..limit", "if k <= n then n - k else 0"),
        ("int 1..9", "if k < n then n - k else 1"),
        ("int 1..9", "if n > k then n - k else 1"),
        ("int 1..9", "if n >= k and n != k then n - k else 1"),
        ("int 0..limit", "if not (n < k) then n - k else 0"),
        ("int 0..limit", "if n < k then 0 else n - k"),
        ("int 0..limit", "if n + k <= c then k + n else 0"),
        ("int 0..limit", "if n + k == c then c - k else 0"),
        ("int 0..limit", "if k == n then n - k else 0"),
        ("int 0..limit", "if n <= k and k <= c then c - n else 0"),
        ("int 0..limit", "if 2 * m <= n then n - m - m else 0"),
        ("int 0..limit", "let left = n - k in if k <= n then left else 0"),
        ("int 0..limit", "n - min(k, n)"),
        ("int 0..limit", "max(n, k) - k"),
        ("int 0..9", "if each[ON] <= n then n - each[ON] else 0"),
        ("set int 0..limit", "{ n - i for i in {k, c} if i <= n }"),
        ("int 0..18", "sum t in Status: each[t]"),
        ("int 2..20", "sum t in Status: each[t] + 1"),
        ("int -18..0", "sum t in Status: 0 - each[t]"),
        ("int 0..18", "sum t in s: if t == ON then 0 else n"),
        ("int 0..6", "sum i in {m, n}: min(i, 3)"),
        ("int 0..12", "sum i in { min(m, j) for j in {k, c, m, n} if j > 0 } - {m}: 3"),
        ("int 0..72", "sum t in s, i in {k, c, m, n}: min(9, i + n)"),
        ("int 0..16", "sum i in numbers: i"),
        ("int 0..limit", "if (sum t in Status: each[t]) + n <= limit then n + each[ON] else 0"),
        ("int 0..limit", "if n + (sum t in Status: each[t]) <= c then c - each[ON] - n else 0"),
        ("int 0..limit", "the i in {n, min(k, n)}: i > 0"),
        ("bool", "k <= n and fits(n - k)"),
        ("bool", "k > n or fits(n - k)"),
        ("bool", "k <= n implies fits(n - k)"),
    ],
)
def test_a_comparison_of_two_variables_bounds_sums_and_differences(result: str, text: str) -> None:
    fits = "fun fits(n: int 0..limit) -> bool = n > 0"
    assert codes(f"fun f({MORE}) -> {result} = {text}\n{fits}") == []


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("int 1..9", "if k <= n then n - k else 1"),
        ("int 2..9", "if k < n then n - k else 2"),
        ("int 2..9", "if n > k then n - k else 2"),
        ("int 1..9", "if n + 1 >= k and n != k then n - k else 1"),
        ("int 0..limit", "if k != n then n - k else 0"),
        ("int 0..limit", "if k <= n or c == 0 then n - k else 0"),
        ("int 0..limit", "if k <= n then 0 else n - k"),
        ("int 0..limit", "if k <= c then n - k else 0"),
        ("int 0..limit", "if m <= n then n - 2 * m else 0"),
        ("int 0..limit", "n - max(k, n)"),
        ("int 0..limit", "min(n, k) - k"),
        ("int 0..9", "if each[ON] <= n then n - each[OFF] else 0"),
        ("set int 0..limit", "{ n - i for i in {k, c} if n <= i }"),
        ("int 0..17", "sum t in Status: each[t]"),
        ("int 3..20", "sum t in Status: each[t] + 1"),
        ("int 1..18", "sum t in s: each[t] + 1"),
        ("int 0..9999", "sum b in Broker: 1"),
        ("int 0..15", "sum i in numbers: i"),
        ("int 0..limit", "if (sum t in Status: each[t] - 1) <= limit then each[ON] - 1 else 0"),
        ("int 0..9", "if (sum t in s: each[t]) + n <= 9 then n + each[ON] else 0"),
        ("int 0..9", "if (sum t in Status: each[t]) <= 9 then each[ON] + each[OFF] else 0"),
        ("int 0..limit", "the i in {n + 1}: true"),
        ("int 0..18", "(sum t in Status: if (some u in Status: each[u] != other[t]) then 0 else n)"
         " - (if (some u in Status: each[u] != other[u]) then 0 else n)"),
        ("int 0..99", "(sum i, x in few: many[i]) - many[n]"),
        ("int 4..9", "sum i, x in from_limit: 1"),
    ],
)  # fmt: skip
def test_a_comparison_does_not_bound_another_difference(result: str, text: str) -> None:
    assert codes(f"fun f({MORE}) -> {result} = {text}") == ["int/out-of-range"]


TWO = (
    "c: bool, few: map Status -> int 0..3, many: map Status -> int 0..9, q: seq int 0..3 max 4,"
    " r: seq int 0..9 max 4, s: set int 0..3, t: set int 0..9, o: option set int 0..3, n: int 0..9"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("let m = if c then few else many in m[ON]", ["int/out-of-range"]),
        ("let m = if c then few else few with [ON: 3] in m[ON]", []),
        ("(match o { none -> few, present(x) -> many })[ON]", ["int/out-of-range"]),
        ("the x in { m[ON] for m in {few, many} }: c", ["int/out-of-range"]),
        ("max(set(concat(q, r)))", ["int/out-of-range"]),
        ("max(set(concat(q, <1, 2>)))", []),
        ("max(set(concat(q, <n>)))", ["int/out-of-range"]),
        ("max(let p = if c then q else r in set(p))", ["int/out-of-range"]),
        ("max(let p = if c then q else <n> in set(p))", ["int/out-of-range"]),
        ("max(let p = if c then q else <3> in set(p))", []),
        ("max(default(o, t))", ["int/out-of-range"]),
        ("max(default(o, {n}))", ["int/out-of-range"]),
        ("max(default(o, s))", []),
        ("let p = present(default(first(q), n)) in value(p)", ["int/out-of-range"]),
    ],
)
def test_values_of_two_types_are_in_the_ranges_of_both(text: str, found: list[str]) -> None:
    assert codes(f"fun f({TWO}) -> int 0..3 = {text}") == found


@pytest.mark.parametrize(
    ("result", "text", "found"),
    [
        ("seq int 0..3 max 9", "concat(q, r)", ["int/out-of-range"]),
        ("seq int 0..9 max 9", "concat(q, r)", []),
        ("seq int 0..9 max 9", "concat(q, <n>)", []),
        ("set int 0..3", "default(o, {n})", ["int/out-of-range"]),
        ("map int 0..3 -> bool", "small", []),
        ("map int 0..5 -> bool", "small", ["type/mismatch"]),
        ("map int 0..2 -> bool", "small", ["type/mismatch"]),
        ("map int 0..5 -> bool", "[k in Small: true]", ["type/mismatch"]),
    ],
)
def test_what_is_inside_a_value_fits_too(result: str, text: str, found: list[str]) -> None:
    small = "type Small = int 0..3\n"
    assert codes(f"{small}fun f({TWO}, small: map Small -> bool) -> {result} = {text}") == found


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("n - k", "k <= n"),
        ("n - 1", "n >= 1"),
        ("n + 1", "n < limit"),
        ("n + k", "n + k <= limit"),
        ("n + k - c", "c <= n + k and n + k - c <= limit"),
    ],
)
def test_the_hint_names_a_comparison_that_proves_the_range(text: str, proof: str) -> None:
    source = Source("test", f"{WORDS}fun f({MORE}) -> int 0..limit = {text}")
    (found,) = check_texts((source,)).errors
    told = f"`{proof}` would prove it, in the guard, a `require` or an `if`; if an invariant keeps"
    assert found.hint == f"{told} it there: `conform explain int/out-of-range`"
    assert codes(f"fun f({MORE}) -> int 0..limit = if {proof} then {text} else 0") == []


@pytest.mark.parametrize("text", ["(n + k) * (c + 1)", "n - if k > 0 then k else c"])
def test_the_hint_quotes_no_part_of_an_expression(text: str) -> None:
    source = Source("test", f"{WORDS}fun f({MORE}) -> int 0..limit = {text}")
    (found,) = check_texts((source,)).errors
    assert found.hint.startswith("compare it ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("limit + 1", "more than limit"),
        ("limit + 2 + n", "more than limit"),
        ("0 - 1", "less than 0"),
        ("0 - 1 - n", "less than 0"),
    ],
)
def test_what_is_never_inside_gets_no_comparison(text: str, told: str) -> None:
    source = Source("test", f"{WORDS}fun f({MORE}) -> int 0..limit = {text}")
    (found,) = check_texts((source,)).errors
    assert found.hint == f"it is always {told}: write another value, or widen the range"


COMPONENT = """record Box {{ n: int 0..limit }}
component c {{
  state n: int 0..limit = 0
  state box: Box = Box {{ n: 0 }}
  state each: map Status -> int 0..limit = [s in Status: 0]
  operation go(s: Status) -> bool {{ {branches} }}
}}
witness w of c: n > 0
"""


@pytest.mark.parametrize(
    ("branches", "found"),
    [
        ("branch ok { n' = n + 1 reply true }", ["int/out-of-range"]),
        ("branch ok when n < limit { n' = n + 1 reply true } branch no reply false", []),
        ("branch full when n == limit reply false branch ok { n' = n + 1 reply true }", []),
        ("branch a when n == limit and s == ON reply false branch ok { n' = n + 1 reply true }",
         ["int/out-of-range"]),
        ("branch ok { box.n' = box.n + 1 reply true }", ["int/out-of-range"]),
        ("branch ok when box.n < limit { box.n' = box.n + 1 reply true } branch no reply true", []),
        ("branch ok when each[s] < limit { each[s]' = each[s] + 1 reply true } "
         "branch no reply true", []),
        ("branch ok when each[ON] < limit { each[s]' = each[s] + 1 reply true } "
         "branch no reply true", ["int/out-of-range"]),
        ("branch ok when each[s] <= n { n' = n - each[s] reply true } branch no reply true", []),
        ("branch ok when each[ON] <= n { n' = n - each[s] reply true } branch no reply true",
         ["int/out-of-range"]),
        ("branch no when box.n > n reply false branch ok { n' = n - box.n reply true }", []),
        ("branch no when box.n > n and s == ON reply false "
         "branch ok { n' = n - box.n reply true }", ["int/out-of-range"]),
        ("let left = n - box.n branch ok when box.n <= n { n' = left reply true } "
         "branch no reply true", []),
        ("branch ok when box.n + each[s] <= n { box.n' = each[s] + box.n reply true } "
         "branch no reply true", []),
        ("let k = each[s] branch ok when k < limit { each[s]' = k + 1 reply true } "
         "branch no reply true", []),
    ],
)  # fmt: skip
def test_guards_narrow_the_paths_that_they_compare(branches: str, found: list[str]) -> None:
    assert codes(COMPONENT.format(branches=branches)) == found


def test_an_instance_fixes_the_constants() -> None:
    text = COMPONENT.format(branches="branch ok reply true")
    assert codes(text + "instance a of c { limit = 2 start n = 2 }") == []
    assert codes(text + "instance a of c { limit = 2 start n = 3 }") == ["int/out-of-range"]


def test_conditions_of_offers_are_checked() -> None:
    small = "fun small(k: int 0..3) -> bool = k == 3\n"
    text = small + COMPONENT.format(branches="branch ok reply true")
    instance = "instance a of c {{ limit = 9 only go if {condition} }}"
    assert codes(text + instance.format(condition="n <= 3 and small(n)")) == []
    assert codes(text + instance.format(condition="small(n)")) == ["int/out-of-range"]


def test_a_let_of_a_scenario_does_not_follow_the_state() -> None:
    text = COMPONENT.replace("s: Status", "k: int 0..limit").format(
        branches="branch ok { n' = k reply true }"
    )
    story = """scenario "later" of c {{
      limit = 2
      let then = n
      do go(2)
      do go({arg})
    }}"""
    assert codes(text + story.format(arg="if then < limit then then + 1 else 0")) == []
    late = "if then < limit then n + 1 else 0"
    assert codes(text + story.format(arg=late)) == ["int/out-of-range"]


SMALL = [Interval(ty.Limit("", a), ty.Limit("", b)) for a in range(-2, 3) for b in range(a, 3)]


def numbers(interval: Interval) -> range:
    assert interval.low is not None and interval.high is not None
    return range(interval.low.plus, interval.high.plus + 1)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("add", lambda a, b: a + b),
        ("subtract", lambda a, b: a - b),
        ("multiply", lambda a, b: a * b),
        ("smaller", min),
        ("greater", max),
    ],
)
def test_interval_holds_every_result_and_its_ends_are_taken(name: str, of: object) -> None:
    reckon = Arithmetic({})
    assert callable(of)
    for left, right in product(SMALL, SMALL):
        found = getattr(reckon, name)(left, right)
        results = {of(a, b) for a in numbers(left) for b in numbers(right)}
        assert min(results) == found.low.plus
        assert max(results) == found.high.plus


def test_limits_with_constants_are_compared_for_all_their_values() -> None:
    consts: dict[str, ty.Type] = {
        "few": ty.Int(ty.Limit("", 1), ty.Limit("", 3)),
        "many": ty.Int(ty.Limit("few", 0), ty.Limit("", 9)),
    }
    reckon = Arithmetic(consts)
    assert reckon.at_most(ty.Limit("few", 0), ty.Limit("", 3))
    assert not reckon.at_most(ty.Limit("few", 1), ty.Limit("", 3))
    assert reckon.at_most(ty.Limit("", 1), ty.Limit("many", 0))
    assert not reckon.at_most(ty.Limit("few", 0), ty.Limit("many", 0))
    assert reckon.inside(exactly(1), Interval(ty.Limit("", 0), ty.Limit("few", 0)))


def test_a_let_is_proven_by_the_comparison_of_its_if() -> None:
    text = """component server {
      state last: int 0..9 = 0
      operation take(by: int 0..5) -> bool cites silent {
        let rest = if by > last then 0 else last - by
        let more = if rest > 4 then rest + 4 else OTHERWISE
        branch ok { last' = if by == 0 then more else rest  reply true }
      }
    }
    witness taken of server: last > 0"""
    assert codes(text.replace("OTHERWISE", "0").replace("rest + 4", "rest")) == []
    # What is true in one way does not help in the other one.
    assert codes(text.replace("OTHERWISE", "0")) == ["int/out-of-range"]
    assert codes(text.replace("by > last", "by > 2")) != []


def test_an_expression_with_an_error_of_its_own_has_no_range() -> None:
    text = """component server {
      state last: int 0..3 = 0
      operation take(c: bool) -> bool {
        branch ok when c is present(t) { last' = t  reply true }
        branch no { reply false }
      }
    }"""
    assert set(codes(text)) == {"type/mismatch", "witness/none"}


def test_a_constant_of_an_instance_outside_of_its_range_is_told_with_the_range() -> None:
    text = """protocol p
const cap: int 1..4
component c { state on: bool = false }
instance tiny of c { cap = 9 }
"""
    found = check_texts((Source("p.charter", text),))
    assert "9 is outside the range of `cap`, 1..4" in [one.message for one in found]


WRONG_IN_BOTH = """protocol p
const limit: int 0..9
fun one() -> int 0..3 = 4
fun two() -> int 0..3 = 2
component c {
  state n: int 0..3 = 0
  operation go(k: int 0..4) -> int 0..4 { branch ok { n' = k  reply two() } }
  operation stay() -> int 0..3 { branch ok { reply two() } }
}
witness any of c: n == 1
always small of c: max(n, limit - 20) <= 3
instance i of c { limit = 3  only go if two() == 2 }
scenario "s" of c { limit = 3  do go(9) }
variant v {
  replace fun two with 7
  replace in c operation stay() -> int 0..3 { branch ok { reply two() + 1 } }
  add scenario "t" of c { limit = 3  do go(8) }
}
"""
IN_CHARTER = ["int/out-of-range 3", "int/out-of-range 7", "int/out-of-range 13"]
IN_VARIANT = ["int/out-of-range 15", "int/out-of-range 16", "int/out-of-range 17"]


def places(errors: Iterable[Diagnostic]) -> list[str]:
    """Codes and lines."""
    return sorted(f"{e.code} {e.span.source.position(e.span.start)[0]}" for e in errors)


def test_a_variant_is_told_what_is_wrong_in_its_edits_and_the_rest_once() -> None:
    errors = check_texts((Source("p", WRONG_IN_BOTH),)).errors
    assert places(e for e in errors if not e.notes) == sorted(IN_CHARTER)
    assert places(e for e in errors if e.notes) == sorted(IN_VARIANT)


WRONG_IN_CHARTER = """protocol p
component c {
  state n: int 0..3 = 0
  operation go(k: int 0..4) -> int 0..4 { branch ok { n' = k  reply k } }
  operation stay() -> int 0..3 { branch ok { reply n } }
}
witness any of c: n == 1
instance i of c {}
scenario "s" of c { do go(4)  expect n == 3 }
variant v { replace in c operation stay() -> int 0..3 { branch ok { reply 0 } } }
"""


def test_scenarios_of_a_variant_are_not_run_when_the_charter_has_a_wrong_number() -> None:
    found = check_texts((Source("p", WRONG_IN_CHARTER),))
    assert places(found.errors) == ["int/out-of-range 4"]


def test_a_variant_that_is_loaded_alone_is_told_all_that_is_wrong() -> None:
    with pytest.raises(api.Refused) as refused:
        api.load_text(WRONG_IN_BOTH, api.Selection(variant="v"))
    assert places(refused.value.diagnostics.errors) == sorted([*IN_CHARTER, *IN_VARIANT])


def test_what_was_checked_in_another_core_is_not_checked_again() -> None:
    files = pipeline.parse_or_refuse((Source("p", WRONG_IN_BOTH),))
    core, found = elaborate(files, "", Diagnostics()), Diagnostics()
    check_ranges(core, found)
    assert places(found.errors) == sorted(IN_CHARTER)
    again = Diagnostics()
    check_ranges(core, again, core)
    assert not again.errors
