# Generated from spec/kafka and conformance/adapters/kafka-controller/overlay.charter by `conform generate`; do not edit.
# ruff: noqa: C420, PLR0913, PLR0915, PLR0917, RUF100
"""The controller: its state, and what brokers do to it by starting, reporting and stopping.

Protocol kafka.replication.

Cited:

    S0     Asynchronous storage and recovery (description of the KIP-966 model, section 5)
    S1     KIP-966: fixing the last replica standing issue
    S2     Replication correctness (description of the KIP-966 model, section 6)
    S3     Kafka replication deep dive
    MODEL  Prose beside the published KIP-966 model: section numbers of the whole description
    KIP    Kafka Improvement Proposals, by number and section
    DOC    Apache Kafka documentation, by page and section
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import NewType

from charter_models.prelude import (
    Json,
    Map,
    Outcome,
    Path,
    Sorts,
    bump,
    default,
    distinct,
    each,
    elements,
    fields_of,
    first,
    fresh,
    items_of,
    join,
    keep,
    never_issued_in,
    number,
    one_of,
    one_or_none,
    only,
    opaque_number,
    opaque_text,
    rankings,
    text_of,
    truth,
    value,
)

PROTOCOL = "kafka.replication"
VARIANT = ""
COMPONENT = "controller"
SPEC_DIGEST = "b12f03b0a46149f9c7a6"

# --- vocabulary -----------------------------------------------------------------------------------

Broker = NewType("Broker", str)
Topic = NewType("Topic", str)
LeaderEpoch = NewType("LeaderEpoch", int)
"""The next leadership of a partition; a change of leader always bumps it."""
PartitionEpoch = NewType("PartitionEpoch", int)
"""The next version of a partition's record at the controller; every change bumps it."""
BrokerEpoch = NewType("BrokerEpoch", int)
"""Allotted at each registration; a restarted broker is told apart from its former self by it."""
TopicId = NewType("TopicId", str)
"""Allotted at creation: a topic that is deleted and created again has another id."""


class Error(Enum):
    STALE_BROKER_EPOCH = "STALE_BROKER_EPOCH"
    DUPLICATE_BROKER_REGISTRATION = "DUPLICATE_BROKER_REGISTRATION"
    BROKER_ID_NOT_REGISTERED = "BROKER_ID_NOT_REGISTERED"
    UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"
    UNKNOWN_TOPIC_ID = "UNKNOWN_TOPIC_ID"
    TOPIC_ALREADY_EXISTS = "TOPIC_ALREADY_EXISTS"
    INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
    FENCED_LEADER_EPOCH = "FENCED_LEADER_EPOCH"
    UNKNOWN_LEADER_EPOCH = "UNKNOWN_LEADER_EPOCH"
    NOT_CONTROLLER = "NOT_CONTROLLER"
    INVALID_UPDATE_VERSION = "INVALID_UPDATE_VERSION"
    INVALID_REQUEST = "INVALID_REQUEST"
    INELIGIBLE_REPLICA = "INELIGIBLE_REPLICA"
    OPERATION_NOT_ATTEMPTED = "OPERATION_NOT_ATTEMPTED"
    NEW_LEADER_ELECTED = "NEW_LEADER_ELECTED"
    NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
    ELECTION_NOT_NEEDED = "ELECTION_NOT_NEEDED"
    PREFERRED_LEADER_NOT_AVAILABLE = "PREFERRED_LEADER_NOT_AVAILABLE"
    ELIGIBLE_LEADERS_NOT_AVAILABLE = "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    INVALID_CONFIG = "INVALID_CONFIG"
    INVALID_UPDATE = "INVALID_UPDATE"


@dataclass(frozen=True, slots=True)
class Partition:
    topic_id: TopicId
    replicas: tuple[Broker, ...]
    """The first is the preferred leader."""
    adding: frozenset[Broker]
    """A reassignment that is not complete: who joins, who leaves."""
    removing: frozenset[Broker]
    """A reassignment that is not complete: who joins, who leaves."""
    isr: frozenset[Broker]
    """In-sync replicas."""
    elr: frozenset[Broker]
    """Eligible leader replicas: complete, though no longer in sync."""
    last_known_elr: frozenset[Broker]
    """Left the ELR by an unclean shutdown; kept for unclean recovery."""
    leader: Broker | None
    leader_epoch: LeaderEpoch
    partition_epoch: PartitionEpoch
    recovering: bool
    """Elected uncleanly, the leader has not yet recovered."""


@dataclass(frozen=True, slots=True)
class Registration:
    epoch: BrokerEpoch
    fenced: bool
    shutting_down: bool
    """In controlled shutdown: no longer electable."""


@dataclass(frozen=True, slots=True)
class Config:
    min_insync_replicas: int
    unclean_election: bool
    elr: bool
    """The feature eligible.leader.replicas.version."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The case `registered` of Reply."""

    epoch: BrokerEpoch


@dataclass(frozen=True, slots=True)
class Alive:
    """The case `alive` of Reply."""

    caught_up: bool
    fenced: bool
    should_shut_down: bool


@dataclass(frozen=True, slots=True)
class Altered:
    """The case `altered` of Reply."""

    leader: Broker | None
    isr: frozenset[Broker]
    leader_epoch: LeaderEpoch
    partition_epoch: PartitionEpoch
    recovering: bool


@dataclass(frozen=True, slots=True)
class Created:
    """The case `created` of Reply."""

    topic_id: TopicId


@dataclass(frozen=True, slots=True)
class Done:
    """The case `done` of Reply."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The case `rejected` of Reply."""

    error: Error


Reply = Registered | Alive | Altered | Created | Done | Rejected


@dataclass(frozen=True, slots=True)
class World:
    """What is the same in all states: the elements of each sort, and the constants."""

    brokers: frozenset[Broker]
    topics: frozenset[Topic]


# --- rules ----------------------------------------------------------------------------------------


def refusals() -> frozenset[Error]:
    """The codes with which a proposal may be refused where the texts say that it is, but not
    how.

    00-types.charter:100  silent
    """
    return frozenset({
        Error.INVALID_REQUEST,
        Error.FENCED_LEADER_EPOCH,
        Error.UNKNOWN_LEADER_EPOCH,
        Error.NOT_CONTROLLER,
        Error.INVALID_UPDATE_VERSION,
        Error.OPERATION_NOT_ATTEMPTED,
    })


def default_config() -> Config:
    """The rules of the controller as pure functions: who stays in sync, who stays eligible, who
    may lead, and what a change of a partition's record bumps.

    What a new cluster is configured to do.

    10-rules.charter:7  DOC min.insync.replicas, DOC Eligible Leader Replicas
    """
    return Config(min_insync_replicas=1, unclean_election=False, elr=True)


def active(world: World, registration: Map[Broker, Registration | None]) -> frozenset[Broker]:
    """Brokers that may lead: registered, not fenced, not on their way out.

    10-rules.charter:11  S1 Eligible Leader Replicas (ELR), MODEL §8.3
    """
    return frozenset(
        b
        for b in world.brokers
        if (r := registration[b]) is not None and (not r.fenced and not r.shutting_down)
    )


def min_isr(replicas: tuple[Broker, ...], config: Config) -> int:
    """A partition cannot have more in-sync replicas than replicas; the texts assume that nobody
    asks.

    10-rules.charter:19  silent
    """
    return max(1, min(config.min_insync_replicas, len(replicas)))


def isr_without(p: Partition, leaving: frozenset[Broker], config: Config) -> frozenset[Broker]:
    """The ISR once `leaving` have left it. Without ELR the last member stays, reachable or not.

    10-rules.charter:23  S1 The Last Replica Standing issue, S1 How it works
    """
    rest = p.isr - leaving
    return p.isr if not rest and not config.elr else rest


