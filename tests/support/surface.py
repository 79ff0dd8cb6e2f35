"""Random surface trees: everything that the grammar allows, and nothing else."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st

from charter.syntax import nodes

ItemT = TypeVar("ItemT", bound=nodes.Item)

WORDS = [
    "a",
    "b1",
    "isr",
    "Broker",
    "x_y",
    "present",
    "size",
    "FENCED",
    "bool",
    "index",
    "notes",
    "orders",
    "lets",
    "inner",
    "reply_to",
    "set_of",
    "prime",
    "android",
    "forall_x",
    "t0",
]

names = st.sampled_from(WORDS).map(nodes.Name)
words = st.sampled_from(WORDS)
maybe_name = st.none() | names
name_lists = st.lists(names, min_size=1, max_size=3).map(tuple)
printable = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))
texts = st.text(printable, max_size=6) | st.sampled_from(['say "x"', "C:\\", "-- no comment", "§6"])
citations = st.lists(
    st.builds(nodes.Citation, words, texts) | st.just(nodes.Citation("silent")), max_size=2
).map(tuple)


# --- comments ------------------------------------------------------------------------------------

lines = (
    (st.text(printable, min_size=1, max_size=8) | st.sampled_from(["why", '"', "---", "{"]))
    .map(str.rstrip)
    .filter(bool)
)


def _paragraphs(found: list[str]) -> tuple[str, ...]:
    """ "" stands between two lines only."""
    kept: list[str] = []
    for line in found:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def rarely(strategy: st.SearchStrategy[ItemT], otherwise: ItemT) -> st.SearchStrategy[ItemT]:
    """Mostly `otherwise`, so that trees stay small, and rarely `strategy`."""
    return st.integers(0, 5).flatmap(lambda n: strategy if n == 5 else st.just(otherwise))


comments = rarely(st.lists(lines | st.just(""), max_size=3).map(_paragraphs), ())
trailings = rarely(lines, "")


def item(cls: type[ItemT], *parts: st.SearchStrategy[object]) -> st.SearchStrategy[ItemT]:
    """An item that may have comments."""
    return st.builds(cls, *parts, comments=comments, trailing=trailings)


def block(cls: type[ItemT], *parts: st.SearchStrategy[object]) -> st.SearchStrategy[ItemT]:
    """An item with braces, and maybe comments before the closing one."""
    return st.builds(cls, *parts, comments=comments, trailing=trailings, closing=comments)


def some(strategy: st.SearchStrategy[object], least: int = 0) -> st.SearchStrategy[object]:
    """A short tuple."""
    return st.lists(strategy, min_size=least, max_size=max(least, 2)).map(tuple)


# --- expressions and types -----------------------------------------------------------------------

OPERATORS = [
    "implies",
    "or",
    "and",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "subset",
    "+",
    "-",
    "*",
    "|",
    "&",
]
leaves = (
    st.builds(nodes.IntLit, st.integers(0, 10**18 - 1) | st.integers(0, 3))
    | st.builds(nodes.BoolLit, st.booleans())
    | st.just(nodes.NoneLit())
    | st.builds(nodes.Ident, words, st.booleans())
    | st.builds(
        nodes.Took,
        names,
        maybe_name,
        st.none() | st.lists(st.builds(nodes.Ident, words), max_size=2).map(tuple),
    )
    | st.just(nodes.SetLit(()))
    | st.just(nodes.SeqLit(()))
)


def _larger(inner: st.SearchStrategy[nodes.Expr]) -> st.SearchStrategy[nodes.Expr]:
    binders = st.builds(nodes.Binder, names, inner)
    patterns = st.builds(nodes.Pattern, names, name_lists)
    any_binder = (
        binders
        | st.builds(nodes.PatternBinder, names, names | patterns, inner)
        | st.builds(nodes.PatternBinder, st.none(), patterns, inner)
    )
    binder_lists = st.lists(any_binder, min_size=1, max_size=2).map(tuple)
    inits = st.lists(st.builds(nodes.FieldInit, names, inner), min_size=1, max_size=2).map(tuple)
    entries = st.lists(st.builds(nodes.Entry, inner, inner), min_size=1, max_size=2).map(tuple)
    cases = st.builds(nodes.Case, names, st.lists(names, max_size=2).map(tuple), inner)
    return st.one_of(
        st.builds(nodes.Binary, st.sampled_from([*OPERATORS, "not in"]), inner, inner),
        st.builds(nodes.Binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(nodes.Unary, st.sampled_from(["not", "-"]), inner),
        st.builds(nodes.Apply, names, some(inner)),
        st.builds(nodes.FieldOf, inner, names),
        st.builds(nodes.Index, inner, inner),
        st.builds(nodes.RecordLit, names, inits),
        st.builds(nodes.WithFields, inner, inits),
        st.builds(nodes.WithEntries, inner, entries),
        st.builds(nodes.SetLit, some(inner)),
        st.builds(nodes.SeqLit, some(inner)),
        st.builds(nodes.Comprehension, inner, binder_lists, st.none() | inner),
        st.builds(nodes.Comprehension, st.none(), st.tuples(binders), inner),
        st.builds(nodes.MapLit, binders, inner),
        st.builds(
            nodes.Quantifier,
            st.sampled_from(["forall", "some", "exactly one", "the", "sum"]),
            binder_lists,
            inner,
        ),
        st.builds(nodes.If, inner, inner, inner),
        st.builds(nodes.LetIn, names, inner, inner),
        st.builds(nodes.Is, inner, patterns),
        st.builds(nodes.Match, inner, st.lists(cases, min_size=1, max_size=2).map(tuple)),
    )


expressions: st.SearchStrategy[nodes.Expr] = st.recursive(leaves, _larger, max_leaves=10)
small = st.recursive(leaves, _larger, max_leaves=3)
arguments = some(small)

types: st.SearchStrategy[nodes.Type] = st.recursive(
    st.builds(nodes.NamedType, words) | st.builds(nodes.IntType, small, small),
    lambda inner: st.one_of(
        st.builds(nodes.WrappedType, st.sampled_from(["option", "set", "ranking"]), inner),
        st.builds(nodes.SeqType, inner, small),
        st.builds(nodes.MapType, inner, inner),
    ),
    max_leaves=4,
)
params = some(st.builds(nodes.Param, names, types))


# --- statements ----------------------------------------------------------------------------------

targets: st.SearchStrategy[nodes.Expr] = st.recursive(
    st.builds(nodes.Ident, words),
    lambda inner: st.builds(nodes.FieldOf, inner, names) | st.builds(nodes.Index, inner, small),
    max_leaves=3,
)
lets = item(nodes.Let, names, expressions)
picks = item(
    nodes.Pick, names, st.none() | st.builds(nodes.Binder, names, small), small, st.booleans()
)
assigns = item(nodes.Assign, targets, expressions)
guarding = st.tuples(
    st.lists(st.builds(nodes.Conjunct, st.none(), small), max_size=2),
    st.lists(st.builds(nodes.Conjunct, names, small), min_size=1, max_size=2),
).map(lambda found: (*found[0], *found[1]))
required = guarding | st.tuples(st.builds(nodes.Conjunct, st.none(), expressions))
replies = item(nodes.Reply, expressions)
calls = item(nodes.CallOperation, maybe_name, names, st.none() | small, names, arguments)
each = st.builds(
    nodes.Each, st.none() | st.builds(nodes.Binder, names, small), st.none() | expressions
)
step_statements = st.one_of(
    lets,
    picks,
    assigns,
    calls,
    item(nodes.Require, required),
    item(nodes.Send, names, arguments, small, each),
    item(nodes.Receive, names, st.none() | small, names, arguments),
    item(nodes.Clear, names, arguments, each),
)
crashes = st.sampled_from(["process", "machine"])
of_storage = st.one_of(
    item(nodes.Flush, names, st.none() | small, st.none() | expressions),
    item(nodes.Crash, crashes),
    item(nodes.Crash, crashes, names, expressions),
)
bodies = st.tuples(some(lets | picks | assigns | of_storage), replies).map(
    lambda parts: (*parts[0], parts[1])
)
labelled = item(nodes.Conjunct, names, small)
unlabelled = item(nodes.Conjunct, st.none(), small)
guards = st.tuples(st.lists(unlabelled, max_size=2), st.lists(labelled, max_size=2)).map(
    lambda parts: (*parts[0], *parts[1])
)  # a label reaches to the next one
branches = block(nodes.Branch, names, citations, guards, bodies)
groups = block(nodes.AnyOrder, some(branches, least=1))
assumptions = item(nodes.Assume, st.none(), st.just(()), expressions) | item(
    nodes.Assume, names, citations, expressions
)
lines = lets | assumptions | branches | groups
operations = block(nodes.Operation, names, params, types, citations, some(lines))
kinds = st.sampled_from(["durable", "volatile", "ghost"])
states = st.one_of(
    item(nodes.StateDecl, names, types, small, kinds),
    item(nodes.StateDecl, names, types, small, st.just("ghost"), small),
    item(nodes.StateDecl, names, types, small, st.just("cached"), st.none(), names),
)


# --- declarations --------------------------------------------------------------------------------

fields = item(nodes.FieldDecl, name_lists, types)
cases = item(nodes.CaseDecl, names, params)
aliases = item(nodes.AliasDecl, names, types)
enums = item(nodes.EnumDecl, names, st.lists(names, min_size=1, max_size=20).map(tuple))
records = block(nodes.RecordDecl, names, some(fields, least=1))
unions = block(nodes.UnionDecl, names, some(cases, least=1))
funs = item(nodes.FunDecl, names, params, types, citations, expressions, maybe_name)
properties = item(
    nodes.PropertyDecl,
    st.sampled_from(["always", "stepwise", "witness"]),
    names,
    names,
    citations,
    expressions,
)
fairness = st.lists(st.builds(nodes.Fair, names, st.just(()) | name_lists), max_size=2).map(tuple)
eventualities = st.one_of(
    item(nodes.EventuallyDecl, names, names, citations, fairness, st.just(()), st.none(), small),
    item(
        nodes.EventuallyDecl,
        names,
        names,
        citations,
        fairness,
        st.lists(st.builds(nodes.Binder, names, small), max_size=2).map(tuple),
        expressions,
        expressions,
    ),
)
observed = item(nodes.Observed, name_lists, st.just("") | words)
observes = block(nodes.ObserveDecl, names, some(observed))
channels = item(
    nodes.ChannelDecl,
    names,
    st.lists(types, min_size=1, max_size=2).map(tuple),
    types,
    st.sampled_from(["slot", "set", "fifo"]),
    st.none(),
    st.booleans(),
    st.booleans(),
) | item(
    nodes.ChannelDecl,
    names,
    st.lists(types, min_size=1, max_size=2).map(tuple),
    types,
    st.just("fifo"),
    small,
    st.booleans(),
    st.booleans(),
)
parts = item(nodes.PartDecl, names, st.none() | types, names)
steps = block(nodes.StepDecl, names, params, citations, maybe_name, some(step_statements))
bounds = item(nodes.Bound, names, small)
starts = item(nodes.Start, names, small)
missed = st.lists(
    names | st.builds(lambda a, b: nodes.Name(f"{a.text}/{b.text}"), names, names),
    min_size=1,
    max_size=3,
).map(tuple)
environments = st.one_of(
    bounds,
    starts,
    item(nodes.Offers, name_lists),
    item(nodes.Only, names, small),
    item(nodes.Misses, missed),
    item(nodes.Fails, name_lists),
)
likes = st.builds(nodes.Like, names, arguments)
scenario_items = st.one_of(
    bounds,
    starts,
    lets,
    item(nodes.Do, names, arguments, maybe_name, st.none() | small, st.booleans()),
    item(nodes.Expect, small, st.booleans()),
    item(nodes.Moment, texts),
)
plain_declarations = st.one_of(
    item(nodes.SourceDecl, names, texts),
    item(nodes.SortDecl, names),
    item(nodes.CounterDecl, names, st.just(False), st.just(True)),
    item(nodes.CounterDecl, names, st.just(True), st.booleans()),
    item(nodes.ConstDecl, names, types),
    aliases,
    enums,
    records,
    unions,
    funs,
    properties,
    eventualities,
    block(nodes.ComponentDecl, names, some(states | operations | observes)),
    block(nodes.SystemDecl, names, some(parts | channels | states | steps)),
    block(nodes.InstanceDecl, names, names, some(likes), some(environments)),
    block(nodes.ScenarioDecl, texts, names, some(likes), citations, some(scenario_items)),
)


# --- edits ---------------------------------------------------------------------------------------


def _silent(found: nodes.Item) -> nodes.Item:
    """A copy without comments, because the edit around it has its own."""
    values = {
        name: getattr(found, name) for name in type(found).__match_args__ if hasattr(found, name)
    }
    return type(found)(**values, closing=found.closing)


def _drop(what: str, address: nodes.Address) -> nodes.Drop:
    last = address.branch or address.operation or address.head
    return nodes.Drop(what, last, address)  # type: ignore[arg-type]


def wrap(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """A declaration inside of an edit."""
    return strategy.map(_silent)  # type: ignore[arg-type]


addresses = st.builds(nodes.Address, names, maybe_name, maybe_name)
edits = st.one_of(
    item(
        nodes.Replace,
        wrap(funs | properties | eventualities | records | enums | unions | aliases),
    ),
    item(nodes.ReplaceBranch, addresses, wrap(branches)),
    item(nodes.ReplaceOperation, addresses, wrap(operations | steps)),
    item(nodes.ReplaceFun, names, citations, small),
    item(
        nodes.ReplacePart,
        st.sampled_from(["conjunct", "update", "pick", "let", "history"]),
        names,
        addresses,
        small,
    ),
    item(nodes.Drop, st.sampled_from(["conjunct", "update"]), names, addresses),
    st.builds(_drop, st.sampled_from(["branch", "operation", "step"]), addresses),
    item(nodes.Drop, st.sampled_from(["property", "witness"]), names, st.none()),
    item(nodes.Drop, st.just("scenario"), texts.map(nodes.Name), st.none()),
    item(nodes.AddFault, addresses, st.builds(nodes.FaultRule, texts, texts, st.none() | small)),
    item(nodes.Add, st.none(), st.none(), wrap(plain_declarations)),
    item(nodes.Add, addresses, maybe_name, wrap(states | operations | steps | branches)),
)
verdicts = st.sampled_from(
    ["charter_gap", "by_design", "harmless", "known_defect", "suspected_defect"]
)
entries = block(nodes.OverlayEntry, names, verdicts, texts, texts, citations, texts, some(edits))
declarations = st.one_of(
    plain_declarations,
    plain_declarations,
    block(nodes.VariantDecl, names, some(names), citations, some(edits)),
    block(nodes.MutantDecl, names, names, some(edits), names),
    block(nodes.OverlayDecl, names, names, some(funs), some(entries)),
)
protocols = st.lists(words, min_size=1, max_size=3).map(".".join).map(nodes.Name)
files = block(nodes.File, protocols, st.lists(declarations, max_size=3).map(tuple))
"""Whole files."""
