"""The table of terms: shared, folded, and evaluated as Z3 evaluates."""

from __future__ import annotations

from random import Random

import pytest

from charter.prove.numbers import Numbers
from charter.prove.solve import BOUNDED, UNBOUNDED, Sat, Solver, Unknown, Unsat
from charter.prove.terms import BOOL, FALSE, INTEGER, TRUE, Term, Terms, wrap
from charter.prove.values import CannotEncode


def test_terms_fold_when_truth_values_are_known() -> None:
    terms = Terms()
    p, q = terms.var("p", BOOL), terms.var("q", BOOL)
    assert terms.and_(p, TRUE) == p
    assert terms.and_(p, terms.not_(p)) == FALSE
    assert terms.or_(p, q, terms.not_(p)) == TRUE
    assert terms.not_(terms.not_(p)) == p
    assert terms.ite(p, TRUE, FALSE) == p
    assert terms.ite(p, q, q) == q
    assert terms.eq(p, terms.not_(p)) == FALSE
    assert terms.and_(q, p) == terms.and_(p, q)


def test_equality_folds_when_a_choice_is_compared_with_a_constant() -> None:
    terms = Terms()
    p = terms.var("p", BOOL)
    one, two, three = (terms.const(i, 4) for i in (1, 2, 3))
    assert terms.eq(terms.ite(p, one, two), one) == p
    assert terms.eq(terms.ite(p, one, two), three) == FALSE


def test_words_wrap_when_they_are_made() -> None:
    assert [wrap(v, 3) for v in (3, 4, 7, 8, -5)] == [3, -4, -1, 0, 3]
    assert wrap(99, INTEGER) == 99


def test_substitution_folds_when_variables_become_constants() -> None:
    terms = Terms()
    x, p = terms.var("x", 4), terms.var("p", BOOL)
    five = terms.const(5, 4)
    term = terms.and_(p, terms.eq(terms.add(x, terms.const(2, 4)), five))
    assert terms.substitute(term, {x: terms.const(3, 4), p: TRUE}) == TRUE
    assert terms.substitute(term, {x: terms.const(4, 4)}) == FALSE
    assert terms.substitute(term, {p: TRUE}) != term


@pytest.mark.parametrize("integers", [False, True])
def test_numbers_never_wrap_when_they_grow(integers: bool) -> None:
    terms = Terms()
    numbers = Numbers(terms, integers)
    x = numbers.variable("x", 0, 7)
    big = numbers.multiply(numbers.add(x, numbers.constant(1)), numbers.constant(9))
    least = numbers.negate(big)
    values = {"x": 7}
    found = terms.evaluate([big.term, least.term], values)
    assert (found[big.term], found[least.term]) == (72, -72)


def test_a_number_is_refused_when_it_has_no_range_and_is_a_word() -> None:
    with pytest.raises(CannotEncode):
        Numbers(Terms(), False).variable("x", 0, None)


def test_counting_gives_the_number_when_conditions_hold() -> None:
    terms = Terms()
    numbers = Numbers(terms, False)
    bits = [terms.var(f"b{i}", BOOL) for i in range(5)]
    count = numbers.count(bits)
    for chosen in range(32):
        values = {f"b{i}": chosen >> i & 1 for i in range(5)}
        assert terms.evaluate([count.term], values)[count.term] == chosen.bit_count()


def draw(terms: Terms, rng: Random) -> Term:
    """A random truth value over words of four bits."""
    numbers = Numbers(terms, False)
    pool = [numbers.variable(name, -8, 7) for name in "xyz"]
    truths = [terms.var(name, BOOL) for name in "pq"]
    for _ in range(12):
        a, b = rng.choice(pool[-5:]), rng.choice(pool)
        match rng.randint(0, 5):
            case 0:
                pool.append(numbers.add(a, b))
            case 1:
                pool.append(numbers.choose(rng.choice(truths), a, b))
            case 2:
                truths.append(numbers.less_equal(a, b))
            case 3:
                truths.append(numbers.equal(a, numbers.constant(rng.randint(-8, 7))))
            case 4:
                truths.append(terms.and_(rng.choice(truths), terms.not_(rng.choice(truths))))
            case _:
                truths.append(terms.or_(*rng.sample(truths, 2)))
    return terms.or_(*truths[-3:])


@pytest.mark.parametrize("seed", range(40))
def test_z3_and_the_table_agree_when_a_term_is_satisfied(seed: int) -> None:
    terms, rng = Terms(), Random(seed)
    term = draw(terms, rng)
    for goal, wanted in ((term, 1), (terms.not_(term), 0)):
        answer = Solver(terms, BOUNDED, 1_000_000).check({"goal": (goal, 0)})
        if isinstance(answer, Sat):
            assert terms.evaluate([term], answer.frame(0))[term] == wanted
        else:
            values = {name: rng.randint(-8, 7) for name in "xyz"}
            values |= {name: rng.randint(0, 1) for name in "pq"}
            assert terms.evaluate([term], values)[term] != wanted


def test_frames_are_linked_when_a_variable_belongs_to_the_state_after() -> None:
    terms = Terms()
    now, then = terms.var("x", 4), terms.var("'x", 4)
    solver = Solver(terms, BOUNDED, 1_000_000)
    solver.add(terms.eq(now, terms.const(1, 4)))
    for frame in range(3):
        solver.add(terms.eq(then, terms.add(now, terms.const(1, 4))), frame)
    answer = solver.check({"end": (terms.eq(then, terms.const(4, 4)), 2)})
    assert isinstance(answer, Sat)
    assert [answer.frame(i)["x"] for i in range(3)] == [1, 2, 3]
    assert answer.frame(2)["'x"] == 4
    assert isinstance(solver.check({"end": (terms.eq(then, terms.const(5, 4)), 2)}), Unsat)


def test_the_core_names_assumptions_when_there_is_no_assignment() -> None:
    terms = Terms()
    p, q = terms.var("p", BOOL), terms.var("q", BOOL)
    solver = Solver(terms, BOUNDED, 1_000_000)
    solver.add(terms.implies(p, q))
    given = {"has p": (p, 0), "no q": (terms.not_(q), 0), "idle": (terms.or_(p, q), 0)}
    answer = solver.check(given)
    assert isinstance(answer, Unsat)
    assert set(answer.core) == {"has p", "no q"}


@pytest.mark.parametrize("logic", [BOUNDED, UNBOUNDED])
def test_z3_answers_unknown_when_the_limit_is_too_small(logic: str) -> None:
    terms = Terms()
    numbers = Numbers(terms, logic == UNBOUNDED)
    x, y, z = (numbers.variable(name, 0, 2000) for name in "xyz")
    cube = [numbers.multiply(numbers.multiply(v, v), v) for v in (x, y, z)]
    solver = Solver(terms, logic, 1000)
    for value in (x, y, z):
        solver.add(numbers.within(value, 1, 2000))
    goal = numbers.equal(numbers.add(cube[0], cube[1]), cube[2])
    assert isinstance(solver.check({"fermat": (goal, 0)}), Unknown)
