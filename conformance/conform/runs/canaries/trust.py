"""Decides whether a run can be trusted, by its canaries and broken batches (docs/formats/run.md):
no canary misbehaved, one of each kind has shown that the run can fail, no batch broke without a
question that breaks alone, and no file of the implementation or the models changed meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from charter.formats.canonical import Json

_KINDS = (
    ("flipped", "no flipped canary diverged as it must"),
    ("nonce", "no nonce came back"),
    ("mutant", "no mutant canary was caught"),
    ("nothing", "no idle adapter was caught"),
)
WALKS = "walks"
"""What `where` of the canaries of walks begins with."""
_SO = "so the run cannot be trusted"


def why_not(found: Sequence[Mapping[str, Json]]) -> list[str]:
    """The reasons not to trust a run with these canaries (as in canaries.json); empty if it is
    trusted."""
    wrong = sum(item["ok"] is not True for item in found)
    reasons = []
    if wrong:
        noun = "canary" if wrong == 1 else "canaries"
        reasons.append(f"{wrong} {noun} misbehaved, {_SO}")
    of_walks = [item for item in found if str(item["where"]).startswith(WALKS)]
    of_suite = [item for item in found if item not in of_walks]
    for told in _list_lacking(of_suite, of_walks):
        *first, last = told
        begin = "".join(f"{one.partition(' (')[0]} and " for one in first)
        reasons.append(f"{begin}{last}, {_SO}")
    return reasons


def _list_lacking(
    of_suite: Sequence[Mapping[str, Json]], of_walks: Sequence[Mapping[str, Json]]
) -> Iterator[list[str]]:
    """Which canaries are missing, those with one reason together; walks must have their own."""
    lacking: dict[str, list[str]] = {}
    for kind, sentence in _KINDS:
        if not any(item["kind"] == kind for item in of_suite):
            why = _why(kind, of_suite)
            lacking.setdefault(why or kind, []).append(f"{sentence}{why}")
    yield from lacking.values()
    blocks = [item for item in of_walks if str(item["where"]).startswith(f"{WALKS} ")]
    if blocks and not any(item["kind"] == "flipped" for item in blocks):
        yield [f"no flipped canary of walks diverged as it must{_why('flipped of walks', blocks)}"]


def is_of_walker(canary: Mapping[str, Json]) -> bool:
    """Whether a canary of walks asks a wrong model, and so says nothing of the adapter."""
    return canary["kind"] in ("nothing", "mutant") and str(canary["where"]).startswith(WALKS)


def has_misbehaved(found: Iterable[Mapping[str, Json]]) -> bool:
    """Whether a canary did what it must not do, rather than not being possible."""
    return any(item["ok"] is not True for item in found)


def breaks(unexplained: Sequence[str]) -> list[str]:
    """The reason not to trust a run in which batches broke although none of their questions breaks
    the adapter alone; `unexplained` has how each of them broke."""
    if not unexplained:
        return []
    noun = "batch" if len(unexplained) == 1 else "batches"
    return [
        f"the adapter broke on {len(unexplained)} {noun} of which it answers each question when"
        f" asked alone ({unexplained[0]}), {_SO}"
    ]


def explain_mixed(changed: Sequence[str]) -> list[str]:
    """The reason not to trust a run during which files changed, named in words: its verdicts may be
    of two implementations."""
    if not changed:
        return []
    return [
        f"the {' and the '.join(changed)} changed during the run, {_SO} (an adapter that writes"
        " files while it runs writes them elsewhere, or into a hidden folder)"
    ]


def unsteady(count: int) -> str:
    """That vectors which failed before conform now, though nothing changed."""
    one = count == 1
    return (
        f"{count:,} {'vector' if one else 'vectors'} that failed in the last run of the same files"
        f" {'conforms' if one else 'conform'} now"
    )


def unsteady_told(vectors: Sequence[str], asks: str) -> str:
    """The same with one of the vectors, what may be the matter, and the command that `asks` it, ""
    for none."""
    return (
        f"{unsteady(len(vectors))}, such as {vectors[0][:12]}: the implementation answers otherwise"
        f" each time, or the machine was busy{asks and f'; {asks} asks it'}"
    )


def list_skipped(found: Iterable[Mapping[str, Json]]) -> list[Json]:
    """The canaries that were not possible, and why: `[{"where", "why"}, ...]`."""
    return [
        {"where": item["where"], "why": item["detail"]}
        for item in found
        if item["kind"] == "skipped"
    ]


def _why(kind: str, found: Iterable[Mapping[str, Json]]) -> str:
    """The noted reason why canaries of a kind were skipped."""
    begins = {"mutant": "run", "nothing": "worker", "flipped of walks": WALKS}.get(kind, "bucket")
    reasons = {
        str(item["detail"])
        for item in found
        if item["kind"] == "skipped" and str(item["where"]).startswith(begins)
    }
    return f" ({'; '.join(sorted(reasons))})" if reasons else ""
