"""Writes a run as JUnit XML, for CI systems: a case for each branch and each finding."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from charter.formats.reading import mapping, texts
from charter.formats.run import RunFinding
from charter.formats.verdict import STDERR
from conform.console.errors import CannotWrite
from conform.console.files import write_named
from conform.console.terminal import plural, visible
from conform.judging.siblings import show_entries
from conform.reports import wording
from conform.reports.runs import ReportedRun, open_runs
from conform.runs.findings.adapter_failures import place_told
from conform.runs.findings.findings import CHOSEN_START, LIMIT_TOLD, print_shrunk, read_findings
from conform.runs.findings.in_system import SystemAnswers, tell_answer
from conform.storage.bucket_store import RunFolder


def junit(run: ReportedRun) -> str:
    """The JUnit XML of a run. A branch passes if it was taken and has no finding, and is skipped if
    it was never taken. A new finding fails, a known one is skipped. Where the adapter failed is an
    error. Of a run that is not to be trusted only that is said."""
    suite = Xml.Element("testsuite", name=f"{run.about.protocol} {run.name}")
    if not run.trusted:
        _error(suite, "the run", "untrusted", "; ".join(texts(run.summary.get("reasons"))))
        return _write(suite, run)
    findings = read_findings(run.summary)
    counts = run.branch_counts()
    rules = [rule.name for rule in run.sections.branches] or sorted(counts)
    for rule in dict.fromkeys([*rules, *(one.rule for one in findings)]):
        shown = [one for one in findings if one.rule == rule]
        for finding in shown:
            _finding(suite, run, finding)
        if not shown:
            _branch(suite, run, rule, counts.get(rule, (0, 0)))
    trouble = run.summary.get("adapter_trouble")
    for item in map(mapping, trouble if isinstance(trouble, list) else ()):
        name = f"{wording.human(str(item['kind']))} {item['vector']}"
        how, stderr, said = str(item["detail"]).partition(STDERR)
        told = how + place_told(item) + stderr + said
        if allowed := str(item.get("allowed", "")):
            case = Xml.SubElement(suite, "testcase", classname="conform", name=name)
            Xml.SubElement(case, "skipped", message=f"allowed ({allowed}): {told}")
            continue
        _error(suite, name, str(item["kind"]), told, _replay(run, str(item["vector"])))
    _whole(suite, run)
    return _write(suite, run)


def junit_of_run(folder: Path) -> str:
    """The JUnit XML of the run in a folder."""
    (run,) = open_runs([folder], None)
    return junit(run)


def junit_of_error(target: str, sentence: str, stderr: Sequence[str] = ()) -> str:
    """The JUnit XML of a run that did not come to its end; `stderr`: the last lines of a program
    that failed."""
    suite = Xml.Element("testsuite", name=target)
    told = ["the last lines that it wrote to stderr:", *stderr] if stderr else []
    _error(suite, "the run", "not run", sentence, "\n".join(told))
    return _write(suite, None)


_BEGIN = len("<?xml version='1.0' encoding='utf-8'?>\n<testsuite")
"""By these characters an earlier file is recognized as JUnit XML."""


def write_junit(place: str, text: str) -> None:
    """Write the file, with its folder. Raises `CannotWrite`."""
    path = Path(place)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{path} could not be written ({error.strerror})") from None
    write_named(path, text, _BEGIN)


def _case(suite: Xml.Element, run: ReportedRun, rule: str, more: str = "") -> Xml.Element:
    """A case in the class of its operation."""
    operation, _, branch = rule.partition("/")
    names = (run.about.protocol, run.about.component, operation)
    name = " ".join(part for part in (branch or operation, more) if part)
    return Xml.SubElement(suite, "testcase", classname=".".join(names), name=name)


def _branch(suite: Xml.Element, run: ReportedRun, rule: str, counts: tuple[int, int]) -> None:
    case = _case(suite, run, rule)
    case.set("assertions", str(sum(counts)))
    if not sum(counts):
        Xml.SubElement(case, "skipped", message="the run never took this branch")


def _finding(suite: Xml.Element, run: ReportedRun, finding: RunFinding) -> None:
    case = _case(suite, run, finding.rule, f"[{finding.id}]")
    known = finding.known or show_entries(finding.entry)
    answer = tell_answer(SystemAnswers.read(RunFolder(str(run.folder))).of(finding))
    if known:
        skipped = Xml.SubElement(case, "skipped", message=f"known ({known}): {finding.sentence}")
        skipped.text = "\n".join(answer) or None
        return
    shrunk = finding.shrunk
    example = shrunk or finding
    lines = [
        f"{finding.severity}: {finding.sentence}",
        f"{plural(finding.vectors, 'vector')}; step {example.step} of {example.vector}:",
        *(print_shrunk(shrunk) if shrunk else finding.shown),
        *((CHOSEN_START,) if not shrunk and finding.chosen else ()),
        *answer,
        *(f"{LIMIT_TOLD} {says}" for says in finding.limits),
        _replay(run, example.vector),
    ]
    failure = Xml.SubElement(case, "failure", type=finding.severity, message=finding.sentence)
    failure.text = "\n".join(lines)


def _error(suite: Xml.Element, name: str, kind: str, message: str, text: str = "") -> None:
    case = Xml.SubElement(suite, "testcase", classname="conform", name=name)
    Xml.SubElement(case, "error", type=kind, message=message).text = text


def _whole(suite: Xml.Element, run: ReportedRun) -> None:
    """A case for the run as a whole: it fails if nothing else does and the run is not fine."""
    case = Xml.SubElement(suite, "testcase", classname="conform", name="the run")
    failed = suite.find("./testcase/failure") is not None
    if run.summary.get("exit") and (not failed or wording.extent(run).missing):
        reasons = "; ".join(texts(run.summary.get("reasons")))
        Xml.SubElement(case, "failure", type="run", message=reasons)
    Xml.SubElement(case, "system-out").text = wording.statement(run).sentence


def _replay(run: ReportedRun, vector: str) -> str:
    return f"conform replay {vector} --run {run.shown_folder}"


def _write(suite: Xml.Element, run: ReportedRun | None) -> str:
    suite.set("tests", str(len(suite)))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"./testcase/{kind}"))))
    suite.set("time", str(run.summary.get("seconds", 0) if run else 0))
    Xml.indent(suite)
    return visible(Xml.tostring(suite, encoding="unicode", xml_declaration=True)) + "\n"
