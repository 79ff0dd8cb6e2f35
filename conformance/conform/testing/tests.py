"""Makes the tests of a suite: one for each vector, and one for the canaries."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import assert_never

import orjson
import pytest

from charter.formats.project import BadProject
from charter.formats.run_description import RunDescription
from charter.formats.verdict import Kind
from conform.cli.output.staleness import Older, older_suite
from conform.cli.set_options import assignment, read_set
from conform.console.errors import ConformError
from conform.console.terminal import one_line
from conform.judging.places import ValuePlaces
from conform.judging.verdict import VectorItem
from conform.runs.canaries import trust
from conform.runs.canaries.canaries import canary_told, draw
from conform.runs.findings.baseline import NO_BASELINE, Baseline, read_baseline, tell_compared
from conform.runs.findings.observed_digest import ObservedDigest
from conform.runs.run_json import file_digests
from conform.runs.selection import branches_of
from conform.testing.failure_text import ShownFinding, broke, command, diverges, findings_of
from conform.testing.implementation import JudgedAdapter, VectorJudge, open_judged
from conform.testing.judged_vectors import NOTE, JudgedVectors, SessionEnd, gaps_told, note_of

ROOT = "charter"
CANARIES = "canaries"
_FINDING = "charter finding"
_GOOD_CANARIES = "behave as they must"
_SHOWN = 12


def charter_tests(config: pytest.Config) -> CharterTests:
    """The tests that the options ask for. Raises `pytest.UsageError` with one sentence."""
    suite = str(config.getoption("--charter"))
    adapter = str(config.getoption("--charter-adapter") or config.getini("charter_adapter"))
    place = str(config.getoption("--charter-baseline") or config.getini("charter_baseline"))
    try:
        baseline = read_baseline(place) if place else NO_BASELINE
        given = read_set([assignment(text) for text in config.getoption("--charter-set")])
        return CharterTests(suite, open_judged(adapter, suite, given), baseline)
    except (ConformError, BadProject, ArgumentTypeError) as error:
        raise pytest.UsageError(str(error)) from None


class DoesNotConform(Exception):
    """A test fails; the text is what pytest shows."""


class CharterTests:
    """Adds the tests to those that pytest collects, and counts what became of them."""

    def __init__(self, suite: str, judged: JudgedAdapter, baseline: Baseline) -> None:
        self.suite = suite
        self.judge = VectorJudge(judged)
        self.judged = judged
        self.baseline = baseline
        self.outcomes: dict[str, str] = {}
        self.canaries = "were not run, so nothing shows that this suite can fail"
        self.seen: Counter[str] = Counter()
        self.observed: dict[str, ObservedDigest] = {}
        self.vectors = JudgedVectors()
        self.stale_alone = False
        self.too_little = False
        self.doubted = False
        self.files: RunDescription | None = None
        self.end: SessionEnd | None = None
        self.older = Older()

    @property
    def stale(self) -> tuple[str, ...]:
        """The findings of the baseline that no vector showed, if all vectors ran."""
        return tuple(sorted(self.baseline.reasons.keys() - self.seen)) if self._all_ran else ()

    @property
    def changed(self) -> tuple[str, ...]:
        """The findings of the baseline that other vectors showed than when they were listed by this
        suite, or that observe something else; only by more vectors, if not all ran."""
        suite = self.judged.resolved.suite.manifest.digest
        return tuple(
            name
            for name, entry in sorted(self.baseline.entries.items())
            if name in self.seen and entry.suite == suite
            if self._all_ran or self.seen[name] > entry.vectors
            if (entry.vectors, entry.shown) != (self.seen[name], self.observed[name].text)
        )

    @property
    def _all_ran(self) -> bool:
        return len(self.outcomes) == self.judged.resolved.suite.manifest.vectors

    # Around the one of --last-failed, which sorts what it gets: the vectors stay behind the tests.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Adds the suite to what pytest collects, so that pytest counts its tests, too."""
        report = yield
        if isinstance(collector, pytest.Session):
            report.result.append(
                CharterSuite.from_parent(collector, name=ROOT, nodeid=ROOT, tests=self)
            )
        return report

    @pytest.hookimpl(tryfirst=True)  # before pytest-xdist starts its workers
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if session.config.getoption("numprocesses", None):
            self._begin(session.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        if any(isinstance(item, _Test) for item in session.items):
            self._begin(session.config)

    def _begin(self, config: pytest.Config) -> None:
        """Opens the connection before the first vector: what is wrong with the whole adapter is
        one error. A worker of pytest-xdist leaves that to the process that started it. Raises
        `pytest.UsageError`."""
        if config.option.collectonly or hasattr(config, "workerinput"):
            return
        try:
            self.older = older_suite(self.judged.resolved.suite.manifest, self.suite)
            if self.judged.has_files and self.files is None:
                self.files = file_digests(self.judged.resolved)
            self.judge.begin()
        except (ConformError, BadProject) as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts a test; with pytest-xdist in the process that the workers report to."""
        node, _, name = report.nodeid.partition("::")
        if node != ROOT or (report.when != "call" and report.passed):
            return
        if name.partition("@")[0] == CANARIES:
            self.canaries = "failed" if report.failed else _GOOD_CANARIES
            return
        for what, value in report.user_properties:
            if what == _FINDING:
                name, _, observed = str(value).partition(" ")
                self.seen[name] += 1
                self.observed.setdefault(name, ObservedDigest()).join(int(observed))
            elif what == NOTE:
                self.vectors.add(str(value))
        known = report.skipped and hasattr(report, "wasxfail")
        self.outcomes[report.nodeid] = "known" if known else report.outcome

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.vectors.verdicts and not hasattr(session.config, "workerinput"):
            trusted = self.canaries == _GOOD_CANARIES
            self.end = self.vectors.end(self.judge, self.files, self.older.by, trusted=trusted)
        if session.exitstatus != pytest.ExitCode.OK:
            return
        strict = bool(session.config.getini("charter_strict"))
        self.stale_alone = bool(self.stale or self.changed)
        self.too_little = strict and self.end is not None and self.end.extent.missing
        self.doubted = strict and self.end is not None and bool(self.end.files_changed)
        if self.stale_alone or self.too_little or self.doubted:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        manifest, counts = self.judged.resolved.suite.manifest, Counter(self.outcomes.values())
        terminalreporter.section("charter")
        what = f"{manifest.protocol} {manifest.component}, suite {manifest.digest[:8]}"
        told = [f"{counts['passed']} of {manifest.vectors} vectors conform"]
        told += [f"{counts['failed']} fail"] if counts["failed"] else []
        told += [f"{counts['known']} show known findings"] if counts["known"] else []
        told += [f"{counts['skipped']} could not be compared"] if counts["skipped"] else []
        left = manifest.vectors - counts.total()
        told += [f"{left} were not run"] if left else []
        gaps = gaps_told(self.end.extent) if self.end else ""
        told = [", ".join(told), *([gaps] if gaps else []), f"the canaries {self.canaries}"]
        told += [f"by {self.end.extent.by}"] if self.end and self.end.extent.by else []
        terminalreporter.line(one_line(f"{what}: {'; '.join(told)}"))
        if self.older.told:
            terminalreporter.line(one_line(self.older.told))
        if self.stale:
            terminalreporter.line(
                f"{self.baseline.place} lists findings that no vector showed:"
                f" {', '.join(self.stale)}; remove them"
            )
        if self.changed:
            terminalreporter.line(
                f"{self.baseline.place} lists findings that are not as they were by this suite:"
                f" {', '.join(self.changed)}; look whether each is the same bug, or another one in"
                " the same place; `conform run --update-baseline` takes what they are now"
            )
        other = self.baseline.of_another_suite(self.seen, manifest.digest)
        if told_of := tell_compared(other, "rule and place were"):
            terminalreporter.line(
                f"{told_of}: {', '.join(other)}; `conform run --update-baseline` lists them by this"
                " one"
            )
        if self.stale_alone:
            terminalreporter.line(
                "exit code 1, though no test failed: known findings that are gone must leave"
                " the baseline, and those that changed must be looked at",
                red=True,
            )
        self._tell_doubts(terminalreporter)
        if self.too_little:
            terminalreporter.line(
                one_line(
                    f"exit code 1, though no test failed: {gaps}; adapter.toml allows it by a"
                    " reason, under [not_compared], and charter_strict = false everything"
                ),
                red=True,
            )

    def _tell_doubts(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Shows which files changed meanwhile, and what failed before and conforms now."""
        if self.end is None:
            return
        if self.end.unsteady:
            asks = shlex.join(["conform", "doctor", "--adapter", self.judged.name])
            asks = asks if self.judged.made is None else ""
            terminalreporter.line(one_line(trust.unsteady_told(self.end.unsteady, asks)))
        for told in trust.explain_mixed(self.end.files_changed):
            alone = "exit code 1, though no test failed: " if self.doubted else ""
            terminalreporter.line(f"{alone}{told}", red=True)

    def pytest_unconfigure(self) -> None:
        self.judge.close()


class CharterSuite(pytest.Collector):
    """The parent of the tests of a suite."""

    def __init__(self, *, tests: CharterTests, name: str, parent: pytest.Session,
                 nodeid: str) -> None:  # fmt: skip
        super().__init__(name, parent, nodeid=nodeid)
        self.tests = tests

    def collect(self) -> Iterator[pytest.Item]:
        sample: list[VectorItem] = []
        branches: set[str] = set()
        for number, item in enumerate(self._items(), 1):
            draw(sample, item, number)
            branches |= branches_of(item)
            name = f"{_branch(item)}[{item.id[:_SHOWN]}]"
            made: VectorTest = VectorTest.from_parent(self, name=name, item=item)
            yield made
        last: CanariesTest = CanariesTest.from_parent(self, name=CANARIES, sample=sample)
        last.extra_keyword_matches |= branches
        yield last

    def _items(self) -> Iterator[VectorItem]:
        suite = self.tests.judged.resolved.suite
        every = [item for bucket in range(suite.buckets) for item in suite.items(bucket)]
        yield from sorted(every, key=lambda item: item.id)


class _Test(pytest.Item):
    """A test of a suite."""

    parent: CharterSuite

    def __init__(self, *, name: str, parent: CharterSuite) -> None:
        # Given as a text, pytest reads it into its parts as it reads the ids that it kept for
        # --last-failed. Made from the name alone, the brackets are no part of their own since 9.2.
        super().__init__(name, parent, nodeid=f"{parent.nodeid}::{name}")
        self.tests = parent.tests
        self.add_marker("charter")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        # A traceback of a known finding would be written, which takes longer than to judge it.
        if isinstance(excinfo.value, DoesNotConform | ConformError | pytest.xfail.Exception):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[str, None, str]:
        return ROOT, None, self.name


class VectorTest(_Test):
    """The test of one vector."""

    def __init__(self, *, name: str, parent: CharterSuite, item: VectorItem) -> None:
        super().__init__(name=name, parent=parent)
        self.vector = item
        self.extra_keyword_matches |= branches_of(item)

    def runtest(self) -> None:
        tests, item = self.tests, self.vector
        again = command(tests.suite, tests.judged, item.id[:_SHOWN])
        (judgement,) = tests.judge.session.run([item], 1)
        (assessment,) = judgement.assessments
        verdict = assessment.verdict
        findings = findings_of(item, verdict) if verdict.kind is Kind.DIVERGES else ()
        new = self._new(findings)
        self.user_properties.append(note_of(verdict, imageless=assessment.imageless, new=bool(new)))
        self.user_properties += [(_FINDING, f"{one.id} {one.observed}") for one in findings]
        match verdict.kind:
            case Kind.CONFORMS:
                return
            case Kind.DIVERGES if new:
                places = ValuePlaces(tests.judged.context.types)
                raise DoesNotConform(diverges(item, new[0], again, places))
            case Kind.DIVERGES:
                known = [finding.explain_known(tests.baseline.reasons) for finding in findings]
                pytest.xfail(one_line("; ".join(known)))
            case Kind.INCONCLUSIVE | Kind.UNSUPPORTED | Kind.NOT_LOADABLE | Kind.UNRESOLVED:
                kind = str(verdict.kind).replace("_", " ")
                pytest.skip(one_line(f"{kind}: {verdict.detail}"))
            case Kind.CRASHED | Kind.TIMED_OUT | Kind.ADAPTER_ERROR:
                raise DoesNotConform(broke(item, verdict, again))
            case _:
                assert_never(verdict.kind)

    def _new(self, findings: Sequence[ShownFinding]) -> list[ShownFinding]:
        """The findings that neither the overlay nor the baseline gives a reason for."""
        reasons = self.tests.baseline.reasons
        return [finding for finding in findings if not finding.explain_known(reasons)]


class CanariesTest(_Test):
    """Fails if nothing shows that the suite and the judge can fail."""

    def __init__(self, *, name: str, parent: CharterSuite, sample: list[VectorItem]) -> None:
        super().__init__(name=name, parent=parent)
        self.sample = sample

    def runtest(self) -> None:
        found = self.tests.judge.canaries(self.sample)
        wrong = [canary for canary in found if not canary.ok]
        lines = [
            f"canary {canary.kind} ({canary.where}): "
            + canary_told(canary.expected, canary.got, canary.detail)
            for canary in wrong
        ]
        if not any(canary.kind == "mutant" for canary in found):
            lines.append("the suite names no mutant, so nothing shows that it finds mistakes")
        if lines:
            raise DoesNotConform("\n".join(map(one_line, lines)))


def _branch(item: VectorItem) -> str:
    """The branch that a vector is about: the last one of its purpose, or of its answer."""
    purpose = orjson.loads(item.why)["purpose"]
    steps = orjson.loads(item.answer)["steps"]
    return str(purpose[-1] if purpose else steps[-1][0]["branch"]) or "initial state"
