"""Describes the state before a recorded call of Kafka's controller as the charter has it: names for
brokers, partitions as topics, and what a question can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from charter.formats.canonical import Json

BROKERS_MAX = 6
"""The most brokers of a question."""
TOPICS_MAX = 3
"""The most topics of a question; an operation on more partitions is several questions."""
MIN_ISR_MAX = 9
"""`largest_min_isr` of a question."""
NOBODY = -1
_SETS = ("adding", "removing", "isr", "elr", "last_known_elr")

Data = Mapping[str, Json]


class LeftOut(Exception):
    """The charter has no such call; the message is the reason."""


@dataclass(frozen=True, slots=True)
class SingleQuestion:
    """One operation in a given state, with names b0, b1 and t0, t1 for brokers and topics."""

    operation: str
    brokers: int
    topics: int
    state: Data
    args: Data


@dataclass(frozen=True, slots=True)
class Part:
    """A partition before a call, and what is configured for its topic."""

    topic: str
    topic_id: str
    index: str
    min_isr: int
    unclean: bool
    values: Data


@dataclass(frozen=True, slots=True)
class Call:
    """A recorded call: its request, the state before it, and how it ended."""

    request: Data
    before: Data
    thrown: str
    done: Data

    @property
    def brokers(self) -> Mapping[int, Data]:
        """The registered brokers by id."""
        return {int(one): as_data(found) for one, found in as_data(self.before["brokers"]).items()}

    def list_parts(self) -> list[Part]:
        """All partitions before the call."""
        return [
            Part(
                str(topic["name"]),
                str(topic["id"]),
                index,
                as_number(topic["min_isr"]),
                bool(topic["unclean"]),
                as_data(values),
            )
            for topic in map(as_data, as_list(self.before["topics"]))
            for index, values in as_data(topic["parts"]).items()
        ]

    def find(self, topic: Json, part: Json) -> list[Part]:
        """The partition with this name; none or one."""
        return [p for p in self.list_parts() if (p.topic, p.index) == (topic, str(part))]

    def ask(
        self,
        operation: str,
        args: Callable[[Names], Data],
        parts: Sequence[Part],
        more: Iterable[Json] = (),
        last_epoch: int = 0,
    ) -> SingleQuestion | LeftOut:
        """A question about some partitions, with the brokers that they name, those of the cluster
        and `more`; or why there is none."""
        try:
            names = self._name(parts, more)
            state = _state(self, names, parts, last_epoch)
            brokers, topics = max(len(names.ids), 1), max(len(parts), 1)
            return SingleQuestion(operation, brokers, topics, state, args(names))
        except LeftOut as reason:
            return reason

    def _name(self, parts: Sequence[Part], more: Iterable[Json]) -> Names:
        mentioned = {as_id(one) for one in more}
        for part in parts:
            mentioned |= {*as_ids(part.values["replicas"])}
            for name in _SETS:
                mentioned |= {*as_ids(part.values[name])}
        known = self.brokers
        chosen = mentioned | known.keys()
        if len(chosen) > BROKERS_MAX:
            chosen = mentioned
        if len(chosen) > BROKERS_MAX:
            raise LeftOut(f"more than {BROKERS_MAX} brokers")
        return Names(tuple(sorted(chosen)))


@dataclass(frozen=True, slots=True)
class Names:
    """What the brokers of a question are called."""

    ids: tuple[int, ...]

    def of(self, broker: Json) -> str:
        """The name of a broker."""
        return f"b{self.ids.index(as_id(broker))}"

    def all(self, brokers: Json) -> list[Json]:
        """The names of several, in their order."""
        return [self.of(one) for one in as_ids(brokers)]

    def map(self, value: Callable[[int], Json], rest: Json = None) -> dict[str, Json]:
        """A map with a value for each broker; a question has at least one."""
        found = {self.of(one): value(one) for one in self.ids}
        return found or {"b0": rest}


# --- states --------------------------------------------------------------------------------------


def list_groups(call: Call, broker: int | None) -> list[list[Part]]:
    """The partitions that an event of a broker can concern, in groups for a question each."""
    parts = call.list_parts()
    if broker is not None:
        mine = [p for p in parts if broker in as_ids(p.values["replicas"])]
        parts = mine + [p for p in parts if p not in mine and p.values["leader"] == NOBODY]
    return divide(parts)


def divide(parts: Sequence[Part]) -> list[list[Part]]:
    """Groups with the same configuration. Of partitions with equal values two are enough: one more
    changes no obligation."""
    groups: dict[tuple[int, bool], list[Part]] = {}
    seen: dict[str, int] = {}
    for part in parts:
        key = f"{part.min_isr} {part.unclean} {part.values}"
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= 2:
            groups.setdefault((part.min_isr, part.unclean), []).append(part)
    found = [
        group[at : at + TOPICS_MAX]
        for group in groups.values()
        for at in range(0, len(group), TOPICS_MAX)
    ]
    return found or [[]]


def _state(call: Call, names: Names, parts: Sequence[Part], last_epoch: int) -> Data:
    known, topics = call.brokers, [f"t{at}" for at in range(max(len(parts), 1))]
    before = call.before
    least = parts[0].min_isr if parts else as_number(before["min_isr"])
    if not 1 <= least <= MIN_ISR_MAX:
        raise LeftOut("a value that the charter does not have")
    unclean = parts[0].unclean if parts else before["unclean"] == "true"
    values = [_partition(part, at, names) for at, part in enumerate(parts)] or [None]
    last = max([last_epoch, 0, *(as_number(one["epoch"]) for one in known.values())])
    config = {"min_insync_replicas": least, "unclean_election": unclean, "elr": before["elr"]}
    expired = [
        names.of(one)
        for one, r in known.items()
        if one in names.ids and r["fenced"] and not r.get("session")
    ]
    lapsed = [
        names.of(one)
        for one, r in known.items()
        if one in names.ids and not r["fenced"] and r.get("session") is False
    ]
    return {
        "partition": dict(zip(topics, values, strict=True)),
        "registration": names.map(lambda one: _registration(known.get(one))),
        "config": cast(Json, config),
        "last_broker_epoch": f"@{last}",
        "last_topic_id": f"~{len(parts)}",
        "below_shutdown_offset": names.map(lambda one: _below(known, one, names)),
        "expired": cast(Json, expired),
        "lapsed": cast(Json, lapsed),
        "suspects": {topic: [] for topic in topics},
        "elr_holds": dict.fromkeys(topics, before["elr"]),
    }


def _registration(broker: Data | None) -> Json:
    if broker is None:
        return None
    kept = {"fenced": broker["fenced"], "shutting_down": broker["shutting_down"]}
    return {"epoch": f"@{broker['epoch']}", **kept}


def _below(known: Mapping[int, Data], broker: int, names: Names) -> Json:
    """The brokers that have not read as far as the end of the log when this one began to stop."""
    own = known.get(broker)
    if own is None or not own["shutting_down"] or own.get("shutdown_at") is None:
        return None
    end = as_number(own["shutdown_at"])
    if end < 0:
        return None
    behind = [one for one, r in known.items() if as_number(r.get("read") or NOBODY) < end]
    return [names.of(one) for one in behind if one in names.ids]


def _partition(part: Part, at: int, names: Names) -> Json:
    values = part.values
    leader = values["leader"]
    return {
        "topic_id": f"~{at + 1}",
        "replicas": names.all(values["replicas"]),
        **{name: names.all(values[name]) for name in _SETS},
        "leader": None if leader == NOBODY else names.of(leader),
        "leader_epoch": values["leader_epoch"],
        "partition_epoch": values["partition_epoch"],
        "recovering": values["recovering"],
    }


# --- values --------------------------------------------------------------------------------------


def as_data(value: Json) -> Data:
    return cast(Data, value)


def as_list(value: Json) -> list[Json]:
    return cast("list[Json]", value)


def as_number(value: Json) -> int:
    return int(cast(int, value))


def as_epoch(value: Json) -> Json:
    """An epoch that may be missing."""
    return None if value == NOBODY else f"@{value}"


def as_id(value: Json) -> int:
    if as_number(value) < 0:
        raise LeftOut("a broker with a negative id")
    return as_number(value)


def as_ids(value: Json) -> list[int]:
    """Ids of brokers in their order, without the -1 that 4.0 writes for a leader that is gone."""
    return [as_number(one) for one in as_list(value) if as_number(one) != NOBODY]
