"""Writes sections.json: the data about a charter that a report needs (docs/formats/report.md)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import branch_expressions, nodes
from charter.diagnostics import BUILTIN, Span
from charter.formats.canonical import Json
from charter.formats.charter_files.obligations import OPEN, UNSEARCHED, sections_digest
from charter.suites.search_results import mutants_of, tells_of_search
from charter.suites.smoke import Smoke
from charter.suites.subject import Overlay, Subject
from charter.vectors.ledger import Ledger, LedgerRow

FORMAT = 7


def sections(about: Subject, small: Smoke, suite: str) -> dict[str, Json]:
    """The content of sections.json of a component; `suite` is the digest of its small suite."""
    model, component = about.model, about.component
    content: dict[str, Json] = {
        "format": FORMAT,
        "base": "",
        "protocol": model.protocol,
        "variant": model.variant,
        "component": component.name,
        "spec_digest": about.spec_digest,
        "suite": suite,
        "sources": [[name, title] for name, title in model.sources if name != "silent"],
        **({"links": [[*link] for link in model.links]} if model.links else {}),
        "levels": _levels(component),
        "ordered": [*sorted(_find_ordered(model, component))],
        "operations": [_operation(operation) for operation in component.operations],
        "branches": [_branch(o, b) for o in component.operations for b in o.branches],
        "ledger": _ledger(small.ledger),
        "mutants": _mutants(about, small),
        "entries": [
            entry
            for overlay in about.overlays
            if overlay.variant == model.variant
            for entry in _entries(overlay, model, component)
        ],
    }
    return {**content, "digest": sections_digest(content)}


def _levels(component: n.Component) -> list[Json]:
    """Each level with all variables that it shows, those of earlier levels included."""
    shown: set[str] = set()
    found: dict[str, Json] = {}
    for observable in component.observables:
        if observable.path and observable.mode != "ignored":
            shown.add(observable.path[0])
        found[observable.level] = [*sorted(shown)]
    return [[name, variables] for name, variables in found.items()]


def _find_ordered(model: n.Model, component: n.Component) -> set[str]:
    """Names of variables, fields and parameters whose type is a ranking or a sequence."""
    pairs = [(v.name, v.type) for v in component.state]
    pairs += [(p.name, p.type) for o in component.operations for p in o.params]
    pairs += [field for record in model.records for field in record.fields]
    pairs += [param for union in model.unions for _, params in union.cases for param in params]
    return {name for name, kind in pairs if _is_ordered(kind)}


def _is_ordered(kind: t.Type) -> bool:
    match kind:
        case t.Ranking() | t.Seq():
            return True
        case t.Option(inner=inner) | t.Map(value=inner):
            return _is_ordered(inner)
        case _:
            return False


def _operation(operation: n.Operation) -> Json:
    return {
        "operation": operation.name,
        "doc": operation.doc,
        "citations": _citations(operation.citations),
        **({"section": operation.section} if operation.section else {}),
        **_place(operation.span),
    }


def _branch(operation: n.Operation, branch: n.Branch) -> Json:
    return {
        "operation": operation.name,
        "branch": branch.name,
        "doc": branch.doc,
        "citations": _citations(branch.citations or operation.citations),
        **_place(branch.span),
        "text": [*_lines(branch.span)],
    }


def _ledger(ledger: Ledger) -> list[Json]:
    """Rows as lists, since there are hundreds and column names would be larger than the content. A
    name begins with the kind of its obligation and with its branch."""
    return [[row.name, _status(row), row.count, row.note] for row in ledger.rows]


def _status(row: LedgerRow) -> str:
    """The status of a row; an open one says whether a search looked for it."""
    return row.status if row.status != OPEN or tells_of_search(row.note) else UNSEARCHED


def _mutants(about: Subject, small: Smoke) -> list[Json]:
    kills = {kill.mutant: kill for kill in small.kills}
    found: list[Json] = []
    for mutant in mutants_of(about.model, about.component.name):
        kill = kills[mutant.name]
        found.append(
            {
                "name": mutant.name,
                "doc": mutant.doc,
                "caught_by": mutant.caught_by,
                "killed": kill.outcome == "killed",
                "killed_in_some_runs": kill.outcome == "killed_in_some_runs",
                "vector": kill.first,
            }
        )
    return found


def _entries(overlay: Overlay, model: n.Model, component: n.Component) -> Iterable[Json]:
    for entry in overlay.entries:
        home = overlay.home(entry.name)
        if home:
            yield {
                "overlay": overlay.name,
                "name": entry.name,
                "first_release": entry.first_release,
                "last_release": entry.last_release,
                "taken_from": home.name,
            }
            continue
        names = {address.partition(":")[0] for address in entry.addresses}
        yield {
            "overlay": overlay.name,
            "name": entry.name,
            "class": entry.verdict,
            "first_release": entry.first_release,
            "last_release": entry.last_release,
            "evidence": entry.evidence,
            "citations": _citations(entry.citations),
            "branches": [*_find_touched(names, model, component)],
            **_place(entry.span),
            "text": [*_lines(entry.span)],
        }


def _find_touched(names: set[str], model: n.Model, component: n.Component) -> Iterable[str]:
    """The branches that these edits change, directly or in functions that they call."""
    functions = {f.name: f for f in model.functions}
    for operation in component.operations:
        whole = f"{component.name}.{operation.name}"
        for branch in operation.branches:
            called = _find_called([*branch_expressions(branch)], functions)
            if {whole, f"{whole}/{branch.name}"} & names or called & names:
                yield f"{operation.name}/{branch.name}"


def _find_called(queue: list[n.Expr], functions: Mapping[str, n.Function]) -> set[str]:
    """The functions that expressions call, directly or not."""
    found: set[str] = set()
    while queue:
        for node in nodes(queue.pop()):
            if isinstance(node, n.Call) and node.function not in found:
                found.add(node.function)
                queue.append(functions[node.function].body)
    return found


def _citations(citations: Sequence[n.Citation]) -> list[Json]:
    return [[c.source, c.section] for c in citations]


def _place(span: Span) -> dict[str, Json]:
    if not _has_text(span):
        return {"file": "", "line": 0}
    line = span.source.text.count("\n", 0, span.start) + 1
    return {"file": span.source.name, "line": line}


def _lines(span: Span) -> list[str]:
    """The whole lines that a span touches, common indent removed."""
    if not _has_text(span):
        return []
    text = span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", max(span.start, span.end - 1))
    whole = text[start : end if end >= 0 else len(text)]
    return textwrap.dedent(whole).rstrip().split("\n")


def _has_text(span: Span) -> bool:
    return span.source is not BUILTIN and span.end > span.start
