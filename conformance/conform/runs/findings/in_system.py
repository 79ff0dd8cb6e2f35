"""Keeps what searches of the charter's systems said of the findings of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.formats.reading import BadVector
from charter.formats.run import RunFinding, SystemAnswer, read_answers, write_answers
from conform.console.errors import BadRun
from conform.storage.bucket_store import RunFolder

FILE = "in_system.json"


@dataclass(slots=True)
class SystemAnswers:
    """The answers of a run, by vector and step."""

    folder: RunFolder
    known: dict[tuple[str, int], SystemAnswer] = field(default_factory=dict)

    @staticmethod
    def read(folder: RunFolder) -> SystemAnswers:
        """What was stored in the folder of a run. Raises `BadRun`."""
        if not folder.has(FILE):
            return SystemAnswers(folder)
        try:
            answers = read_answers(folder.read_json(FILE), folder.read_run().spec_digest)
        except BadVector as error:
            raise BadRun(f"{FILE} is not what `conform run --in-system` writes ({error})") from None
        return SystemAnswers(folder, {(one.vector, one.step): one for one in answers})

    def of(self, finding: RunFinding) -> SystemAnswer | None:
        """The answer for the example of a finding; None if it was not searched for."""
        return self.known.get(example(finding))

    def keep(self, answer: SystemAnswer) -> None:
        """Store one more answer. Raises `CannotWrite`."""
        self.known[answer.vector, answer.step] = answer
        spec = self.folder.read_run().spec_digest
        self.folder.write_json(FILE, write_answers(spec, [*self.known.values()]))


def example(finding: RunFinding) -> tuple[str, int]:
    """The vector and the step that show a finding best."""
    best = finding.shrunk or finding
    return best.vector, best.step


def tell_answer(answer: SystemAnswer | None) -> tuple[str, ...]:
    """An answer in lines, the steps of its story behind the sentence; none if there is none."""
    if answer is None:
        return ()
    steps = (f"  {number}  {line}" for number, line in enumerate(answer.story, 1))
    return (answer.sentence, *steps)
