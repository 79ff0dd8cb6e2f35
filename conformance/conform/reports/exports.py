"""Exports of a report: Markdown summary, badge."""

from __future__ import annotations

import json
from collections.abc import Sequence

import jinja2

from conform.console.terminal import number
from conform.judging.siblings import show_entries
from conform.reports import wording
from conform.reports.matrix import Reading, SectionRow
from conform.reports.runs import ReportedRun
from conform.reports.shapes import MONO
from conform.reports.target_matrix import TargetMatrix
from conform.runs.bounds import bounds_rows
from conform.runs.extent import STANDARD_SUITE

_COLOURS = {"good": "#1b6b3a", "known": "#8a5a00", "bad": "#b42318", "void": "#5b6472"}
_NAMES = {"good": "green", "known": "yellow", "bad": "red", "void": "lightgrey"}


def shield(run: ReportedRun) -> str:
    """The JSON of a run's badge for shields.io."""
    found = wording.statement(run)
    content = {
        "schemaVersion": 1,
        "label": run.name,
        "message": _message(run),
        "color": _NAMES[found.tone],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def badge(templates: jinja2.Environment, run: ReportedRun) -> str:
    """The badge as SVG."""
    label, message = run.name, _message(run)
    widths = [round(len(text) * MONO + 16) for text in (label, message)]
    return templates.get_template("badge.svg.j2").render(
        label=label, message=message, widths=widths, colour=_COLOURS[wording.statement(run).tone]
    )


def _message(run: ReportedRun) -> str:
    seen = wording.extent(run)
    new = run.count("new_deviations")
    known = run.count("deviations") - new
    count = f"{number(seen.judged)} of {number(seen.suite)}"
    told = f"{count} judged · {number(new)} new · {number(known)} known"
    if seen.obligations.missing:
        told += f" · {number(seen.obligations.unasked)} obligations not asked"
    if seen.older:
        return f"{told} · older charter"
    kind = "standard" if seen.small == STANDARD_SUITE else "small"
    return f"{told} · {kind} suite" if seen.small else told


def markdown(read: Sequence[Reading], rows: Sequence[SectionRow], targets: TargetMatrix) -> str:
    """The counts of all runs as Markdown."""
    lines = ["# Conformance", ""]
    for item in read:
        found = wording.statement(item.run)
        lines += [f"## {escape(item.run.name)}: {found.word}", "", escape(found.sentence), ""]
        lines += [f"Judged against {escape(wording.scope(item.run))}.", ""]
        lines += [f"Digest of the run: {escape(str(item.run.summary['digest']))}", ""]
        lines += _table(["verdict", "vectors"], [
            [wording.human(kind), number(count)]
            for kind, count in item.run.counts("verdicts").items() if count])  # fmt: skip
        if bounds := bounds_rows(item.run.summary.get("bounds")):
            lines += _table(["bounds of the questions", "asked"], [[*row] for row in bounds])
        if item.findings:
            lines += _table(["finding", "class", "severity", "vectors", "deviations", "shortest"], [
                [show_entries(f.id), wording.human(f.kind), f.severity, number(len(f.cases)),
                 number(f.deviations), f.ordered[0].id]
                for f in item.findings])  # fmt: skip
    if targets.rows:
        lines += ["## Targets by findings", ""]
        lines += _table(["finding", *(run.head for run in targets.runs)], [
            [show_entries(row.finding.id), *(cell.word for cell in row.cells)]
            for row in targets.rows])  # fmt: skip
    names = [item.run.name for item in read]
    lines += ["## Sections of the protocol", ""]
    lines += _table(["section", "operations", *names], [
        [row.name, ", ".join(row.operations), *(cell.word for cell in row.cells)]
        for row in rows])  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def summarise_withheld(runs: Sequence[ReportedRun]) -> str:
    """The Markdown summary of runs that cannot be trusted."""
    lines = ["# Withheld", "", "These runs cannot be trusted, so no results are shown.", ""]
    for run in runs:
        reasons = run.summary.get("reasons")
        lines += [f"## {escape(run.name)}", ""]
        lines += (
            [f"- {escape(str(reason))}" for reason in reasons] if isinstance(reasons, list) else []
        )
        lines += [""]
        lines += _table(["canary", "where", "expected", "got"], [
            [str(canary.get(name, "")) for name in ("kind", "where", "expected", "got")]
            for canary in run.canaries if canary.get("ok") is not True])  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, whose cells are texts."""
    return write_table([*map(escape, head)], [[*map(escape, cells)] for cells in rows])


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, whose cells are Markdown, and an empty one."""
    every = (head, ["---"] * len(head), *rows)
    return [*(f"| {' | '.join(cells)} |" for cells in every), ""]


def escape(text: str) -> str:
    """A text with the special characters of Markdown and HTML escaped, on one line."""
    text = text.replace("&", "&amp;")
    for char in "\\`*_[]<>|":
        text = text.replace(char, f"\\{char}" if char not in "<>" else f"&{'lg'[char == '>']}t;")
    return text.replace("\n", " ")