def eligible_after(
    p: Partition,
    replicas: tuple[Broker, ...],
    isr: frozenset[Broker],
    suspect: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """Whoever leaves the ISR while it is under min.insync.replicas stays eligible: the high
    watermark cannot advance without it. Once the ISR is large enough nobody is.

    10-rules.charter:30  S0 §5.2, S1 Case A, S1 Case G
    """
    if not config.elr or len(isr) >= min_isr(replicas, config):
        return frozenset()
    return ((p.elr | p.isr) & frozenset(replicas)) - isr - suspect


def last_known_after(
    p: Partition,
    next: Partition,
    suspect: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """An eligible replica that shut down uncleanly may still be complete: it is remembered,
    until the ISR is large enough again. `next` is the partition but for this field.

    10-rules.charter:37  S1 Balanced mode, S0 §5.3.1
    """
    if not config.elr or len(next.isr) >= min_isr(next.replicas, config):
        return frozenset()
    return (p.last_known_elr | (p.elr & suspect)) & frozenset(next.replicas)


def remembering(
    p: Partition,
    next: Partition,
    suspect: frozenset[Broker],
    config: Config,
) -> Partition:
    """The next partition, with what is remembered for an unclean recovery.

    10-rules.charter:43  S1 Balanced mode
    """
    return replace(next, last_known_elr=last_known_after(p, next, suspect, config))


def candidates(
    p: Partition,
    isr: frozenset[Broker],
    suspect: frozenset[Broker],
    able: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """Leader candidates: members of the ISR and active members of the ELR. The texts leave open
    which is chosen (decision 0005).

    10-rules.charter:49  S1 Eligible Leader Replicas (ELR), S1 Case B
    """
    return (isr | eligible_after(p, p.replicas, isr, suspect, config)) & able


def electable(
    p: Partition,
    isr: frozenset[Broker],
    suspect: frozenset[Broker],
    able: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """Whom the controller may make leader after a change of brokers: the leader stays if it can;
    otherwise any candidate; without one any active replica, where unclean election is
    configured.

    10-rules.charter:55  MODEL §2.8, S1 Case B, S3 Unclean leader election
    """
    clean = candidates(p, isr, suspect, able, config)
    if any(p.leader == l_ and l_ in isr for l_ in able):
        return frozenset(l_ for l_ in able if p.leader == l_)
    if len(clean) > 0:
        return clean
    return frozenset(p.replicas) & able if config.unclean_election else frozenset()


def bumped(p: Partition, next: Partition) -> Partition:
    """The record with its epochs: a change of leader starts a new leader epoch, any change a new
    partition epoch.

    10-rules.charter:65  MODEL §2.8, S2 §6.5.1
    """
    led = next if next.leader == p.leader else replace(next, leader_epoch=bump(p.leader_epoch))
    return p if led == p else replace(led, partition_epoch=bump(p.partition_epoch))


def elected(
    p: Partition,
    isr: frozenset[Broker],
    suspect: frozenset[Broker],
    leader: Broker | None,
    config: Config,
) -> Partition:
    """A partition after a change of brokers: `isr` is what is left, `suspect` came back from an
    unclean shutdown, `leader` is the outcome of the election. A leader from the ELR joins the
    ISR; one that was no candidate is alone there, and nobody else can claim to be complete.

    10-rules.charter:74  S1 Case B, S1 Case C, S1 Case D, S0 §5.2.1
    """
    pool = isr | eligible_after(p, p.replicas, isr, suspect, config)
    unclean = leader is not None and leader not in pool
    synced = isr if leader is None else frozenset({leader}) if unclean else isr | {leader}
    next = replace(
        p,
        isr=synced,
        elr=frozenset() if unclean else eligible_after(p, p.replicas, synced, suspect, config),
        leader=leader,
        recovering=p.recovering or unclean,
    )
    return bumped(p, remembering(p, next, suspect, config))


def completes(
    replicas: tuple[Broker, ...],
    adding: frozenset[Broker],
    isr: frozenset[Broker],
    config: Config,
) -> bool:
    """A reassignment completes once the ISR without the leaving replicas holds all that were
    added and is not under min.insync.replicas.

    10-rules.charter:89  MODEL §4.3, S2 §6.7
    """
    return adding <= isr and len(isr) > 0 and len(isr) >= min_isr(replicas, config)


def settled(
    p: Partition,
    isr: frozenset[Broker],
    leader: Broker | None,
    recovering: bool,
    config: Config,
) -> Partition:
    """The partition after an accepted change of its ISR, or of its replicas: completes the
    reassignment if it can. Completion starts a new leader epoch, whoever leads.

    10-rules.charter:95  MODEL §4.3, MODEL §2.9
    """
    complete = reassignment_done(p, isr, config)
    replicas = keep(p.replicas, frozenset(p.replicas) - p.removing) if complete else p.replicas
    synced = isr - p.removing if complete else isr
    shaped = replace(
        p,
        replicas=replicas,
        adding=frozenset() if complete else p.adding,
        removing=frozenset() if complete else p.removing,
        isr=synced,
        elr=eligible_after(p, replicas, synced, frozenset(), config),
        leader=leader,
        recovering=recovering,
    )
    next = remembering(p, shaped, frozenset(), config)
    if complete:
        return replace(
            next,
            leader_epoch=bump(p.leader_epoch),
            partition_epoch=bump(p.partition_epoch),
        )
    return bumped(p, next)


def reassignment_done(p: Partition, isr: frozenset[Broker], config: Config) -> bool:
    """Whether a reassignment is under way that this ISR completes.

    10-rules.charter:117  MODEL §4.3
    """
    return (
        len(p.adding | p.removing) > 0
        and completes(
            keep(p.replicas, frozenset(p.replicas) - p.removing),
            p.adding,
            isr - p.removing,
            config,
        )
    )


def leaders_after(
    p: Partition,
    isr: frozenset[Broker],
    able: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """Who may lead once `isr` is accepted: the leader, unless the reassignment that it completes
    removes it.

    10-rules.charter:123  MODEL §4.3
    """
    synced = isr - p.removing if reassignment_done(p, isr, config) else isr
    if any(p.leader == l_ for l_ in synced):
        return frozenset(l_ for l_ in synced if p.leader == l_)
    return synced & able


def touched(p: Partition, gone: Broker, suspect: frozenset[Broker]) -> bool:
    """Whether the partition is touched when `gone` stops serving: it was in sync or, coming back
    suspect, eligible.

    10-rules.charter:131  S0 §5.2
    """
    return gone in p.isr or (gone in suspect and gone in p.elr)


def successors(
    slot: Partition | None,
    gone: Broker,
    suspect: frozenset[Broker],
    able: frozenset[Broker],
    config: Config,
) -> frozenset[Broker]:
    """Who may lead the partition of `slot` when `gone` stops serving.

    10-rules.charter:135  MODEL §2.8
    """
    if slot is None:
        return frozenset()
    if touched(slot, gone, suspect):
        return electable(slot, isr_without(slot, frozenset({gone}), config), suspect, able, config)
    return frozenset()


def handed_over(
    slot: Partition | None,
    gone: Broker,
    suspect: frozenset[Broker],
    leader: Broker | None,
    config: Config,
) -> Partition | None:
    """The partition of `slot` when `gone` has stopped serving and `leader` was elected.

    10-rules.charter:145  MODEL §2.8
    """
    if slot is None:
        return None
    if touched(slot, gone, suspect):
        return elected(slot, isr_without(slot, frozenset({gone}), config), suspect, leader, config)
    return slot


def saviours(slot: Partition | None, able: frozenset[Broker], config: Config) -> frozenset[Broker]:
    """Who may lead the partition of `slot` if it has no leader, now that `able` brokers serve.

    10-rules.charter:156  MODEL §2.8
    """
    if slot is None:
        return frozenset()
    if slot.leader is None:
        return electable(slot, slot.isr, frozenset(), able, config)
    return frozenset()


def taken_up(slot: Partition | None, leader: Broker | None, config: Config) -> Partition | None:
    """The partition of `slot` once `leader` was elected where it had none.

    10-rules.charter:163  MODEL §2.8
    """
    if slot is None:
        return None
    if slot.leader is None:
        return elected(slot, slot.isr, frozenset(), leader, config)
    return slot


def choices(
    p: Partition,
    able: frozenset[Broker],
    unclean: bool,
    config: Config,
) -> frozenset[Broker]:
    """A leader is chosen afresh for a partition that has none, or by order of an operator.
    Without a candidate an unclean election takes any active replica.

    10-rules.charter:172  S3 Unclean leader election, DOC kafka-leader-election: unclean
    """
    clean = candidates(p, p.isr, frozenset(), able, config)
    return clean if len(clean) > 0 or not unclean else frozenset(p.replicas) & able


def growing(p: Partition, target: tuple[Broker, ...], leaving: tuple[Broker, ...]) -> Partition:
    """The replicas while a reassignment to `target` is under way: the target first, then who
    leaves. In which order those stand no text says; `leaving` is one.

    10-rules.charter:179  MODEL §4.2, KIP 455
    """
    return replace(
        p,
        replicas=join(target, leaving),
        adding=frozenset(target) - (frozenset(p.replicas) - p.adding),
        removing=frozenset(leaving),
    )


def leavers(
    world: World,
    p: Partition,
    target: tuple[Broker, ...],
) -> frozenset[tuple[Broker, ...]]:
    """The orders in which the replicas that a reassignment to `target` removes may stand.

    10-rules.charter:188  silent
    """
    return frozenset(o for o in rankings(world.brokers) if frozenset(o) == departing(p, target))


def departing(p: Partition, target: tuple[Broker, ...]) -> frozenset[Broker]:
    """The replicas that a reassignment to `target` removes once it completes. Those that an
    earlier one was only adding go at once.

    10-rules.charter:193  MODEL §4.2, KIP 455
    """
    return frozenset(p.replicas) - p.adding - frozenset(target)


def serving(
    world: World,
    registration: Map[Broker, Registration | None],
    broker: Broker,
) -> frozenset[Broker]:
    """Who may be elected when `broker` was just unfenced.

    10-rules.charter:197  MODEL §8.3
    """
    return active(world, registration)


def forgotten(slot: Partition | None) -> Partition | None:
    """The partition of `slot` with nobody eligible but the ISR.

    10-rules.charter:203  DOC Eligible Leader Replicas
    """
    if slot is None:
        return None
    return bumped(slot, replace(slot, elr=frozenset(), last_known_elr=frozenset()))


def moved(p: Partition, next: Partition) -> Partition:
    """A partition whose replicas were changed by order: a new partition epoch, if anything is
    new.

    10-rules.charter:210  S2 §6.3
    """
    if replace(next, partition_epoch=p.partition_epoch) == p:
        return p
    return replace(next, partition_epoch=bump(p.partition_epoch))


# --- the component --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Controller:
    """The state of the component controller. An operation is a method; it returns every
    outcome that the charter allows, and changes nothing."""

    world: World
    partition: Map[Topic, Partition | None]
    registration: Map[Broker, Registration | None]
    config: Config
    last_broker_epoch: BrokerEpoch
    """The last values allotted."""
    last_topic_id: TopicId
    behind: Map[Broker, frozenset[Broker] | None]
    """For a broker in controlled shutdown: who has not yet read the metadata of that moment. A
    new controller does not know (none). Volatile: a failover loses it.
    """

    def register(
        self,
        broker: Broker,
        restarted: bool,
        previous_epoch: BrokerEpoch | None,
    ) -> list[Outcome[Controller, Reply]]:
        """A broker starts, or (not `restarted`) the same process asks again. It brings the
        broker epoch of its last clean shutdown, or nothing.

        MODEL §8.1, S0 §5.2, S2 §6.5.1
        """
        allowed: list[Outcome[Controller, Reply]] = []

        known = self.registration[broker]
        epoch = bump(self.last_broker_epoch)
        registered_now = self.registration.put(
            broker,
            Registration(epoch=epoch, fenced=True, shutting_down=False),
        )
        able = active(self.world, registered_now)

        # register/duplicate  20-controller.charter:32  S2 §6.5.1, DOC Protocol errors:
        # DUPLICATE_BROKER_REGISTRATION
        if (
            known is not None  # lives
            and not value(known).fenced
            and restarted  # other_process
        ):
            allowed.append(Outcome(
                "register/duplicate",
                Rejected(Error.DUPLICATE_BROKER_REGISTRATION),
                self,
            ))

        # register/session_lives  20-controller.charter:38  silent
        # Fencing must come first; whether it is enough while the old session has not run out, the
        # texts leave open.
        if (
            known is not None  # fenced
            and value(known).fenced
            and restarted  # other_process
        ):
            allowed.append(Outcome(
                "register/session_lives",
                Rejected(Error.DUPLICATE_BROKER_REGISTRATION),
                self,
            ))

        # register/clean  20-controller.charter:43  S0 §5.2, KIP 966
        if (
            known is not None  # fenced
            and value(known).fenced
            and restarted  # other_process
            and previous_epoch == value(known).epoch  # same_session
        ):
            allowed += self._register_clean(broker, epoch, registered_now, able)

        # register/unclean  20-controller.charter:55  S0 §5.2, S1 How it works
        if (
            (known is None or (value(known).fenced and restarted))  # fenced
            and (known is None or previous_epoch != value(known).epoch)  # other_session
        ):
            allowed += self._register_unclean(broker, epoch, registered_now, able)
        if allowed:
            return allowed

        # register/again  20-controller.charter:67  S2 §6.5.1
        # A broker epoch is one uptime of one process: whoever asks again has it already.
        return [Outcome("register/again", Registered(value(known).epoch), self)]

    def _register_clean(
        self,
        broker: Broker,
        epoch: BrokerEpoch,
        registered_now: Map[Broker, Registration | None],
        able: frozenset[Broker],
    ) -> list[Outcome[Controller, Reply]]:
        """The epoch on file is that of the session that ended: nothing was lost.

        S0 §5.2, KIP 966
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in each({
            t: one_or_none(successors(self.partition[t], broker, frozenset(), able, self.config))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: handed_over(self.partition[t], broker, frozenset(), leader[t], self.config)
                    for t in self.world.topics
                }),
                registration=registered_now,
                last_broker_epoch=epoch,
            )
            allowed.append(Outcome("register/clean", Registered(epoch), after))
        return allowed

    def _register_unclean(
        self,
        broker: Broker,
        epoch: BrokerEpoch,
        registered_now: Map[Broker, Registration | None],
        able: frozenset[Broker],
    ) -> list[Outcome[Controller, Reply]]:
        """Otherwise the broker is suspect: out of every ISR and ELR until it has caught up. So
        is one that the controller does not know.

        S0 §5.2, S1 How it works
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in each({
            t: one_or_none(successors(
                self.partition[t],
                broker,
                frozenset({broker}),
                able,
                self.config,
            ))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: handed_over(
                        self.partition[t],
                        broker,
                        frozenset({broker}),
                        leader[t],
                        self.config,
                    )
                    for t in self.world.topics
                }),
                registration=registered_now,
                last_broker_epoch=epoch,
            )
            allowed.append(Outcome("register/unclean", Registered(epoch), after))
        return allowed

    def heartbeat(
        self,
        broker: Broker,
        epoch: BrokerEpoch,
        caught_up: bool,
        want_fence: bool,
        want_shut_down: bool,
    ) -> list[Outcome[Controller, Reply]]:
        """A broker reports: whether it has read the metadata up to now, and what it wants to
        become.

        MODEL §8.1, MODEL §8.3, S3 Controlled shutdown
        """
        allowed: list[Outcome[Controller, Reply]] = []

        known = self.registration[broker]

        # heartbeat/unregistered  20-controller.charter:75  silent
        if known is None:  # unknown
            allowed += self._heartbeat_unregistered()

        # heartbeat/stale_epoch  20-controller.charter:79  S2 §6.5.1
        if (
            known is not None  # known
            and value(known).epoch != epoch  # other_session
        ):
            allowed.append(Outcome(
                "heartbeat/stale_epoch",
                Rejected(Error.STALE_BROKER_EPOCH),
                self,
            ))
        if allowed:
            return allowed

        now = value(known)
        heard = Map({
            b: (s - {broker} if caught_up else s) if (s := self.behind[b]) is not None else None
            for b in self.world.brokers
        })

        # heartbeat/stays_fenced  20-controller.charter:89  MODEL §8.1
        if (
            now.fenced  # fenced
            and (want_fence or not caught_up)  # staying
            and not want_shut_down  # running
        ):
            after = replace(self, behind=heard)
            return [Outcome(
                "heartbeat/stays_fenced",
                Alive(caught_up=caught_up, fenced=True, should_shut_down=False),
                after,
            )]

        # heartbeat/stops_fenced  20-controller.charter:97  MODEL §8.3
        # A fenced broker has nothing to hand over.
        if (
            now.fenced  # fenced
            and want_shut_down  # stopping
        ):
            after = replace(self, behind=heard)
            return [Outcome(
                "heartbeat/stops_fenced",
                Alive(caught_up=caught_up, fenced=True, should_shut_down=True),
                after,
            )]

        # heartbeat/unfenced  20-controller.charter:101  S1 How it works, MODEL §8.1
        if now.fenced:  # fenced
            return self._heartbeat_unfenced(broker, caught_up, now, heard)

        fenced_now = self.registration.put(broker, replace(now, fenced=True))

        # heartbeat/fenced  20-controller.charter:112  MODEL §8.1
        if (
            want_fence  # asked
            and not now.shutting_down  # running
        ):
            return self._heartbeat_fenced(broker, caught_up, want_shut_down, heard, fenced_now)

        # heartbeat/runs  20-controller.charter:122  MODEL §8.1
        if (
            not want_shut_down  # staying
            and not now.shutting_down  # healthy
        ):
            after = replace(self, behind=heard)
            return [Outcome(
                "heartbeat/runs",
                Alive(caught_up=caught_up, fenced=False, should_shut_down=False),
                after,
            )]

        leads = any(
            (p := self.partition[t]) is not None and p.leader == broker
            for t in self.world.topics
        )

        # heartbeat/begins_shutdown  20-controller.charter:131  S3 Controlled shutdown, MODEL §8.3
        if leads:  # leading
            return self._heartbeat_begins_shutdown(broker, caught_up, now, heard)

        others = active(self.world, self.registration) - {broker}

        # heartbeat/shuts_down  20-controller.charter:142  MODEL §8.3, S3 Controlled shutdown
        if (
            not leads  # idle
            # all_know
            and (not now.shutting_down or ((s := heard[broker]) is None or not s & others))
        ):
            allowed += self._heartbeat_shuts_down(broker, caught_up, heard, fenced_now)

        # heartbeat/waits_unsure  20-controller.charter:152  silent
        # After a failover nobody can say who knows.
        if (
            now.shutting_down  # stopping
            and heard[broker] is None  # unsure
        ):
            after = replace(self, behind=heard)
            allowed.append(Outcome(
                "heartbeat/waits_unsure",
                Alive(caught_up=caught_up, fenced=False, should_shut_down=False),
                after,
            ))
        if allowed:
            return allowed

        # heartbeat/waits  20-controller.charter:159  MODEL §8.3
        after = replace(self, behind=heard)
        return [Outcome(
            "heartbeat/waits",
            Alive(caught_up=caught_up, fenced=False, should_shut_down=False),
            after,
        )]

    def _heartbeat_unregistered(self) -> list[Outcome[Controller, Reply]]:
        """The branch unregistered of heartbeat.

        silent
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_of(frozenset({Error.BROKER_ID_NOT_REGISTERED, Error.STALE_BROKER_EPOCH})):
            allowed.append(Outcome("heartbeat/unregistered", Rejected(error), self))
        return allowed

    def _heartbeat_unfenced(
        self,
        broker: Broker,
        caught_up: bool,
        now: Registration,
        heard: Map[Broker, frozenset[Broker] | None],
    ) -> list[Outcome[Controller, Reply]]:
        """The branch unfenced of heartbeat.

        S1 How it works, MODEL §8.1
        """
        allowed: list[Outcome[Controller, Reply]] = []
        unfenced_now = self.registration.put(broker, replace(now, fenced=False))
        for leader in each({
            t: one_or_none(saviours(
                self.partition[t],
                serving(self.world, unfenced_now, broker),
                self.config,
            ))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: taken_up(self.partition[t], leader[t], self.config)
                    for t in self.world.topics
                }),
                registration=unfenced_now,
                behind=heard,
            )
            allowed.append(Outcome(
                "heartbeat/unfenced",
                Alive(caught_up=caught_up, fenced=False, should_shut_down=False),
                after,
            ))
        return allowed

    def _heartbeat_fenced(
        self,
        broker: Broker,
        caught_up: bool,
        want_shut_down: bool,
        heard: Map[Broker, frozenset[Broker] | None],
        fenced_now: Map[Broker, Registration | None],
    ) -> list[Outcome[Controller, Reply]]:
        """It asks to be fenced. Whether it may stop at once, if it asks for that too, no text
        says. In controlled shutdown it is too late to ask.

        MODEL §8.1
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in each({
            t: one_or_none(successors(
                self.partition[t],
                broker,
                frozenset(),
                active(self.world, fenced_now),
                self.config,
            ))
            for t in self.world.topics
        }):
            for stops in one_or_none(
                frozenset({True, False}) if want_shut_down else frozenset({False}),
            ):
                after = replace(
                    self,
                    partition=Map({
                        t: handed_over(
                            self.partition[t],
                            broker,
                            frozenset(),
                            leader[t],
                            self.config,
                        )
                        for t in self.world.topics
                    }),
                    registration=fenced_now,
                    behind=heard,
                )
                allowed.append(Outcome(
                    "heartbeat/fenced",
                    Alive(caught_up=caught_up, fenced=True, should_shut_down=default(stops, False)),
                    after,
                ))
        return allowed

    def _heartbeat_begins_shutdown(
        self,
        broker: Broker,
        caught_up: bool,
        now: Registration,
        heard: Map[Broker, frozenset[Broker] | None],
    ) -> list[Outcome[Controller, Reply]]:
        """Others must take over first.

        S3 Controlled shutdown, MODEL §8.3
        """
        allowed: list[Outcome[Controller, Reply]] = []
        leaving_now = self.registration.put(broker, replace(now, shutting_down=True))
        for leader in each({
            t: one_or_none(successors(
                self.partition[t],
                broker,
                frozenset(),
                active(self.world, leaving_now),
                self.config,
            ))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: handed_over(self.partition[t], broker, frozenset(), leader[t], self.config)
                    for t in self.world.topics
                }),
                registration=leaving_now,
                behind=heard.put(broker, self.world.brokers),
            )
            allowed.append(Outcome(
                "heartbeat/begins_shutdown",
                Alive(caught_up=caught_up, fenced=False, should_shut_down=False),
                after,
            ))
        return allowed

    def _heartbeat_shuts_down(
        self,
        broker: Broker,
        caught_up: bool,
        heard: Map[Broker, frozenset[Broker] | None],
        fenced_now: Map[Broker, Registration | None],
    ) -> list[Outcome[Controller, Reply]]:
        """It leads nothing, and every other running broker knows who leads instead.

        MODEL §8.3, S3 Controlled shutdown
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in each({
            t: one_or_none(successors(
                self.partition[t],
                broker,
                frozenset(),
                active(self.world, fenced_now),
                self.config,
            ))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: handed_over(self.partition[t], broker, frozenset(), leader[t], self.config)
                    for t in self.world.topics
                }),
                registration=fenced_now,
                behind=heard,
            )
            allowed.append(Outcome(
                "heartbeat/shuts_down",
                Alive(caught_up=caught_up, fenced=True, should_shut_down=True),
                after,
            ))
        return allowed

    def session_expires(self, broker: Broker) -> list[Outcome[Controller, Reply]]:
        """The session of a broker times out.

        S1 How it works, MODEL §2.8
        """

        # session_expires/fenced  20-controller.charter:167  S1 Case A, S1 Case C, S1 Case D, S1
        # Case F
        if (
            self.registration[broker] is not None  # runs
            and not value(self.registration[broker]).fenced  # unfenced
        ):
            return self._session_expires_fenced(broker)

        # session_expires/idle  20-controller.charter:177  silent
        return [Outcome("session_expires/idle", Done(), self)]

    def _session_expires_fenced(self, broker: Broker) -> list[Outcome[Controller, Reply]]:
        """The branch fenced of session_expires.

        S1 Case A, S1 Case C, S1 Case D, S1 Case F
        """
        allowed: list[Outcome[Controller, Reply]] = []
        now = value(self.registration[broker])
        fenced_now = self.registration.put(broker, replace(now, fenced=True))
        for leader in each({
            t: one_or_none(successors(
                self.partition[t],
                broker,
                frozenset(),
                active(self.world, fenced_now),
                self.config,
            ))
            for t in self.world.topics
        }):
            after = replace(
                self,
                partition=Map({
                    t: handed_over(self.partition[t], broker, frozenset(), leader[t], self.config)
                    for t in self.world.topics
                }),
                registration=fenced_now,
            )
            allowed.append(Outcome("session_expires/fenced", Done(), after))
        return allowed

    def unregister(self, broker: Broker) -> list[Outcome[Controller, Reply]]:
        """An operator removes a broker that will not come back. Whether a replica of it stays
        eligible no text says.

        DOC KRaft: unregister-broker
        """

        # unregister/unknown  20-controller.charter:183  DOC Protocol errors:
        # BROKER_ID_NOT_REGISTERED
        if self.registration[broker] is None:  # absent
            return [Outcome("unregister/unknown", Rejected(Error.BROKER_ID_NOT_REGISTERED), self)]

        # unregister/removed  20-controller.charter:186  silent
        return self._unregister_removed(broker)

    def _unregister_removed(self, broker: Broker) -> list[Outcome[Controller, Reply]]:
        """The branch removed of unregister.

        silent
        """
        allowed: list[Outcome[Controller, Reply]] = []
        left_now = self.registration.put(broker, None)
        for suspect in one_or_none(frozenset({frozenset(), frozenset({broker})})):
            doubted = default(suspect, frozenset())
            for leader in each({
                t: one_or_none(successors(
                    self.partition[t],
                    broker,
                    doubted,
                    active(self.world, left_now),
                    self.config,
                ))
                for t in self.world.topics
            }):
                after = replace(
                    self,
                    partition=Map({
                        t: handed_over(self.partition[t], broker, doubted, leader[t], self.config)
                        for t in self.world.topics
                    }),
                    registration=left_now,
                )
                allowed.append(Outcome("unregister/removed", Done(), after))
        return allowed

    def failover(self) -> list[Outcome[Controller, Reply]]:
        """Another controller takes over: it has the log, and nothing else.

        S2 §6.3
        """

        # failover/replayed  20-controller.charter:199
        after = replace(self, behind=Map({b: None for b in self.world.brokers}))
        return [Outcome("failover/replayed", Done(), after)]

    def alter_partition(
        self,
        from_: Broker,
        broker_epoch: BrokerEpoch,
        topic_id: TopicId,
        leader_epoch: LeaderEpoch,
        partition_epoch: PartitionEpoch,
        isr: frozenset[Broker],
        isr_epochs: Map[Broker, BrokerEpoch | None],
        recovering: bool,
    ) -> list[Outcome[Controller, Reply]]:
        """What a leader proposes for its partition.

        S2 §6.5.1, S2 §6.5.2, MODEL §2.9
        """
        allowed: list[Outcome[Controller, Reply]] = []

        at_ = frozenset(
            t
            for t in self.world.topics
            if self.partition[t] is not None and value(self.partition[t]).topic_id == topic_id
        )
        found: Partition | None = None if not at_ else self.partition[only(at_)]

        # alter_partition/stale_broker_epoch  20-controller.charter:213  S2 §6.5.1
        if (
            self.registration[from_] is None
            or value(self.registration[from_]).epoch != broker_epoch
        ):  # unknown_session
            allowed.append(Outcome(
                "alter_partition/stale_broker_epoch",
                Rejected(Error.STALE_BROKER_EPOCH),
                self,
            ))

        # alter_partition/unknown_topic  20-controller.charter:216  DOC Protocol errors:
        # UNKNOWN_TOPIC_ID
        if found is None:  # absent
            allowed.append(Outcome(
                "alter_partition/unknown_topic",
                Rejected(Error.UNKNOWN_TOPIC_ID),
                self,
            ))

        # alter_partition/not_leader  20-controller.charter:219  S2 §6.3
        if (
            found is not None  # known
            and value(found).leader != from_  # other
        ):
            allowed += self._alter_partition_not_leader()

        # alter_partition/other_leader_epoch  20-controller.charter:225  S2 §6.3
        if (
            found is not None  # known
            and value(found).leader_epoch != leader_epoch  # other
        ):
            allowed += self._alter_partition_other_leader_epoch()

        # alter_partition/other_partition_epoch  20-controller.charter:231  S2 §6.5.1, S2 §6.3
        if (
            found is not None  # known
            and value(found).partition_epoch != partition_epoch  # other
        ):
            allowed += self._alter_partition_other_partition_epoch()

        # alter_partition/impossible_isr  20-controller.charter:238  silent
        if (
            found is not None  # known
            and (not isr <= frozenset(value(found).replicas) or from_ not in isr)  # senseless
        ):
            allowed += self._alter_partition_impossible_isr()

        # alter_partition/impossible_recovery  20-controller.charter:244  KIP 704
        if (
            found is not None  # known
            # senseless
            and ((recovering and not value(found).recovering) or (recovering and len(isr) > 1))
        ):
            allowed += self._alter_partition_impossible_recovery()

        # alter_partition/ineligible_replica  20-controller.charter:250  S2 §6.5.1, KIP 841, KIP 903
        if any(
            r not in active(self.world, self.registration)
            or (isr_epochs[r] is not None and isr_epochs[r] != value(self.registration[r]).epoch)
            for r in isr
        ):  # unfit
            allowed.append(Outcome(
                "alter_partition/ineligible_replica",
                Rejected(Error.INELIGIBLE_REPLICA),
                self,
            ))
        if allowed:
            return allowed

        p = value(found)
        topic = only(at_)

        # alter_partition/completed_for_another  20-controller.charter:257  MODEL §4.3, DOC Protocol
        # errors: NEW_LEADER_ELECTED
        if (
            reassignment_done(p, isr, self.config)  # complete
            and from_ in p.removing  # leaves
        ):
            return self._alter_partition_completed_for_another(isr, recovering, p, topic)

        # alter_partition/completed  20-controller.charter:268  MODEL §4.3, S2 §6.5.4
        if reassignment_done(p, isr, self.config):  # complete
            return self._alter_partition_completed(isr, recovering, p, topic)

        # alter_partition/committed  20-controller.charter:280  S2 §6.5.2, S1 Case E, S1 Case F, S1
        # Case G
        return self._alter_partition_committed(isr, recovering, p, topic)

    def _alter_partition_not_leader(self) -> list[Outcome[Controller, Reply]]:
        """The branch not_leader of alter_partition.

        S2 §6.3
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_or_none(refusals()):
            allowed.append(Outcome(
                "alter_partition/not_leader",
                Rejected(default(error, Error.INVALID_REQUEST)),
                self,
            ))
        return allowed

    def _alter_partition_other_leader_epoch(self) -> list[Outcome[Controller, Reply]]:
        """The branch other_leader_epoch of alter_partition.

        S2 §6.3
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_or_none(refusals()):
            allowed.append(Outcome(
                "alter_partition/other_leader_epoch",
                Rejected(default(error, Error.FENCED_LEADER_EPOCH)),
                self,
            ))
        return allowed

    def _alter_partition_other_partition_epoch(self) -> list[Outcome[Controller, Reply]]:
        """The branch other_partition_epoch of alter_partition.

        S2 §6.5.1, S2 §6.3
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_or_none(refusals()):
            allowed.append(Outcome(
                "alter_partition/other_partition_epoch",
                Rejected(default(error, Error.INVALID_UPDATE_VERSION)),
                self,
            ))
        return allowed

    def _alter_partition_impossible_isr(self) -> list[Outcome[Controller, Reply]]:
        """No text says what of an ISR that makes no sense; it cannot be accepted.

        silent
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_or_none(refusals()):
            allowed.append(Outcome(
                "alter_partition/impossible_isr",
                Rejected(default(error, Error.INVALID_REQUEST)),
                self,
            ))
        return allowed

    def _alter_partition_impossible_recovery(self) -> list[Outcome[Controller, Reply]]:
        """The branch impossible_recovery of alter_partition.

        KIP 704
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for error in one_or_none(refusals()):
            allowed.append(Outcome(
                "alter_partition/impossible_recovery",
                Rejected(default(error, Error.INVALID_REQUEST)),
                self,
            ))
        return allowed

    def _alter_partition_completed_for_another(
        self,
        isr: frozenset[Broker],
        recovering: bool,
        p: Partition,
        topic: Topic,
    ) -> list[Outcome[Controller, Reply]]:
        """The branch completed_for_another of alter_partition.

        MODEL §4.3, DOC Protocol errors: NEW_LEADER_ELECTED
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in one_or_none(leaders_after(
            p,
            isr,
            active(self.world, self.registration),
            self.config,
        )):
            for error_2 in one_of(frozenset({Error.NEW_LEADER_ELECTED, Error.FENCED_LEADER_EPOCH})):
                after = replace(
                    self,
                    partition=self.partition.put(
                        topic,
                        settled(p, isr, leader, recovering, self.config),
                    ),
                )
                allowed.append(Outcome(
                    "alter_partition/completed_for_another",
                    Rejected(error_2),
                    after,
                ))
        return allowed

    def _alter_partition_completed(
        self,
        isr: frozenset[Broker],
        recovering: bool,
        p: Partition,
        topic: Topic,
    ) -> list[Outcome[Controller, Reply]]:
        """A reassignment that completes may fence the leader's epoch, or tell it the new one.
        Where no replica leaves, whether a leader epoch starts is open: nobody's data was
        deleted (S2 §6.5.4).

        MODEL §4.3, S2 §6.5.4
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for same_epoch in one_or_none(
            frozenset({True, False}) if not p.removing else frozenset({False}),
        ):
            next = (
                replace(
                    settled(p, isr, p.leader, recovering, self.config),
                    leader_epoch=p.leader_epoch,
                )
                if default(same_epoch, False)
                else settled(p, isr, p.leader, recovering, self.config)
            )
            for told in one_of(frozenset({True, False})):
                after = replace(self, partition=self.partition.put(topic, next))
                allowed.append(Outcome(
                    "alter_partition/completed",
                    Altered(
                        leader=next.leader,
                        isr=next.isr,
                        leader_epoch=next.leader_epoch,
                        partition_epoch=next.partition_epoch,
                        recovering=recovering,
                    )
                    if told
                    else Rejected(Error.FENCED_LEADER_EPOCH),
                    after,
                ))
        return allowed

    def _alter_partition_committed(
        self,
        isr: frozenset[Broker],
        recovering: bool,
        p: Partition,
        topic: Topic,
    ) -> list[Outcome[Controller, Reply]]:
        """The branch committed of alter_partition.

        S2 §6.5.2, S1 Case E, S1 Case F, S1 Case G
        """
        next = settled(p, isr, p.leader, recovering, self.config)
        after = replace(self, partition=self.partition.put(topic, next))
        return [Outcome(
            "alter_partition/committed",
            Altered(
                leader=next.leader,
                isr=next.isr,
                leader_epoch=next.leader_epoch,
                partition_epoch=next.partition_epoch,
                recovering=recovering,
            ),
            after,
        )]

    def elect_leader(self, topic: Topic, unclean: bool) -> list[Outcome[Controller, Reply]]:
        """An operator asks for the preferred leader, or for any leader at all.

        DOC kafka-leader-election, S3 Unclean leader election
        """
        allowed: list[Outcome[Controller, Reply]] = []

        able = active(self.world, self.registration)

        # elect_leader/unknown  20-controller.charter:292  DOC Protocol errors:
        # UNKNOWN_TOPIC_OR_PARTITION
        if self.partition[topic] is None:  # absent
            return [Outcome(
                "elect_leader/unknown",
                Rejected(Error.UNKNOWN_TOPIC_OR_PARTITION),
                self,
            )]

        p = value(self.partition[topic])
        preferred = value(first(p.replicas))

        # elect_leader/not_needed  20-controller.charter:297  DOC Protocol errors:
        # ELECTION_NOT_NEEDED
        if p.leader is not None if unclean else p.leader == preferred:  # content
            return [Outcome("elect_leader/not_needed", Rejected(Error.ELECTION_NOT_NEEDED), self)]

        # elect_leader/preferred_unavailable  20-controller.charter:302  DOC Protocol errors:
        # PREFERRED_LEADER_NOT_AVAILABLE
        if (
            not unclean  # preferring
            and preferred not in p.isr & able  # unfit
            and (
                len(p.isr) > 0
                or preferred not in candidates(p, p.isr, frozenset(), able, self.config)
            )  # others
        ):
            allowed.append(Outcome(
                "elect_leader/preferred_unavailable",
                Rejected(Error.PREFERRED_LEADER_NOT_AVAILABLE),
                self,
            ))

        # elect_leader/preferred  20-controller.charter:307  DOC kafka-leader-election: preferred,
        # S3 Preferred leader
        if (
            not unclean  # preferring
            and preferred in candidates(p, p.isr, frozenset(), able, self.config)  # fit
        ):
            after = replace(
                self,
                partition=self.partition.put(
                    topic,
                    elected(p, p.isr, frozenset(), preferred, self.config),
                ),
            )
            allowed.append(Outcome("elect_leader/preferred", Done(), after))
        if allowed:
            return allowed

        # elect_leader/nobody  20-controller.charter:314  DOC Protocol errors:
        # ELIGIBLE_LEADERS_NOT_AVAILABLE
        if not choices(p, able, True, self.config):  # empty
            return [Outcome(
                "elect_leader/nobody",
                Rejected(Error.ELIGIBLE_LEADERS_NOT_AVAILABLE),
                self,
            )]

        # elect_leader/elected  20-controller.charter:317  S3 Unclean leader election
        return self._elect_leader_elected(topic, able, p)

    def _elect_leader_elected(
        self,
        topic: Topic,
        able: frozenset[Broker],
        p: Partition,
    ) -> list[Outcome[Controller, Reply]]:
        """The branch elected of elect_leader.

        S3 Unclean leader election
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in one_or_none(choices(p, able, True, self.config)):
            after = replace(
                self,
                partition=self.partition.put(
                    topic,
                    elected(p, p.isr, frozenset(), leader, self.config),
                ),
            )
            allowed.append(Outcome("elect_leader/elected", Done(), after))
        return allowed

    def balance_leaders(self) -> list[Outcome[Controller, Reply]]:
        """The controller's periodic look for partitions whose preferred leader could lead and
        does not.

        DOC auto.leader.rebalance.enable
        """
        able = active(self.world, self.registration)

        # balance_leaders/balanced  20-controller.charter:327
        after = replace(
            self,
            partition=Map({
                t: (
                    self.partition[t]
                    if first(p.replicas) is None or value(first(p.replicas)) not in p.isr & able
                    else elected(p, p.isr, frozenset(), first(p.replicas), self.config)
                )
                if (p := self.partition[t]) is not None
                else None
                for t in self.world.topics
            }),
        )
        return [Outcome("balance_leaders/balanced", Done(), after)]

    def create_topic(
        self,
        topic: Topic,
        replicas: tuple[Broker, ...],
    ) -> list[Outcome[Controller, Reply]]:
        """The operation create_topic.

        DOC CreateTopics
        """

        # create_topic/exists  20-controller.charter:339  DOC Protocol errors: TOPIC_ALREADY_EXISTS
        if self.partition[topic] is not None:  # taken
            return [Outcome("create_topic/exists", Rejected(Error.TOPIC_ALREADY_EXISTS), self)]

        isr = frozenset(replicas) & active(self.world, self.registration)

        # create_topic/invalid  20-controller.charter:343  DOC Protocol errors:
        # INVALID_REPLICA_ASSIGNMENT
        if not isr or any(self.registration[r] is None for r in frozenset(replicas)):  # absent
            return [Outcome(
                "create_topic/invalid",
                Rejected(Error.INVALID_REPLICA_ASSIGNMENT),
                self,
            )]

        # create_topic/created  20-controller.charter:346  DOC CreateTopics, MODEL §2.4
        return self._create_topic_created(topic, replicas, isr)

    def _create_topic_created(
        self,
        topic: Topic,
        replicas: tuple[Broker, ...],
        isr: frozenset[Broker],
    ) -> list[Outcome[Controller, Reply]]:
        """The branch created of create_topic.

        DOC CreateTopics, MODEL §2.4
        """
        allowed: list[Outcome[Controller, Reply]] = []
        id = fresh(self.last_topic_id)
        for leader in one_or_none(isr):
            after = replace(
                self,
                partition=self.partition.put(
                    topic,
                    Partition(
                        topic_id=id,
                        replicas=replicas,
                        adding=frozenset(),
                        removing=frozenset(),
                        isr=isr,
                        elr=frozenset(),
                        last_known_elr=frozenset(),
                        leader=leader,
                        leader_epoch=LeaderEpoch(0),
                        partition_epoch=PartitionEpoch(0),
                        recovering=False,
                    ),
                ),
                last_topic_id=id,
            )
            allowed.append(Outcome("create_topic/created", Created(id), after))
        return allowed

    def delete_topic(self, topic_id: TopicId) -> list[Outcome[Controller, Reply]]:
        """The operation delete_topic.

        DOC DeleteTopics
        """
        at_ = frozenset(
            t
            for t in self.world.topics
            if self.partition[t] is not None and value(self.partition[t]).topic_id == topic_id
        )

        # delete_topic/unknown  20-controller.charter:362  DOC Protocol errors: UNKNOWN_TOPIC_ID
        if not at_:  # absent
            return [Outcome("delete_topic/unknown", Rejected(Error.UNKNOWN_TOPIC_ID), self)]

        # delete_topic/deleted  20-controller.charter:365  DOC DeleteTopics
        after = replace(
            self,
            partition=Map({t: None if t in at_ else self.partition[t] for t in self.world.topics}),
        )
        return [Outcome("delete_topic/deleted", Done(), after)]

    def reassign(
        self,
        topic: Topic,
        target: tuple[Broker, ...],
    ) -> list[Outcome[Controller, Reply]]:
        """An operator names the replicas that the partition shall have.

        MODEL §4, S2 §6.7
        """

        # reassign/unknown  20-controller.charter:373  DOC Protocol errors:
        # UNKNOWN_TOPIC_OR_PARTITION
        if self.partition[topic] is None:  # absent
            return [Outcome("reassign/unknown", Rejected(Error.UNKNOWN_TOPIC_OR_PARTITION), self)]

        p = value(self.partition[topic])

        # reassign/invalid  20-controller.charter:377  DOC Protocol errors:
        # INVALID_REPLICA_ASSIGNMENT
        # absent
        if len(target) == 0 or any(self.registration[r] is None for r in frozenset(target)):
            return [Outcome("reassign/invalid", Rejected(Error.INVALID_REPLICA_ASSIGNMENT), self)]

        isr = p.isr & (frozenset(target) | departing(p, target))
        as_it_stands = growing(p, target, keep(p.replicas, departing(p, target)))

        # reassign/completed  20-controller.charter:383  MODEL §4.2
        if reassignment_done(as_it_stands, isr, self.config):  # complete
            return self._reassign_completed(topic, p, isr, as_it_stands)

        # reassign/begun  20-controller.charter:391  MODEL §4.2, S2 §6.7
        return self._reassign_begun(topic, target, p, isr)

    def _reassign_completed(
        self,
        topic: Topic,
        p: Partition,
        isr: frozenset[Broker],
        as_it_stands: Partition,
    ) -> list[Outcome[Controller, Reply]]:
        """Nothing to add, and enough of the target in sync.

        MODEL §4.2
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leader in one_or_none(leaders_after(
            as_it_stands,
            isr,
            active(self.world, self.registration),
            self.config,
        )):
            next = settled(as_it_stands, isr, leader, p.recovering, self.config)
            after = replace(self, partition=self.partition.put(topic, next))
            allowed.append(Outcome("reassign/completed", Done(), after))
        return allowed

    def _reassign_begun(
        self,
        topic: Topic,
        target: tuple[Broker, ...],
        p: Partition,
        isr: frozenset[Broker],
    ) -> list[Outcome[Controller, Reply]]:
        """It grows first and shrinks once the target has caught up. The ISR is left as it is.

        MODEL §4.2, S2 §6.7
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for leaving in one_or_none(leavers(self.world, p, target)):
            grown = growing(p, target, default(leaving, ()))
            for leader in one_or_none(electable(
                grown,
                isr,
                frozenset(),
                active(self.world, self.registration),
                self.config,
            )):
                next = moved(p, elected(grown, isr, frozenset(), leader, self.config))
                after = replace(self, partition=self.partition.put(topic, next))
                allowed.append(Outcome("reassign/begun", Done(), after))
        return allowed

    def cancel_reassignment(self, topic: Topic) -> list[Outcome[Controller, Reply]]:
        """An operator gives a reassignment up: back to the replicas from before.

        MODEL §4.5
        """

        # cancel_reassignment/unknown  20-controller.charter:403  DOC Protocol errors:
        # UNKNOWN_TOPIC_OR_PARTITION
        if self.partition[topic] is None:  # absent
            return [Outcome(
                "cancel_reassignment/unknown",
                Rejected(Error.UNKNOWN_TOPIC_OR_PARTITION),
                self,
            )]

        p = value(self.partition[topic])

        # cancel_reassignment/none_in_progress  20-controller.charter:407  DOC Protocol errors:
        # NO_REASSIGNMENT_IN_PROGRESS
        if not p.adding | p.removing:  # settled
            return [Outcome(
                "cancel_reassignment/none_in_progress",
                Rejected(Error.NO_REASSIGNMENT_IN_PROGRESS),
                self,
            )]

        able = active(self.world, self.registration)
        original = keep(p.replicas, frozenset(p.replicas) - p.adding)
        isr = p.isr - p.adding

        # cancel_reassignment/too_few  20-controller.charter:413  MODEL §4.5
        if (
            not isr  # under
            and not self.config.unclean_election  # strict
        ):
            return [Outcome(
                "cancel_reassignment/too_few",
                Rejected(Error.INVALID_REPLICA_ASSIGNMENT),
                self,
            )]

        # cancel_reassignment/reverted  20-controller.charter:417  MODEL §4.5
        return self._cancel_reassignment_reverted(topic, p, able, original, isr)

    def _cancel_reassignment_reverted(
        self,
        topic: Topic,
        p: Partition,
        able: frozenset[Broker],
        original: tuple[Broker, ...],
        isr: frozenset[Broker],
    ) -> list[Outcome[Controller, Reply]]:
        """The branch reverted of cancel_reassignment.

        MODEL §4.5
        """
        allowed: list[Outcome[Controller, Reply]] = []
        back = replace(p, replicas=original)
        for leader in one_or_none(electable(back, isr, frozenset(), able, self.config)):
            for fresh_ in one_of(frozenset({True, False})):
                next = moved(
                    p,
                    replace(
                        elected(back, isr, frozenset(), leader, self.config),
                        adding=frozenset(),
                        removing=frozenset(),
                    ),
                )
                after = replace(
                    self,
                    partition=self.partition.put(
                        topic,
                        replace(next, leader_epoch=bump(p.leader_epoch)) if fresh_ else next,
                    ),
                )
                allowed.append(Outcome("cancel_reassignment/reverted", Done(), after))
        return allowed

    def set_min_isr(self, minimum: int) -> list[Outcome[Controller, Reply]]:
        """Whoever was eligible under the old minimum has no guarantee under the new one.

        DOC Eligible Leader Replicas, KIP 966
        """

        # set_min_isr/same  20-controller.charter:432  silent
        if minimum == self.config.min_insync_replicas:  # unchanged
            return self._set_min_isr_same()

        # set_min_isr/changed  20-controller.charter:437  DOC Eligible Leader Replicas
        after = replace(
            self,
            partition=Map({t: forgotten(self.partition[t]) for t in self.world.topics}),
            config=replace(self.config, min_insync_replicas=minimum),
        )
        return [Outcome("set_min_isr/changed", Done(), after)]

    def _set_min_isr_same(self) -> list[Outcome[Controller, Reply]]:
        """The branch same of set_min_isr.

        silent
        """
        allowed: list[Outcome[Controller, Reply]] = []
        for cleared in one_of(frozenset({True, False})):
            after = replace(
                self,
                partition=Map({t: forgotten(self.partition[t]) for t in self.world.topics})
                if cleared
                else self.partition,
            )
            allowed.append(Outcome("set_min_isr/same", Done(), after))
        return allowed

    def set_unclean_election(self, enabled: bool) -> list[Outcome[Controller, Reply]]:
        """The operation set_unclean_election.

        DOC unclean.leader.election.enable
        """

        # set_unclean_election/changed  20-controller.charter:445  DOC
        # unclean.leader.election.enable
        after = replace(self, config=replace(self.config, unclean_election=enabled))
        return [Outcome("set_unclean_election/changed", Done(), after)]

    def set_elr(self, enabled: bool) -> list[Outcome[Controller, Reply]]:
        """The operation set_elr.

        KIP 966, DOC Eligible Leader Replicas
        """

        # set_elr/off  20-controller.charter:453  DOC Eligible Leader Replicas
        # Nobody is eligible without ELR.
        if not enabled:  # disabling
            after = replace(
                self,
                partition=Map({t: forgotten(self.partition[t]) for t in self.world.topics}),
                config=replace(self.config, elr=False),
            )
            return [Outcome("set_elr/off", Done(), after)]

        # set_elr/on  20-controller.charter:460  S1 Eligible Leader Replicas (ELR)
        # Whoever was eligible before ELR was off has no guarantee any more.
        after = replace(
            self,
            partition=self.partition
            if self.config.elr
            else Map({t: forgotten(self.partition[t]) for t in self.world.topics}),
            config=replace(self.config, elr=True),
        )
        return [Outcome("set_elr/on", Done(), after)]


# --- for the judge --------------------------------------------------------------------------------

OPERATIONS: tuple[str, ...] = (
    "register",
    "heartbeat",
    "session_expires",
    "unregister",
    "failover",
    "alter_partition",
    "elect_leader",
    "balance_leaders",
    "create_topic",
    "delete_topic",
    "reassign",
    "cancel_reassignment",
    "set_min_isr",
    "set_unclean_election",
    "set_elr",
)
OBSERVES: tuple[str, ...] = ("partition", "registration", "config")
NEVER_ISSUED: Mapping[tuple[str, Path], Json] = {
    ("register", ("previous_epoch",)): "@999999999999",
    ("heartbeat", ("epoch",)): "@999999999999",
    ("alter_partition", ("broker_epoch",)): "@999999999999",
    ("alter_partition", ("topic_id",)): "~never issued",
    ("alter_partition", ("leader_epoch",)): 999_999_999,
    ("alter_partition", ("partition_epoch",)): 999_999_999,
    ("alter_partition", ("isr_epochs", "*")): "@999999999999",
    ("delete_topic", ("topic_id",)): "~never issued",
}


def _world(sorts: Sorts, consts: Mapping[str, int] | None) -> World:
    return World(
        brokers=frozenset(map(Broker, elements(sorts, "Broker"))),
        topics=frozenset(map(Topic, elements(sorts, "Topic"))),
    )


def initial(sorts: Sorts, consts: Mapping[str, int] | None = None) -> Controller:
    """The state in which everything begins."""
    world = _world(sorts, consts)
    return Controller(
        world=world,
        partition=Map({t: None for t in world.topics}),
        registration=Map({b: None for b in world.brokers}),
        config=default_config(),
        last_broker_epoch=BrokerEpoch(0),
        last_topic_id=TopicId("0"),
        behind=Map({b: None for b in world.brokers}),
    )


def outcomes(
    state: Controller, operation: str, args: Mapping[str, Json]
) -> list[Outcome[Controller, Json]]:
    """What an operation allows, with arguments and replies as JSON. Raises ValueError for an
    unknown operation, or for arguments of the wrong type."""
    match operation:
        case "register":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.register(
                    Broker(text_of(args["broker"])),
                    truth(args["restarted"]),
                    None
                    if args["previous_epoch"] is None
                    else BrokerEpoch(opaque_number(args["previous_epoch"])),
                ))
            ]
        case "heartbeat":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.heartbeat(
                    Broker(text_of(args["broker"])),
                    BrokerEpoch(opaque_number(args["epoch"])),
                    truth(args["caught_up"]),
                    truth(args["want_fence"]),
                    truth(args["want_shut_down"]),
                ))
            ]
        case "session_expires":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.session_expires(Broker(text_of(args["broker"]))))
            ]
        case "unregister":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.unregister(Broker(text_of(args["broker"]))))
            ]
        case "failover":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.failover())
            ]
        case "alter_partition":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.alter_partition(
                    Broker(text_of(args["from"])),
                    BrokerEpoch(opaque_number(args["broker_epoch"])),
                    TopicId(opaque_text(args["topic_id"])),
                    LeaderEpoch(number(args["leader_epoch"])),
                    PartitionEpoch(number(args["partition_epoch"])),
                    frozenset(Broker(text_of(entry)) for entry in items_of(args["isr"])),
                    Map({
                        Broker(key): None if entry is None else BrokerEpoch(opaque_number(entry))
                        for key, entry in fields_of(args["isr_epochs"]).items()
                    }),
                    truth(args["recovering"]),
                ))
            ]
        case "elect_leader":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.elect_leader(
                    Topic(text_of(args["topic"])),
                    truth(args["unclean"]),
                ))
            ]
        case "balance_leaders":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.balance_leaders())
            ]
        case "create_topic":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.create_topic(
                    Topic(text_of(args["topic"])),
                    tuple(Broker(text_of(entry)) for entry in items_of(args["replicas"])),
                ))
            ]
        case "delete_topic":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.delete_topic(TopicId(opaque_text(args["topic_id"]))))
            ]
        case "reassign":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.reassign(
                    Topic(text_of(args["topic"])),
                    tuple(Broker(text_of(entry)) for entry in items_of(args["target"])),
                ))
            ]
        case "cancel_reassignment":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.cancel_reassignment(Topic(text_of(args["topic"]))))
            ]
        case "set_min_isr":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.set_min_isr(number(args["minimum"])))
            ]
        case "set_unclean_election":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.set_unclean_election(truth(args["enabled"])))
            ]
        case "set_elr":
            return [
                Outcome(o.branch, _reply_json(o.reply), o.state)
                for o in distinct(state.set_elr(truth(args["enabled"])))
            ]
        case _:
            raise ValueError(f"{COMPONENT} offers no operation {operation}")


def never_issued(operation: str, path: Path) -> Json:
    """A counter or opaque value that nobody ever gave out, for a place inside the arguments."""
    return never_issued_in(NEVER_ISSUED, operation, path)


def encode(state: Controller) -> Json:
    """All state as JSON."""
    return {
        "partition": {
            key: None if entry is None else _partition_json(entry)
            for key, entry in state.partition.items()
        },
        "registration": {
            key: None if entry is None else _registration_json(entry)
            for key, entry in state.registration.items()
        },
        "config": _config_json(state.config),
        "last_broker_epoch": f"@{state.last_broker_epoch}",
        "last_topic_id": f"~{state.last_topic_id}",
        "behind": {
            key: None if entry is None else sorted(entry)
            for key, entry in state.behind.items()
        },
    }


def decode(value: Json, sorts: Sorts, consts: Mapping[str, int] | None = None) -> Controller:
    """The inverse of `encode`. Raises ValueError or KeyError for anything else."""
    it = fields_of(value)
    return Controller(
        world=_world(sorts, consts),
        partition=Map({
            Topic(key): None if entry is None else _partition_from(entry)
            for key, entry in fields_of(it["partition"]).items()
        }),
        registration=Map({
            Broker(key): None if entry is None else _registration_from(entry)
            for key, entry in fields_of(it["registration"]).items()
        }),
        config=_config_from(it["config"]),
        last_broker_epoch=BrokerEpoch(opaque_number(it["last_broker_epoch"])),
        last_topic_id=TopicId(opaque_text(it["last_topic_id"])),
        behind=Map({
            Broker(key): None
            if entry is None
            else frozenset(Broker(text_of(entry1)) for entry1 in items_of(entry))
            for key, entry in fields_of(it["behind"]).items()
        }),
    )


def given(value: Json, sorts: Sorts, consts: Mapping[str, int] | None = None) -> Controller:
    """The state after a failover into durable state. Raises ValueError or KeyError."""
    it = fields_of(value)
    loaded = replace(
        initial(sorts, consts),
        partition=Map({
            Topic(key): None if entry is None else _partition_from(entry)
            for key, entry in fields_of(it["partition"]).items()
        }),
        registration=Map({
            Broker(key): None if entry is None else _registration_from(entry)
            for key, entry in fields_of(it["registration"]).items()
        }),
        config=_config_from(it["config"]),
        last_broker_epoch=BrokerEpoch(opaque_number(it["last_broker_epoch"])),
        last_topic_id=TopicId(opaque_text(it["last_topic_id"])),
    )
    (outcome,) = loaded.failover()
    return outcome.state


def observe(state: Controller) -> Json:
    """What the widest level of observation shows."""
    return {
        "partition": {
            key: None if entry is None else _partition_json(entry)
            for key, entry in state.partition.items()
        },
        "registration": {
            key: None if entry is None else _registration_json(entry)
            for key, entry in state.registration.items()
        },
        "config": _config_json(state.config),
    }


def _partition_json(it: Partition) -> Json:
    return {
        "topic_id": f"~{it.topic_id}",
        "replicas": list(it.replicas),
        "adding": sorted(it.adding),
        "removing": sorted(it.removing),
        "isr": sorted(it.isr),
        "elr": sorted(it.elr),
        "last_known_elr": sorted(it.last_known_elr),
        "leader": it.leader,
        "leader_epoch": it.leader_epoch,
        "partition_epoch": it.partition_epoch,
        "recovering": it.recovering,
    }


def _registration_json(it: Registration) -> Json:
    return {"epoch": f"@{it.epoch}", "fenced": it.fenced, "shutting_down": it.shutting_down}


def _config_json(it: Config) -> Json:
    return {
        "min_insync_replicas": it.min_insync_replicas,
        "unclean_election": it.unclean_election,
        "elr": it.elr,
    }


def _reply_json(it: Reply) -> Json:
    match it:
        case Registered():
            return {"case": "registered", "epoch": f"@{it.epoch}"}
        case Alive():
            return {
                "case": "alive",
                "caught_up": it.caught_up,
                "fenced": it.fenced,
                "should_shut_down": it.should_shut_down,
            }
        case Altered():
            return {
                "case": "altered",
                "leader": it.leader,
                "isr": sorted(it.isr),
                "leader_epoch": it.leader_epoch,
                "partition_epoch": it.partition_epoch,
                "recovering": it.recovering,
            }
        case Created():
            return {"case": "created", "topic_id": f"~{it.topic_id}"}
        case Done():
            return {"case": "done"}
        case Rejected():
            return {"case": "rejected", "error": it.error.name}


def _partition_from(value: Json) -> Partition:
    it = fields_of(value)
    return Partition(
        topic_id=TopicId(opaque_text(it["topic_id"])),
        replicas=tuple(Broker(text_of(entry)) for entry in items_of(it["replicas"])),
        adding=frozenset(Broker(text_of(entry)) for entry in items_of(it["adding"])),
        removing=frozenset(Broker(text_of(entry)) for entry in items_of(it["removing"])),
        isr=frozenset(Broker(text_of(entry)) for entry in items_of(it["isr"])),
        elr=frozenset(Broker(text_of(entry)) for entry in items_of(it["elr"])),
        last_known_elr=frozenset(
            Broker(text_of(entry))
            for entry in items_of(it["last_known_elr"])
        ),
        leader=None if it["leader"] is None else Broker(text_of(it["leader"])),
        leader_epoch=LeaderEpoch(number(it["leader_epoch"])),
        partition_epoch=PartitionEpoch(number(it["partition_epoch"])),
        recovering=truth(it["recovering"]),
    )


def _registration_from(value: Json) -> Registration:
    it = fields_of(value)
    return Registration(
        epoch=BrokerEpoch(opaque_number(it["epoch"])),
        fenced=truth(it["fenced"]),
        shutting_down=truth(it["shutting_down"]),
    )


def _config_from(value: Json) -> Config:
    it = fields_of(value)
    return Config(
        min_insync_replicas=number(it["min_insync_replicas"]),
        unclean_election=truth(it["unclean_election"]),
        elr=truth(it["elr"]),
    )
